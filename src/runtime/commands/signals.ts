import { Interrupted } from '../../cli/progress.js';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** 128 and the number of the signal, as a shell has it. */
const EXITS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Milliseconds that a command, and then its engines, have to undo what they have begun. */
const UNDO_MS = 10_000;

/** A terminal and npm may both pass on one Ctrl-C: a signal this soon after the first is not a second request. */
const REPEATED_SIGNAL_MS = 1_000;

type Interruption = {
  /** From the first call on, a signal to end interrupts the command. A second one, more than a second later, ends the process at once. */
  arm(): void;
  /** Arms, and gives the command, which ends by itself when this signal aborts, 10 s for that. */
  untilInterrupted(): AbortSignal;
  /** The exit code, once a signal has come. */
  exit(): number | undefined;
  /** Settles as the command does. After a signal it rejects with `Interrupted`: at once, or after 10 s once `untilInterrupted` was called. */
  bounded<T>(command: Promise<T>): Promise<T>;
  /** Settles as `work` does, which closes what the command has opened. After a signal it rejects with `Interrupted` after 10 s. */
  closing<T>(work: Promise<T>): Promise<T>;
  /** Ends the process when something that was bounded is still at work; otherwise signals have their usual effect again. */
  end(): void;
};

/** Lets a command undo what it has begun when a signal ends it: without a handler no `finally` runs. */
export const createInterruption = (): Interruption => {
  const begun = new AbortController();
  let first: { exit: number; at: number } | undefined;
  let isArmed = false;
  let isHeeded = false;
  let isLate = false;
  const onSignal = (name: (typeof SIGNALS)[number]): void => {
    const exit = EXITS[name];
    if (first === undefined) {
      first = { exit, at: performance.now() };
      begun.abort();
    } else if (performance.now() - first.at > REPEATED_SIGNAL_MS) process.exit(exit);
  };
  const arm = (): void => {
    if (!isArmed) for (const name of SIGNALS) process.on(name, onSignal);
    isArmed = true;
  };
  const settled = async <T>(work: Promise<T>, limitMs: () => number): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    let count = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      count = () => {
        timer = setTimeout(() => {
          isLate = true;
          reject(new Interrupted());
        }, limitMs());
      };
      if (begun.signal.aborted) count();
      else begun.signal.addEventListener('abort', count, { once: true });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      begun.signal.removeEventListener('abort', count);
      clearTimeout(timer);
    }
  };
  return {
    arm,
    untilInterrupted: () => {
      arm();
      isHeeded = true;
      return begun.signal;
    },
    exit: () => first?.exit,
    bounded: (command) => settled(command, () => (isHeeded ? UNDO_MS : 0)),
    closing: (work) => settled(work, () => UNDO_MS),
    end: () => {
      if (isLate) process.exit(first?.exit);
      for (const name of SIGNALS) process.removeListener(name, onSignal);
    },
  };
};

/** Above the 30 s that a send may take by default, and below the 60 s that containers get for a stop. */
const FORCE_AFTER_MS = 55_000;
const FORCED_EXIT = 1;

const PARENT_CHECK_MS = 250;

/** Resolves at the first signal to end, or once the npm that started this process is gone. A second signal ends the process, and so do 55 s. */
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
    for (const name of SIGNALS) process.on(name, onSignal);
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
