/** Above the 30 s that a send may take by default, and below the 60 s that containers get for a stop. */
const FORCE_AFTER_MS = 55_000;
const FORCED_EXIT = 1;

/** A terminal and npm may both pass on one Ctrl-C: a signal this soon after the first is not a second request. */
const REPEATED_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 250;

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP, or when npm, which started this process, is gone. A second signal after a second, or 55 s, ends the
 * process at once.
 */
export const untilSignal = (onForced: () => void): Promise<NodeJS.Signals> => {
  const force = (): void => {
    onForced();
    process.exit(FORCED_EXIT);
  };
  return new Promise((resolve) => {
    let askedAt: number | undefined;
    const ask = (signal: NodeJS.Signals): void => {
      askedAt = performance.now();
      setTimeout(force, FORCE_AFTER_MS).unref();
      resolve(signal);
    };
    const onSignal = (signal: NodeJS.Signals): void => {
      if (askedAt === undefined) ask(signal);
      else if (performance.now() - askedAt > REPEATED_SIGNAL_MS) force();
    };
    // A terminal that closes sends SIGHUP, which would leave the database behind.
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal);
    whenParentGone(() => {
      if (askedAt === undefined) ask('SIGTERM');
    });
  });
};

/** npm sends SIGTERM to the shell that it starts a script with, and the shell ends without passing it on. */
const whenParentGone = (onLeft: () => void): void => {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const checks = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(checks);
    onLeft();
  }, PARENT_CHECK_MS);
  checks.unref();
};
