import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or early when the signal aborts; never rejects. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);

/** Settles as `action` does, or rejects with the error of `late` after `ms`. A later outcome of `action` is ignored. */
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

/** True when `settling` resolves within `ms`, else false. Rejects when `settling` rejects within `ms`. */
export const settlesWithin = (ms: number, settling: Promise<unknown>): Promise<boolean> =>
  // A plain timer, because an abort of a pause makes an error, and each item of a queue asks.
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, false);
    settling.then(() => resolve(true), reject).finally(() => clearTimeout(timer));
  });
