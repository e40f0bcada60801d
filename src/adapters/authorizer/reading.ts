import { CANCELLATION_EVENT, cancellationRequestId, isAccessKey } from '../../domain/common/access-key.js';
import type { AuthorizedNote, LookupResult, RegisteredEvent, SendResult } from '../../ports/authorizer.js';
import { classifyLookup, classifySend, NOT_OURS, type SuccessRead } from './classify.js';
import { readEvent, readNote, type SignedIdentity } from './documents.js';
import type { Exchange } from './exchange.js';
import { packedEventOf, textOf } from './responses.js';

/** For each call, what the caller knows (`expected`) and what the reading returns. Plain values, so that both can cross to a thread. */
export type Readings = {
  sentDps: { expected: SignedIdentity; result: SendResult<AuthorizedNote> };
  sentCancellation: { expected: SignedIdentity; result: SendResult<RegisteredEvent> };
  accessKeyOfDps: { expected: undefined; result: LookupResult<string> };
  note: { expected: { accessKey: string; absentCodes: readonly string[] }; result: LookupResult<AuthorizedNote> };
  cancellation: { expected: { accessKey: string }; result: LookupResult<RegisteredEvent> };
};

export type ReadingName = keyof Readings;

export type ReadingJob<Name extends ReadingName = ReadingName> = {
  name: Name;
  expected: Readings[Name]['expected'];
  exchange: Exchange;
};

/** Reads and judges one answer, in this thread or another. May reject; then nothing is known about the answer. */
export type Reader = <Name extends ReadingName>(job: ReadingJob<Name>) => Promise<Readings[Name]['result']>;

/** Reads and judges one answer in the calling thread. May throw for content that no bound and no parser foresaw. */
export const readAnswer = <Name extends ReadingName>({
  name,
  exchange,
  expected,
}: ReadingJob<Name>): Readings[Name]['result'] => readers[name](exchange, expected);

/** A `Reader` in the calling thread, for brief answers, tests and tools. */
export const readInline: Reader = async (job) => readAnswer(job);

const readers: {
  readonly [Name in ReadingName]: (
    exchange: Exchange,
    expected: Readings[Name]['expected'],
  ) => Readings[Name]['result'];
} = {
  sentDps: (exchange, { id, digest }) =>
    classifySend('dps', exchange, (body) => {
      // `idDps` of this answer holds the access key (docs/national-system.md#iddps-holds-the-key), so only the document shows whose note it is.
      const note = readNote(textOf(body, 'nfseXmlGZipB64'));
      return note?.dpsId === id && note.digest === digest ? reliable(note) : NOT_OURS;
    }),

  sentCancellation: (exchange, { id, digest }) =>
    classifySend('event', exchange, (body) => {
      const event = readEvent(packedEventOf(body, CANCELLATION_EVENT));
      return event?.requestId === id && event.digest === digest ? reliable(event) : NOT_OURS;
    }),

  accessKeyOfDps: (exchange) => {
    const answer = classifyLookup(exchange, ['E2404']);
    if (answer.kind !== 'present') return answer;
    const accessKey = textOf(answer.body, 'chaveAcesso') ?? '';
    return isAccessKey(accessKey) ? { kind: 'found', found: accessKey } : notOurs;
  },

  note: (exchange, { accessKey, absentCodes }) => {
    const answer = classifyLookup(exchange, absentCodes);
    if (answer.kind !== 'present') return answer;
    const note = readNote(textOf(answer.body, 'nfseXmlGZipB64'));
    return note?.accessKey === accessKey ? { kind: 'found', found: note } : notOurs;
  },

  cancellation: (exchange, { accessKey }) => {
    const answer = classifyLookup(exchange, 'any');
    if (answer.kind !== 'present') return answer;
    const event = readEvent(packedEventOf(answer.body, CANCELLATION_EVENT));
    return event?.requestId === cancellationRequestId(accessKey) ? { kind: 'found', found: event } : notOurs;
  },
};

export const notOurs = { kind: 'inconclusive', reason: 'not_ours_or_unreadable' } as const;

/** A document with our request inside answers a send only when the authorizer's signature of it holds; otherwise a look-up follows. */
const reliable = <Document extends { signatureFault?: string }>(document: Document): SuccessRead<Document> => {
  const { signatureFault } = document;
  return signatureFault === undefined ? { result: document } : { ...NOT_OURS, signatureFault };
};

/** What a thread returns for one job; the value has the type of the job's name. A fault carries nothing of the answer. */
export type ReadingAnswer = { ok: true; result: unknown } | { ok: false };

/** Runs one job in the thread. Buffers arrive and leave as plain bytes. */
export const answerOf = (job: unknown): ReadingAnswer => {
  try {
    return { ok: true, result: readAnswer(withBuffers(job as ReadingJob)) };
  } catch {
    return { ok: false };
  }
};

/** Up to this size an answer without a document is read in the calling thread, because handing it over would cost more. */
const INLINE_BYTES = 4096;

/**
 * Gives answers that are long or may hold a document to `run`, which hands a job to a thread and rejects when the thread dies or takes too long.
 * Rejects when no thread could read the answer, which then counts as unreadable.
 */
export const readInThreads =
  (run: (job: ReadingJob) => Promise<ReadingAnswer>): Reader =>
  async <Name extends ReadingName>(job: ReadingJob<Name>): Promise<Readings[Name]['result']> => {
    if (isBrief(job)) return await readInline(job);
    const answer = await run(job);
    if (!answer.ok) throw new Error('a thread could not read the answer');
    return withBuffers(answer.result) as Readings[Name]['result'];
  };

const isBrief = ({ name, exchange }: ReadingJob): boolean => {
  if (exchange.kind !== 'answered') return true;
  const mayHoldDocument = name !== 'accessKeyOfDps' && exchange.status >= 200 && exchange.status < 300;
  return !mayHoldDocument && exchange.body.length <= INLINE_BYTES;
};

/** Turns bytes that crossed between threads back into Buffers, at any depth of plain objects. */
const withBuffers = <T>(value: T): T => {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength) as unknown as T;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBuffers(inner)])) as T;
};
