const FORCE_AFTER_MS = 30_000;
const FORCED_EXIT = 1;

/** Resolves at the first SIGTERM or SIGINT; a second one, or 30 s, ends the process whatever it is doing. */
export const untilSignal = (onForced: () => void): Promise<NodeJS.Signals> => {
  const force = (): void => {
    onForced();
    process.exit(FORCED_EXIT);
  };
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) return force();
      asked = true;
      setTimeout(force, FORCE_AFTER_MS).unref();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
};
