import type { AccessKey, CancelingEvent, DpsId } from '../common/access-key.js';
import type { InvoiceId } from '../common/ids.js';
import type { FiscalDate, Instant } from '../common/time.js';
import { type CancelReason, type InvoiceEventData, invoicePersonalFields, type UnsendableReason } from './events.js';

/** What is known about one send. `open`: no answer was recorded, perhaps because the process died. `absent`: proven by two look-ups. */
export type SendResolution = 'open' | 'not_sent' | 'unknown' | 'absent';

/** What an attempt at issuing may also come to. `foreign`: a foreign note has our DPS id. */
export type Resolution = SendResolution | 'rejected' | 'authorized' | 'foreign';

export type Send<Known extends Resolution = Resolution> = {
  attempt: number;
  /** Absent when its key is gone; see `compareSent`. */
  digest?: string;
  signatureMark?: string;
  attemptedAt: Instant;
  deadlineAt: Instant;
  resolution: Known;
  /** First answer to the send itself; a look-up does not count as an answer. */
  answeredAt?: Instant;
  /** When `resolution` was last set. */
  resolvedAt?: Instant;
  codes: readonly string[];
  /** The authorizer refused it with a code that is in no catalogue, so it is not sent again. */
  refused?: true;
  /** The authorizer refused it with final codes, which is evidence only, because an earlier send may have left a document. */
  final?: true;
  /** The authorizer answered without deciding: by codes that prove nothing final, or by a status such as 429. A lost answer leaves this out. */
  undecided?: true;
};

export type IssueAttempt = Send & { series: string; number: number; dpsId: DpsId; foreignSameContent?: boolean };

export type Outcome =
  | { status: 'open' }
  | { status: 'issued'; accessKey?: AccessKey; nfseNumber?: string; issuedAt?: Instant }
  | {
      status: 'failed';
      code: 'issue_failed' | 'nfse.not_processed';
      failedAt: Instant;
      /** The authorizer's codes, when it refused. Support may have settled what an earlier send had left open. */
      codes: readonly string[];
      reason?: UnsendableReason;
    }
  | { status: 'indeterminate'; failedAt: Instant };

/** `namedEvent`: the authorizer refused the send because this event, which cancels the note, is there already. */
export type CancelSend = Send<SendResolution> & { requestId: string; namedEvent?: CancelingEvent };

export type Cancellation = {
  request: number;
  status: 'pending' | 'succeeded' | 'failed';
  reason: CancelReason;
  requestedAt: Instant;
  sends: readonly CancelSend[];
  canceledAt?: Instant;
  /** Codes of the final refusal. */
  codes: readonly string[];
  /** When support closed the failed cancellation, because the note stays valid. */
  closedAt?: Instant;
};

/** An event of another party that ended the note; `replacedBy` is the key of the note that replaces it. */
export type CanceledElsewhere = { eventType: CancelingEvent; canceledAt: Instant; replacedBy?: AccessKey };

export type ImportedFrom = InvoiceEventData<'InvoiceImported'>['origin'];

/** Where the invoice was made: by this API, or elsewhere and imported, with special rules. */
type Origin =
  | { kind: 'api' }
  | {
      kind: 'imported';
      from: ImportedFrom;
      replaced: boolean;
      /** Set for an invoice that was imported as canceled; `at` as far as the import knew it. No request of this API canceled it. */
      canceled?: { at?: Instant };
      /** Set for a test invoice that was imported without `createdAt`: its retention counts from here. */
      importedAt?: Instant;
    };

/** The facts fixed at acceptance or import. Personal fields (customer, description) may still be sealed. */
export type InvoiceFacts = Pick<
  InvoiceEventData<'InvoiceAccepted'>,
  'mode' | 'companyId' | 'invoiceId' | 'amountInCents' | 'customer' | 'foreignAmount' | 'reference'
> & {
  description?: string;
  competence?: FiscalDate;
  cnae?: string;
  serviceCode?: string;
  createdAt?: Instant;
  idempotency?: InvoiceEventData<'InvoiceAccepted'>['idempotency'];
};

/** The facts that hold personal data: sealed in a row of the read model, opened in an answer. */
export const personalFacts = invoicePersonalFields.InvoiceAccepted;

export type Invoice = {
  kind: 'invoice';
  facts: InvoiceFacts;
  origin: Origin;
  attempts: readonly IssueAttempt[];
  outcome: Outcome;
  /** Our own cancellation, once it was requested. */
  cancellation?: Cancellation;
  canceledElsewhere?: CanceledElsewhere;
};

export type InvoiceState =
  | { kind: 'none' }
  /** The stream of a reference, or of an access key, that belongs to an imported invoice with another id. */
  | { kind: 'reference_taken'; invoiceId: InvoiceId }
  | { kind: 'deleted' }
  | Invoice;

export const initialInvoice: InvoiceState = { kind: 'none' };

/** Whether the invoice has an outcome and never gets this note: it has failed, or is issued with another one. */
export const hasEndedWithout = (accessKey: AccessKey, state: InvoiceState): boolean => {
  if (state.kind !== 'invoice') return false;
  const { outcome } = state;
  return outcome.status === 'failed' || (outcome.status === 'issued' && outcome.accessKey !== accessKey);
};

/** A signal is a recorded send or the first answer to it. A look-up that proves nothing is no signal (TRANS-3). */
export const lastSignal = (sends: readonly Send[]): Instant | undefined => {
  const last = sends.at(-1);
  return last === undefined ? undefined : (last.answeredAt ?? last.attemptedAt);
};

type Known = Pick<Send, 'resolution'> & Pick<IssueAttempt, 'foreignSameContent'>;

/**
 * Whether no document of ours can come of the send: its bytes never left, or another party's note has its DPS id. A note with our content may be
 * our own.
 */
export const cameToNothing = ({ resolution, foreignSameContent }: Known): boolean =>
  resolution === 'not_sent' || (resolution === 'foreign' && foreignSameContent !== true);

export const allCameToNothing = (sends: readonly Known[]): boolean => sends.every(cameToNothing);

/** Whether no send before this attempt can have left a document. */
export const allEarlierCameToNothing = (sends: readonly Send[], attempt: number): boolean =>
  allCameToNothing(sends.filter((send) => send.attempt < attempt));

/** The first send whose bytes left or may have left. */
export const firstSent = <S extends Send>(sends: readonly S[]): S | undefined =>
  sends.find((send) => send.resolution !== 'not_sent');

/** Number of sends whose bytes left or may have left. */
export const sentCount = (sends: readonly Send[]): number =>
  sends.filter((send) => send.resolution !== 'not_sent').length;

/** Whether the outcome is still to come: from the authorizer, or from support. */
export const isUnsettled = ({ outcome }: Invoice): boolean =>
  outcome.status === 'open' || outcome.status === 'indeterminate';
