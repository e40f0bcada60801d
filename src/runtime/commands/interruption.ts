import { Interrupted } from '../../cli/terminal.js';

/** 128 and the number of the signal, as a shell has it. */
const EXITS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Milliseconds that a command, and then its engines, have to undo what they have begun. */
const UNDO_MS = 10_000;

/** A terminal and npm may both pass on one Ctrl-C: a signal this soon after the first is not a second request. */
const REPEATED_SIGNAL_MS = 1_000;

type Interruption = {
  /** From the first call on, SIGINT and SIGTERM abort this signal. A second one, more than a second later, ends the process at once. */
  untilInterrupted(): AbortSignal;
  /** The exit code, once a signal has come. */
  exit(): number | undefined;
  /** Settles as `work` does. After a signal it rejects with `Interrupted` when `work` has not settled within 10 s. */
  bounded<T>(work: Promise<T>): Promise<T>;
  /** Ends the process when something that was bounded is still at work; otherwise signals have their usual effect again. */
  end(): void;
};

/** Lets a command undo what it has begun when a signal ends it: without a handler no `finally` runs. */
export const createInterruption = (): Interruption => {
  const begun = new AbortController();
  let first: { exit: number; at: number } | undefined;
  let isArmed = false;
  let isLate = false;
  const onSignal = (name: NodeJS.Signals): void => {
    const exit = name === 'SIGINT' ? EXITS.SIGINT : EXITS.SIGTERM;
    if (first === undefined) {
      first = { exit, at: performance.now() };
      begun.abort();
    } else if (performance.now() - first.at > REPEATED_SIGNAL_MS) process.exit(exit);
  };
  return {
    untilInterrupted: () => {
      if (!isArmed) for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, onSignal);
      isArmed = true;
      return begun.signal;
    },
    exit: () => first?.exit,
    bounded: async (work) => {
      let timer: NodeJS.Timeout | undefined;
      let count = (): void => undefined;
      const late = new Promise<never>((_resolve, reject) => {
        count = () => {
          timer = setTimeout(() => {
            isLate = true;
            reject(new Interrupted());
          }, UNDO_MS);
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
    },
    end: () => {
      if (isLate) process.exit(first?.exit);
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeListener(name, onSignal);
    },
  };
};
