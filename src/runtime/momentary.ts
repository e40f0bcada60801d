/** Thrown when an engine took longer than it was given; what it answers later is kept for the next question. */
export class NoAnswerInTime extends Error {
  override readonly name = 'NoAnswerInTime';
}

export type MomentaryOptions = {
  /** An answer, or a failure, is given again for this long. */
  keptMs: number;
  /** Nobody waits longer than this, counted from the moment at which the engine was asked. */
  limitMs: number;
  /** Monotonic milliseconds; tests move it. */
  nowMs?: () => number;
};

/**
 * A question to an engine that may be silent: asked never twice at once, so that probes do not pile up connections, and
 * answered within the limit whatever the engine does. Rejects with `NoAnswerInTime` or with what the engine threw.
 */
export const momentary = <T>(
  ask: () => Promise<T>,
  { keptMs, limitMs, nowMs = () => performance.now() }: MomentaryOptions,
): (() => Promise<T>) => {
  type Question = { askedAt: number; answeredAt: number | undefined; answer: Promise<T> };
  let last: Question | undefined;

  const begin = (): Question => {
    const question: Question = { askedAt: nowMs(), answeredAt: undefined, answer: Promise.resolve().then(ask) };
    const settle = (): void => {
      question.answeredAt = nowMs();
    };
    question.answer.then(settle, settle);
    return question;
  };

  return () => {
    if (last === undefined || (last.answeredAt !== undefined && nowMs() - last.answeredAt >= keptMs)) last = begin();
    return last.answeredAt === undefined ? within(last.answer, limitMs - (nowMs() - last.askedAt)) : last.answer;
  };
};

const within = <T>(answer: Promise<T>, leftMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new NoAnswerInTime('no answer in time')), Math.max(0, leftMs));
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
