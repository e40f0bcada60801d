/** Tells sleepers of this process that something was appended; it may come for nothing, it is never lost. */
export type WakeSignal = {
  raise(): void;
  /** How often it was raised; take it before looking for news. */
  count(): number;
  /** Resolves when it was raised since `count` was taken, after `ms`, or on abort, whichever is first. */
  sleep(count: number, ms: number, abort: AbortSignal): Promise<void>;
};

export const wakeSignal = (): WakeSignal => {
  const sleepers = new Set<() => void>();
  let raised = 0;
  return {
    count: () => raised,
    raise: () => {
      raised += 1;
      for (const wake of [...sleepers]) wake();
    },
    sleep: (count, ms, abort) =>
      new Promise((resolve) => {
        if (raised !== count || abort.aborted) return resolve();
        const wake = (): void => {
          clearTimeout(timer);
          sleepers.delete(wake);
          abort.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        sleepers.add(wake);
        abort.addEventListener('abort', wake, { once: true });
      }),
  };
};
