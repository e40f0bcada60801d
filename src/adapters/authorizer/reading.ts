import { CANCELLATION_EVENT, cancellationRequestId, isAccessKey } from '../../domain/shared/access-key.js';
import type { AuthorizedNote, LookupResult, RegisteredEvent, SendResult } from '../../ports/authorizer.js';
import { classifyLookup, classifySend, NOT_OURS, type SuccessRead } from './classify.js';
import { readEvent, readNote, type SignedIdentity } from './documents.js';
import type { Exchange } from './exchange.js';
import { packedEventOf, textOf } from './responses.js';

/** What is asked of the answer to each call, and what is told. Plain values: a thread can be given the one and answer the other. */
export type Readings = {
  sentDps: { asked: SignedIdentity; told: SendResult<AuthorizedNote> };
  sentCancellation: { asked: SignedIdentity; told: SendResult<RegisteredEvent> };
  accessKeyOfDps: { asked: undefined; told: LookupResult<string> };
  note: { asked: { accessKey: string; absentCodes: readonly string[] }; told: LookupResult<AuthorizedNote> };
  cancellation: { asked: { accessKey: string }; told: LookupResult<RegisteredEvent> };
};

export type ReadingName = keyof Readings;

export type ReadingJob<Name extends ReadingName = ReadingName> = {
  name: Name;
  asked: Readings[Name]['asked'];
  exchange: Exchange;
};

/** Reads and judges one answer, here or in a thread; may reject, and then nothing is known of the answer. */
export type Reader = <Name extends ReadingName>(job: ReadingJob<Name>) => Promise<Readings[Name]['told']>;

/** The reading itself. May throw for what no bound and no parser foresaw. */
export const readAnswer = <Name extends ReadingName>({
  name,
  exchange,
  asked,
}: ReadingJob<Name>): Readings[Name]['told'] => readers[name](exchange, asked);

/** Reads where it is called: for tests and tools that nobody waits behind. */
export const readInline: Reader = async (job) => readAnswer(job);

const readers: {
  readonly [Name in ReadingName]: (exchange: Exchange, asked: Readings[Name]['asked']) => Readings[Name]['told'];
} = {
  sentDps: (exchange, { id, digest }) =>
    classifySend('dps', exchange, (body) => {
      // `idDps` of this answer holds the access key (docs/national-system.md#iddps-holds-the-key): only the document itself is believed.
      const note = readNote(textOf(body, 'nfseXmlGZipB64'));
      return note?.dpsId === id && note.dpsDigest === digest ? reliable(note) : NOT_OURS;
    }),

  sentCancellation: (exchange, { id, digest }) =>
    classifySend('event', exchange, (body) => {
      const event = readEvent(packedEventOf(body, CANCELLATION_EVENT));
      return event?.requestId === id && event.requestDigest === digest ? reliable(event) : NOT_OURS;
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

/** A document with ours inside answers a send only when the authorizer's own signature of it holds; else it is looked up. */
const reliable = <Document extends { signatureFault?: string }>(document: Document): SuccessRead<Document> => {
  const { signatureFault } = document;
  return signatureFault === undefined ? { result: document } : { ...NOT_OURS, signatureFault };
};
