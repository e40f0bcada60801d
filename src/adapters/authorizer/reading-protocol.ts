import { type Reader, type ReadingJob, type ReadingName, type Readings, readAnswer, readInline } from './reading.js';

/** What a thread tells of one job; `told` is of the job's kind. Nothing of an answer leaves the thread with a fault. */
export type ReadingAnswer = { ok: true; told: unknown } | { ok: false };

/** The thread's part. Buffers arrive and leave as plain bytes. */
export const answerOf = (job: unknown): ReadingAnswer => {
  try {
    return { ok: true, told: readAnswer(withBuffers(job as ReadingJob)) };
  } catch {
    return { ok: false };
  }
};

/** Thrown when no thread could read the answer, which then counts as unreadable. */
export class AnswerUnread extends Error {
  override readonly name = 'AnswerUnread';
}

/** Up to so many bytes an answer without a document is read where it came in: handing it over would cost more. */
const INLINE_BYTES = 4096;

/** Reads in threads what is long or holds a document; `run` hands a job to one of them and rejects when they die or hang over it. */
export const readInThreads =
  (run: (job: ReadingJob) => Promise<ReadingAnswer>): Reader =>
  async <Name extends ReadingName>(job: ReadingJob<Name>): Promise<Readings[Name]['told']> => {
    if (isBrief(job)) return await readInline(job);
    const answer = await run(job);
    if (!answer.ok) throw new AnswerUnread('a thread could not read the answer');
    return withBuffers(answer.told) as Readings[Name]['told'];
  };

const isBrief = ({ name, exchange }: ReadingJob): boolean => {
  if (exchange.kind !== 'answered') return true;
  const mayHoldDocument = name !== 'accessKeyOfDps' && exchange.status >= 200 && exchange.status < 300;
  return !mayHoldDocument && exchange.body.length <= INLINE_BYTES;
};

/** Bytes that crossed between threads are Buffers again, wherever they stand in plain objects. */
const withBuffers = <T>(value: T): T => {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength) as unknown as T;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBuffers(inner)])) as T;
};
