import type { CancelingEvent } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Decision } from '../../domain/invoice/decision.js';
import type { AuthorizerAnswer, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { AbsenceMeaning, AbsenceProof } from '../../domain/invoice/send-decisions.js';
import type { LookupProgress, SendStep, Unsent } from '../../domain/invoice/send-steps.js';
import type { Owner } from '../../domain/invoice/sent-document.js';
import type { InvoiceState, Send } from '../../domain/invoice/state.js';
import type { Caller, LookupResult, SendResult } from '../../ports/authorizer.js';
import type { AppendSite } from '../event-store/append-sites.js';
import type { LoadedInvoice } from '../read/read-invoice.js';
import type { Resource } from './breaker.js';
import type { IssuerDeps, Next, ReceivedDocument } from './deps.js';
import type { StoredSignature } from './stored-documents.js';

/** The types in which a note and a cancellation differ. */
export type Sending = {
  /** The open issuing or cancellation of one invoice, as read from its stream. */
  work: object;
  send: Send;
  /** What a last look-up may be about in place of a send; `never` where it is always about a send. */
  unsent: Unsent;
  /** What names a send in events. */
  key: { attempt: number };
  /** What is sent, with its signed bytes. */
  document: StoredSignature;
  /** What a look-up finds. */
  found: ReceivedDocument;
  /** What time decides. */
  verdict: unknown;
};

/** What a look-up is about. */
export type LookedUp<K extends Sending> = K['send'] | K['unsent'];

/**
 * What is sent by the protocol of docs/architecture.md#never-twice. The protocol is the same for a note and a cancellation; a definition says what
 * is sent, how a document that is found is judged, and which events record it.
 */
export type SendDefinition<K extends Sending> = {
  /** Whose breaker holds the sends back. */
  resource: Resource;
  /** The append sites, which crash tests and fault tests name. */
  sites: Readonly<Record<'attempt' | 'outcome' | 'lookup' | 'conclude', AppendSite>>;
  nextStep(
    state: InvoiceState,
    now: Instant,
    limits: Limits,
    progress: LookupProgress,
  ): SendStep<K['send'], K['verdict'], K['unsent']>;
  /** Undefined when no such work is open on the stream. */
  workOf(loaded: LoadedInvoice): K['work'] | undefined;
  callerOf(work: K['work']): Caller;
  sendsOf(work: K['work']): readonly K['send'][];
  keyOf(work: K['work'], attempt: number): K['key'];
  /** Names the look-ups of one send in the database. */
  lookupKey(key: K['key']): string;

  /** Throws `SchemaViolation` where our own check refuses the document. */
  newDocument(open: OpenWork<K>, deps: IssuerDeps): Promise<Prepared<K['document']>>;
  /** The document of an earlier send. */
  storedDocument(open: OpenWork<K>, of: K['send'], deps: IssuerDeps): Promise<Prepared<K['document']>>;
  send(
    work: K['work'],
    bytes: Buffer,
    deadlineAt: Instant,
    deps: Pick<IssuerDeps, 'authorizer'>,
  ): Promise<SendResult<K['found']>>;
  find(
    caller: Caller,
    work: K['work'],
    of: LookedUp<K> | K['document'],
    deps: Pick<IssuerDeps, 'authorizer'>,
    until?: Instant,
  ): Promise<LookupResult<K['found']>>;
  /** A look-up that is answered also where nothing was sent yet: it shows whether the authorizer takes the company's certificate. */
  probe(open: OpenWork<K>, deps: Pick<IssuerDeps, 'authorizer' | 'company'>): Promise<unknown>;
  ownerOf(work: K['work'], found: K['found']): Owner;
  /** Records another's document under our id. */
  recordOther(open: OpenWork<K>, of: LookedUp<K>, found: K['found'], deps: IssuerDeps): Promise<void>;
  absenceOf(work: K['work'], of: K['send']): AbsenceMeaning;

  /** Our own check refuses the document. */
  decideUnsendable(state: InvoiceState, key: K['key'], at: Instant): Decision;
  decideAttempt(state: InvoiceState, key: K['key'], document: K['document'], times: AttemptTimes): Decision;
  decideNotSent(state: InvoiceState, data: K['key'] & NotSent): Decision;
  decideUnknown(state: InvoiceState, data: K['key'] & Unknown): Decision;
  decideRejected(state: InvoiceState, key: K['key'], answer: AuthorizerAnswer, at: Instant): Decision;
  /** The answer to the send holds a document. `lost`: what the log has lost since the send, its attempt included; empty otherwise. */
  decideDone(
    state: InvoiceState,
    key: K['key'],
    found: K['found'],
    document: K['document'],
    at: Instant,
    lost: readonly ReadInvoiceEvent[],
  ): Decision;
  /** A look-up has found our document. */
  decideFound(state: InvoiceState, key: K['key'], found: K['found'], at: Instant): Decision;
  decideAbsence(state: InvoiceState, proof: K['key'] & AbsenceProof, limits: Limits): Decision;
  decideVerdict(state: InvoiceState, verdict: K['verdict'], now: Instant, limits: Limits, seen: Seen): Decision;
};

type AttemptTimes = { attemptedAt: Instant; deadlineAt: Instant };
type NotSent = { reason: string; codes: readonly string[]; at: Instant };
/** `namedEvent` is of a cancellation only. */
type Unknown = { reason: string; refused?: true; namedEvent?: CancelingEvent; at: Instant } & AuthorizerAnswer;

/** The owner of a document that the last look-up found and that was not recorded; undefined when no such document was found. */
export type Seen = Owner | undefined;

export type OpenWork<K extends Sending> = { stream: StreamName; loaded: LoadedInvoice; work: K['work'] };

/** The document to send, with the bytes that it packs, or why nothing is sent now. */
export type Prepared<Document> =
  | { kind: 'document'; document: Document; bytes: Buffer }
  | { kind: 'halted'; next: Next };

/** One kind of work on one stream, with what it needs. */
export type Job<K extends Sending> = { definition: SendDefinition<K>; stream: StreamName; deps: IssuerDeps };
