import { within } from './pause.js';

/** Thrown when an engine took longer than its limit; a later answer is kept for the next caller. */
export class NoAnswerInTime extends Error {
  override readonly name = 'NoAnswerInTime';
}

type CachedCheckOptions = {
  /** Milliseconds for which an answer or a failure is reused. */
  reuseMs: number;
  /** Milliseconds from the call to the engine after which every waiting caller is rejected. */
  limitMs: number;
  /** Monotonic milliseconds; tests move it. */
  nowMs?: () => number;
};

/**
 * A cached check of an engine that may be silent: asked once at a time, so that probes pile up no connections. Rejects also with `NoAnswerInTime`.
 */
export const cachedCheck = <T>(
  ask: () => Promise<T>,
  { reuseMs, limitMs, nowMs = () => performance.now() }: CachedCheckOptions,
): (() => Promise<T>) => {
  type Call = { askedAt: number; answeredAt: number | undefined; answer: Promise<T> };
  let last: Call | undefined;

  const begin = (): Call => {
    const call: Call = { askedAt: nowMs(), answeredAt: undefined, answer: Promise.resolve().then(ask) };
    const settle = (): void => {
      call.answeredAt = nowMs();
    };
    call.answer.then(settle, settle);
    return call;
  };

  return () => {
    if (last === undefined || (last.answeredAt !== undefined && nowMs() - last.answeredAt >= reuseMs)) last = begin();
    if (last.answeredAt !== undefined) return last.answer;
    const leftMs = Math.max(0, limitMs - (nowMs() - last.askedAt));
    return within(leftMs, last.answer, () => new NoAnswerInTime('no answer in time'));
  };
};

/** The same check, which never rejects: while no answer comes, the answer before stays in force. Undefined before the first answer. */
export const lastAnswer = <T>(ask: () => Promise<T>, options: CachedCheckOptions): (() => Promise<T | undefined>) => {
  const asked = cachedCheck(ask, options);
  let last: T | undefined;
  return async () => {
    await asked().then(
      (answer) => {
        last = answer;
      },
      () => undefined,
    );
    return last;
  };
};
