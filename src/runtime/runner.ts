/** Something started that must be stopped; what was started last is stopped first. */
export type Runner = {
  onStop(name: string, stop: () => Promise<void> | void): void;
  /** From the moment that stopping was asked for: what is lost then is no fault. */
  isStopping(): boolean;
  stop(): Promise<void>;
};

export const createRunner = (onFault: (name: string, error: unknown) => void): Runner => {
  const stops: { name: string; stop: () => Promise<void> | void }[] = [];
  let stopping: Promise<void> | undefined;
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
    isStopping: () => stopping !== undefined,
    onStop: (name, stop) => {
      stops.push({ name, stop });
    },
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
};
