import {
  CANCELLATION_EVENT,
  type CancelingEvent,
  cancelingEvents,
  type DpsId,
  eventRequestId,
  isAccessKey,
  isKeyOfEmitter,
} from '../../domain/common/access-key.js';
import { DAY_MS, epochMs, type Instant } from '../../domain/common/time.js';
import {
  type AuthorizedNote,
  isCertificateReason,
  type LookupResult,
  type RegisteredEvent,
  type SendResult,
} from '../../ports/authorizer.js';
import { namesOther } from './answer-table.js';
import { readEvent, readNote, type SentDocument } from './documents.js';
import type { Exchange } from './exchange.js';
import { ABSENT_OTHER_DOCUMENT, judgeLookup, judgeSend, SUCCESS_NOT_OURS, type SuccessRead } from './judge-answer.js';
import {
  isNote,
  type JsonBody,
  listsEvent,
  listsOnlyOtherEvents,
  mayEventCancel,
  packedEventOf,
  processedMsOf,
  readJson,
  saysNothingFound,
  sharedDocumentsOf,
  textOf,
} from './responses.js';

/** For each call, what the caller knows (`expected`) and what the reading returns. Plain values, so that both can cross to a thread. */
export type Readings = {
  sentDps: { expected: SentDocument & { heardAt?: Instant }; result: SendResult<AuthorizedNote> };
  sentCancellation: { expected: SentDocument; result: SendResult<RegisteredEvent> };
  accessKeyOfDps: { expected: { dpsId: DpsId }; result: LookupResult<string> };
  /** `dpsId`: of the DPS of which the note should be made, where that is known. */
  note: {
    expected: { accessKey: string; absentCodes: readonly string[]; dpsId?: DpsId; heardAt?: Instant };
    result: LookupResult<AuthorizedNote>;
  };
  /** The look-up of one type of event. */
  event: { expected: { accessKey: string; eventType: CancelingEvent }; result: LookupResult<RegisteredEvent> };
  /** The list of all events of a note. */
  events: { expected: { accessKey: string }; result: LookupResult<RegisteredEvent> | { kind: 'not_offered' } };
  /** The same list at the ADN, which also has the events of notes that a municipality's own system made. */
  sharedEvents: { expected: { accessKey: string }; result: LookupResult<RegisteredEvent> };
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
  sentDps: (exchange, { id, digest, document, heardAt }) =>
    judgeSend('dps', id, exchange, (body) => {
      // `idDps` of this answer holds the access key (docs/national-system.md#iddps-holds-the-key), so only the document shows whose note it is.
      const note = readNote(textOf(body, 'nfseXmlGZipB64'), document);
      const isOurs = note?.dpsId === id && note.digest === digest && isNoteOfDps(note, body, { dpsId: id, heardAt });
      return isOurs ? reliable(note) : SUCCESS_NOT_OURS;
    }),

  sentCancellation: (exchange, { id, digest, document }) =>
    judgeSend('event', id, exchange, (body) => {
      const event = readEvent(packedEventOf(body, CANCELLATION_EVENT), document);
      return event?.requestId === id && event.digest === digest ? reliable(event) : SUCCESS_NOT_OURS;
    }),

  accessKeyOfDps: (exchange, asked) => {
    const answer = judgeLookup(exchange, ['E2404'], asked);
    if (answer.kind !== 'present') return answer;
    const accessKey = textOf(answer.body, 'chaveAcesso') ?? '';
    return isAccessKey(accessKey) ? { kind: 'found', found: accessKey } : LOOK_UP_NOT_OURS;
  },

  note: (exchange, { accessKey, absentCodes, dpsId, heardAt }) => {
    const answer = judgeLookup(exchange, absentCodes);
    if (answer.kind !== 'present') return answer;
    const note = readNote(textOf(answer.body, 'nfseXmlGZipB64'));
    if (note?.accessKey !== accessKey) return LOOK_UP_NOT_OURS;
    const isMisfit = dpsId !== undefined && !isNoteOfDps(note, answer.body, { dpsId, heardAt });
    return { kind: 'found', found: isMisfit ? { ...note, misfit: true } : note };
  },

  event: (exchange, { accessKey, eventType }) => {
    const answer = judgeLookup(exchange, 'any', { accessKey });
    if (answer.kind !== 'present') return answer;
    const found = eventOn(accessKey, eventType, packedEventOf(answer.body, eventType));
    return found === undefined ? LOOK_UP_NOT_OURS : { kind: 'found', found };
  },

  // No public project has seen this list answered, so only a list in the form of the look-up counts (docs/national-system.md#event-paths). Whatever
  // says less than such a list counts as no list, and each type is asked for.
  events: (exchange, { accessKey }) => {
    if (exchange.kind === 'answered' && isNotOffered(exchange.status)) return { kind: 'not_offered' };
    const answer = judgeLookup(exchange, []);
    if (answer.kind !== 'present') return answer;
    for (const eventType of cancelingEvents) {
      if (!listsEvent(answer.body, eventType)) continue;
      const found = eventOn(accessKey, eventType, packedEventOf(answer.body, eventType));
      return found === undefined ? LOOK_UP_NOT_OURS : { kind: 'found', found };
    }
    if (!listsOnlyOtherEvents(answer.body)) return { kind: 'not_offered' };
    return namesOther(answer.body, { accessKey }) ? ABSENT_OTHER_DOCUMENT : { kind: 'absent' };
  },

  // Absence is the answer that finds nothing, or a list in which no document can cancel: it holds the note itself too, and events that cannot. Everything
  // else proves nothing.
  sharedEvents: (exchange, { accessKey }) => {
    if (exchange.kind !== 'answered') return inconclusiveAtAdn(exchange.reason);
    const { status, contentType } = exchange;
    const body = readJson(contentType, exchange.body);
    if (body === undefined) return inconclusiveAtAdn(`no_json_${status}`);
    const listed = sharedDocumentsOf(body);
    if (listed.length === 0 && (status === 404 || status === 200) && saysNothingFound(body)) return { kind: 'absent' };
    if (status !== 200 || listed.length === 0) return inconclusiveAtAdn(`status_${status}`);
    const mayCancel = listed.filter(
      (document) => document === undefined || (!isNote(document) && mayEventCancel(document)),
    );
    if (mayCancel.length === 0) {
      const isOther = listed.some((document) => document !== undefined && namesOther(document, { accessKey }));
      return isOther ? inconclusiveAtAdn(ABSENT_OTHER_DOCUMENT.reason) : { kind: 'absent' };
    }
    for (const event of mayCancel) {
      const found = event && readEvent(textOf(event, 'arquivoXml'));
      if (found?.requestId.startsWith(eventRequestId(accessKey, found.eventType))) return { kind: 'found', found };
    }
    return inconclusiveAtAdn(LOOK_UP_NOT_OURS.reason);
  },
};

/**
 * An answer of the ADN says nothing about Sefin: neither that Sefin is out nor that Sefin refuses a certificate. A reason that lies with the
 * certificate keeps its name.
 */
const inconclusiveAtAdn = (reason: string): LookupResult<never> => ({
  kind: 'inconclusive',
  reason: isCertificateReason(reason) ? reason : `adn_${reason}`,
});

/**
 * Undefined when the document is not an event of this type on this note. Requests of before 2026-01-22 have three more digits in their id
 * (docs/national-system.md#event-ids).
 */
const eventOn = (
  accessKey: string,
  eventType: CancelingEvent,
  packed: string | undefined,
): RegisteredEvent | undefined => {
  const event = readEvent(packed);
  if (event?.eventType !== eventType) return undefined;
  return event.requestId.startsWith(eventRequestId(accessKey, eventType)) ? event : undefined;
};

/** A path that the server does not have. Other statuses are about the caller, the rate of its calls or a fault of the moment. */
const isNotOffered = (status: number): boolean =>
  status === 501 || (status >= 300 && status < 500 && ![401, 403, 408, 429].includes(status));

export const LOOK_UP_NOT_OURS = { kind: 'inconclusive', reason: 'not_ours_or_unreadable' } as const;

/** A document with our request inside answers a send only when the authorizer's signature of it holds; otherwise a look-up follows. */
const reliable = <Document extends { signatureFault?: string }>(document: Document): SuccessRead<Document> => {
  const { signatureFault } = document;
  return signatureFault === undefined ? { result: document } : { ...SUCCESS_NOT_OURS, signatureFault };
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

/** `heardAt`: when the answer had come, by our clock. Without it only the time in the answer counts. */
type Question = { dpsId: string; heardAt?: Instant | undefined };

/** Clocks differ by minutes. A real note must pass whatever the clocks show, and a day more or less in `dhProc` harms nothing. */
const TOLERATED_MS = 2 * DAY_MS;

/**
 * Whether Sefin can have made the note of this DPS. Only what holds for every real note is compared: the key names the emitter of the DPS and is the
 * key of the answer, and `dhProc` is neither before `dhEmi` (E0008) nor after the answer. Our clock may be wrong, and so may the time in the answer,
 * so `dhProc` is too late only when it is after both.
 */
export const isNoteOfDps = (note: AuthorizedNote, body: JsonBody, { dpsId, heardAt }: Question): boolean => {
  const { accessKey, authorizedAt, emittedAt } = note;
  const named = textOf(body, 'chaveAcesso') ?? '';
  if (!isKeyOfEmitter(accessKey, dpsId) || (isAccessKey(named) && named !== accessKey)) return false;
  const madeMs = epochMs(authorizedAt);
  const heardMs = [heardAt === undefined ? undefined : epochMs(heardAt), processedMsOf(body)].filter(
    (ms) => ms !== undefined,
  );
  const isTooEarly = emittedAt !== undefined && madeMs < epochMs(emittedAt) - TOLERATED_MS;
  const isTooLate = heardMs.length > 0 && heardMs.every((ms) => madeMs > ms + TOLERATED_MS);
  return !isTooEarly && !isTooLate;
};
