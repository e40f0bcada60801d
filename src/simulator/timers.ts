/** Delays that end with the simulator: `close` drops the tasks still to run and resolves all waits. */
export type Timers = {
  /** Runs `task` after the delay, unless the simulator closes before. */
  after(delayMs: number, task: () => void): void;
  wait(delayMs: number): Promise<void>;
  close(): void;
};

export const createTimers = (): Timers => {
  const open = new Map<NodeJS.Timeout, () => void>();
  const start = (delayMs: number, task: () => void, onClose: () => void): void => {
    const timer = setTimeout(() => {
      open.delete(timer);
      task();
    }, delayMs);
    open.set(timer, onClose);
  };
  return {
    after: (delayMs, task) => start(delayMs, task, () => undefined),
    wait: (delayMs) => new Promise((resolve) => start(delayMs, resolve, resolve)),
    close: () => {
      for (const [timer, onClose] of open) {
        clearTimeout(timer);
        onClose();
      }
      open.clear();
    },
  };
};
