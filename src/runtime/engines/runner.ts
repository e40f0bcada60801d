import { setMaxListeners } from 'node:events';

/** Stops what was started, in reverse order of the start. */
export type Runner = {
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** Aborts when stopping begins: no new work starts from then on, and lost connections are no fault. */
  stopping: AbortSignal;
  stop(): Promise<void>;
};

export const createRunner = (onFault: (name: string, error: unknown) => void): Runner => {
  const stops: { name: string; stop: () => Promise<void> | void }[] = [];
  const begun = new AbortController();
  // Every loop of the process waits for it, which Node would take for a leak.
  setMaxListeners(0, begun.signal);
  let stopped: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) {
      try {
        await last.stop();
      } catch (error) {
        onFault(last.name, error);
      }
    }
  };
  return {
    stopping: begun.signal,
    onStop: (name, stop) => {
      stops.push({ name, stop });
    },
    stop: () => {
      begun.abort();
      stopped ??= stopAll();
      return stopped;
    },
  };
};
