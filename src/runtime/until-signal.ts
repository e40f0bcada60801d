const FORCE_AFTER_MS = 30_000;
const FORCED_EXIT = 1;

/** A terminal and npm may both pass on one Ctrl-C: what follows this soon is the same wish, not a second one. */
const SAME_WISH_MS = 1_000;

/** Resolves at the first SIGTERM or SIGINT; a second one, or 30 s, ends the process whatever it is doing. */
export const untilSignal = (onForced: () => void): Promise<NodeJS.Signals> => {
  const force = (): void => {
    onForced();
    process.exit(FORCED_EXIT);
  };
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (askedAt !== undefined) {
        if (performance.now() - askedAt > SAME_WISH_MS) force();
        return;
      }
      askedAt = performance.now();
      setTimeout(force, FORCE_AFTER_MS).unref();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
};
