import { setTimeout as sleep } from 'node:timers/promises';

/** Ends early, without an error, when the signal aborts. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

/** Settles as `action` does, or rejects with what `late` makes after `ms`; what comes later is dropped without a trace. */
export const within = async <T>(ms: number, action: Promise<T>, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([action, timeUp]);
  } finally {
    clearTimeout(timer);
  }
};

/** True when it settled in time; false after `ms`. Its error is the caller's. */
export const settlesWithin = async (ms: number, settling: Promise<unknown>): Promise<boolean> => {
  const timer = new AbortController();
  try {
    return await Promise.race([settling.then(() => true), pause(ms, timer.signal).then(() => false)]);
  } finally {
    timer.abort();
  }
};
