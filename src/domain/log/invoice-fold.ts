import { type AccessKey, type DpsId, eventRequestId } from '../common/access-key.js';
import { saysDpsExists } from '../common/authorizer-code.js';
import { epochMs, type Instant } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import type { ReadInvoiceEvent } from '../invoice/events.js';
import { MAX_SENDS } from '../invoice/limits.js';

/**
 * What the auditor keeps of an invoice to judge its next event. It is not a second `evolve`: it checks the order of events from the events alone
 * (docs/architecture.md#invariants, 1, 2 and 5).
 */
export type InvoiceFold =
  | { kind: 'no events' }
  /** Part of the stream is missing or a breach was found, so the rest of the stream is not judged. */
  | { kind: 'not judged' }
  /** The stream of a reference that another invoice holds. */
  | { kind: 'reference' }
  | { kind: 'deleted' }
  | FoldedInvoice;

type FoldedInvoice = {
  kind: 'invoice';
  outcome: 'open' | 'issued' | 'failed' | 'indeterminate';
  lastAttempt?: FoldedAttempt;
  /** Attempts whose bytes left or may have left. */
  left: number;
  /** Of these, the attempts under whose DPS id another party's note was found. */
  barred: number;
  /** Of its note, where the log names the key. */
  accessKey?: AccessKey;
  cancellation?: FoldedCancellation;
};

type FoldedAttempt = {
  attempt: number;
  result: AttemptResult;
  dpsId: DpsId;
  attemptedAtMs: number;
  deadlineAtMs: number;
  /** The authorizer said that the DPS exists. */
  dpsExists: boolean;
  /** It was refused with an uncatalogued code: it ends by two absences or by time, and is not sent again. */
  refused?: true;
};

type AttemptResult = 'open' | 'not sent' | 'unknown' | 'absent' | 'other note';

type FoldedCancellation = {
  /** 0: canceled without a request of this service, by an import, by support or elsewhere. */
  request: number;
  status: 'pending' | 'succeeded' | 'failed';
  /** Attempts of this request whose bytes left or may have left. */
  left: number;
  lastAttempt?: { attempt: number; result: AttemptResult; deadlineAtMs: number; refused?: true };
};

const NO_REQUEST = { request: 0, left: 0 };

export const noEvents: InvoiceFold = { kind: 'no events' };
export const notJudged: InvoiceFold = { kind: 'not judged' };

/** Why an event must not follow the events before it, in one line without any content of the event. */
type Breach = { breach: string };

const breach = (text: string): Breach => ({ breach: text });

/** Support may settle as failed only after this time from the last attempt (docs/operations/support.md#settle-an-invoice). */
const ABSENCE_MS = 24 * 3_600_000;

/** The fold after one more event of the stream, or the breach that the event is. */
export const foldInvoice = (fold: InvoiceFold, event: ReadInvoiceEvent): InvoiceFold | Breach => {
  switch (fold.kind) {
    case 'not judged':
      return fold;
    case 'no events':
      return begin(event);
    case 'deleted':
      return breach(
        event.type === 'TestInvoiceDeleted'
          ? 'a test invoice ended twice'
          : 'an event follows the end of a test invoice',
      );
    case 'reference':
      return event.type === 'TestInvoiceDeleted'
        ? { kind: 'deleted' }
        : breach('an event follows on a reference that another invoice holds');
    case 'invoice':
      if (event.type === 'TestInvoiceDeleted') return { kind: 'deleted' };
      if (event.type === 'NoteCanceledElsewhere') return foldCanceledElsewhere(fold, event.data.accessKey);
      return isAboutCancellation(event) ? foldCancellation(fold, event) : foldIssuance(fold, event);
  }
};

const begin = (event: ReadInvoiceEvent): InvoiceFold | Breach => {
  switch (event.type) {
    case 'InvoiceAccepted':
      return { kind: 'invoice', outcome: 'open', left: 0, barred: 0 };
    case 'InvoiceImported': {
      const imported = withKey({ kind: 'invoice', outcome: 'issued', left: 0, barred: 0 }, event.data.accessKey);
      const canceled = event.data.state === 'canceled';
      return canceled ? { ...imported, cancellation: { ...NO_REQUEST, status: 'succeeded' } } : imported;
    }
    case 'ReferenceTaken':
      return { kind: 'reference' };
    case 'TestInvoiceDeleted':
      return { kind: 'deleted' };
    default:
      return breach('the stream begins with neither an acceptance nor an import');
  }
};

const foldIssuance = (fold: FoldedInvoice, event: ReadInvoiceEvent): InvoiceFold | Breach => {
  const last = fold.lastAttempt;
  switch (event.type) {
    case 'IssuanceAttempted':
      return foldAttempt(fold, event.data);
    case 'IssuanceNotSent': {
      const answered = openAttempt(fold, event.data.attempt);
      return 'breach' in answered ? answered : withResult({ ...fold, left: fold.left - 1 }, answered, 'not sent');
    }
    case 'IssuanceOutcomeUnknown': {
      const answered = openAttempt(fold, event.data.attempt);
      if ('breach' in answered) return answered;
      const dpsExists = answered.dpsExists || saysDpsExists(event.data.codes);
      const refused = event.data.refused === true ? { refused: true as const } : {};
      return withResult(fold, { ...answered, dpsExists, ...refused }, 'unknown');
    }
    case 'IssuanceProvenAbsent': {
      const absent = provenAbsent(fold, event.data);
      if ('breach' in absent) return absent;
      return absent.refused === true
        ? breach('a refused document proven absent in order to be sent again')
        : withResult(fold, absent, 'absent');
    }
    case 'NumberConflictFound': {
      const answered = lastAttempt(fold, event.data.attempt);
      if ('breach' in answered) return answered;
      // A note with the content of the invoice may be its own.
      const isBarred = !event.data.sameContent && !['not sent', 'other note'].includes(answered.result);
      return withResult({ ...fold, barred: fold.barred + (isBarred ? 1 : 0) }, answered, 'other note');
    }
    case 'Authorized': {
      const lost = event.data.attemptLost === true ? 1 : 0;
      if (event.data.attempt < 1 || event.data.attempt > (last?.attempt ?? 0) + lost)
        return breach('a note of an attempt that was never made');
      return withOutcome(withKey(fold, event.data.accessKey), 'issued');
    }
    case 'IssuanceRejected': {
      const { attempt, firstAskedAt, secondAskedAt } = event.data;
      const isProven = firstAskedAt !== undefined && secondAskedAt !== undefined;
      const answered = isProven
        ? provenRefused(fold, { attempt, firstAskedAt, secondAskedAt })
        : openAttempt(fold, attempt);
      if ('breach' in answered) return answered;
      if (mayHaveLeftNotes(fold) > 1) return breach('called failed although an earlier attempt may have left a note');
      return withOutcome(fold, 'failed');
    }
    case 'IssuanceFailed':
      if (mayHaveLeftNotes(fold) > 0) return breach('called failed although an attempt was not proven unsent');
      if (last?.result === 'other note') return breach('called failed after a number conflict without a new number');
      return withOutcome(fold, 'failed');
    case 'NotProcessed':
      if (last !== undefined) return breach('called not processed although an attempt was made');
      return withOutcome(fold, 'failed');
    case 'IssuanceInterrupted':
      // Attempts that were all not sent may end so: a look-up has shown a document under their DPS id.
      if (last === undefined) return breach('called indeterminate although no attempt was made');
      return withOutcome(fold, 'indeterminate');
    case 'IndeterminateResolved':
      if (fold.outcome !== 'indeterminate') return breach('settled by support although it was not indeterminate');
      if (event.data.as === 'failed' && epochMs(event.data.at) < (last?.attemptedAtMs ?? 0) + ABSENCE_MS)
        return breach('settled as failed less than 24 hours after its last attempt');
      return { ...(event.data.as === 'issued' ? withKey(fold, event.data.accessKey) : fold), outcome: event.data.as };
    case 'ReconciliationDifferenceFound':
      return fold;
    default:
      return breach(`${event.type} follows the beginning of the invoice`);
  }
};

const withKey = (fold: FoldedInvoice, accessKey: AccessKey | undefined): FoldedInvoice =>
  accessKey === undefined ? fold : { ...fold, accessKey };

const mayHaveLeftNotes = ({ left, barred }: FoldedInvoice): number => left - barred;

const foldAttempt = (
  fold: FoldedInvoice,
  data: { attempt: number; dpsId: DpsId; attemptedAt: Instant; deadlineAt: Instant },
): InvoiceFold | Breach => {
  const last = fold.lastAttempt;
  const { attempt, dpsId } = data;
  if (fold.outcome !== 'open') return breach('an attempt after the outcome');
  if (attempt !== (last?.attempt ?? 0) + 1) return breach(`attempt ${attempt} follows attempt ${last?.attempt ?? 0}`);
  if (last?.result === 'open' || last?.result === 'unknown')
    return breach('an attempt while the one before was not settled');
  // The digest is sealed. Whether a resend has the same digest is checked where documents are opened.
  const isResend = last?.result === 'not sent' || last?.result === 'absent';
  if (isResend && dpsId !== last.dpsId) return breach('a further attempt with another DPS');
  if (last?.result === 'other note' && dpsId === last.dpsId)
    return breach('the DPS of a number conflict was sent again');
  if (fold.left >= MAX_SENDS) return breach(`more than ${MAX_SENDS} attempts that left`);
  const [attemptedAtMs, deadlineAtMs] = [epochMs(data.attemptedAt), epochMs(data.deadlineAt)];
  if (deadlineAtMs <= attemptedAtMs) return breach('an attempt whose deadline is not after it');
  const dpsExists = isResend && last.dpsExists;
  return {
    ...fold,
    left: fold.left + 1,
    lastAttempt: { attempt, result: 'open', dpsId, attemptedAtMs, deadlineAtMs, dpsExists },
  };
};

const withResult = (fold: FoldedInvoice, last: FoldedAttempt, result: AttemptResult): FoldedInvoice => ({
  ...fold,
  lastAttempt: { ...last, result },
});

const withOutcome = (
  fold: FoldedInvoice,
  outcome: Exclude<FoldedInvoice['outcome'], 'open'>,
): FoldedInvoice | Breach => (fold.outcome === 'open' ? { ...fold, outcome } : breach('a second outcome'));

/** The last attempt, when the answer is to it. */
const lastAttempt = ({ outcome, lastAttempt: last }: FoldedInvoice, attempt: number): FoldedAttempt | Breach => {
  if (outcome !== 'open') return breach('an answer after the outcome');
  return last?.attempt === attempt ? last : breach('an answer to an attempt that is not the last one');
};

/** The last attempt, when the answer is the first one to it. */
const openAttempt = (fold: FoldedInvoice, attempt: number): FoldedAttempt | Breach => {
  const last = lastAttempt(fold, attempt);
  if ('breach' in last) return last;
  return last.result === 'open' ? last : breach('a second answer to the same attempt');
};

const provenAbsent = (
  fold: FoldedInvoice,
  proof: { attempt: number; firstAskedAt: Instant; secondAskedAt: Instant },
): FoldedAttempt | Breach => {
  const last = lastAttempt(fold, proof.attempt);
  if ('breach' in last) return last;
  if (last.result !== 'open' && last.result !== 'unknown') return breach('proven absent after it was settled');
  if (last.dpsExists) return breach('proven absent although the authorizer said that this DPS exists');
  if (epochMs(proof.firstAskedAt) < last.deadlineAtMs) return breach('proven absent by a look-up before the deadline');
  return epochMs(proof.secondAskedAt) <= epochMs(proof.firstAskedAt) ? breach('proven absent by one look-up') : last;
};

/** A refusal that only look-ups made final: the answer itself is the event before. */
const provenRefused = (fold: FoldedInvoice, proof: Parameters<typeof provenAbsent>[1]): FoldedAttempt | Breach => {
  const absent = provenAbsent(fold, proof);
  if ('breach' in absent) return absent;
  return absent.refused === true ? absent : breach('called rejected by absences of what was not refused');
};

type CancellationEvent = Extract<ReadInvoiceEvent, { type: `Cancellation${string}` }>;

const isAboutCancellation = (event: ReadInvoiceEvent): event is CancellationEvent =>
  event.type.startsWith('Cancellation');

/** A breach is one of docs/architecture.md#invariants (5) or of the send protocol. */
const foldCancellation = (fold: FoldedInvoice, event: CancellationEvent): InvoiceFold | Breach => {
  const { cancellation } = fold;
  switch (event.type) {
    case 'CancellationRequested': {
      const { request } = event.data;
      const before = cancellation?.request ?? 0;
      if (fold.outcome !== 'issued') return breach('a cancellation of what was not issued');
      if (cancellation?.status === 'pending' || cancellation?.status === 'succeeded')
        return breach('a cancellation while another one stands');
      if (request !== before + 1) return breach(`request ${request} follows request ${before}`);
      return { ...fold, cancellation: { request, status: 'pending', left: 0 } };
    }
    case 'CancellationSettledBySupport':
      if (fold.outcome !== 'issued' || cancellation?.status === 'succeeded')
        return breach('a cancellation settled by support although there was none to settle');
      return { ...fold, cancellation: { ...NO_REQUEST, ...cancellation, status: 'succeeded' } };
    case 'CancellationClosedBySupport':
      return cancellation?.status === 'failed' ? fold : breach('a cancellation closed by support that had not failed');
    default: {
      if (cancellation?.status !== 'pending' || cancellation.request !== event.data.request)
        return breach('a word on a cancellation that is not under way');
      const isOfOther =
        fold.accessKey !== undefined && event.type === 'CancellationAttempted' && !isRequestFor(fold.accessKey, event);
      if (isOfOther) return breach('a cancellation attempt on another note');
      const next = foldPending(cancellation, event);
      return 'breach' in next ? next : { ...fold, cancellation: next };
    }
  }
};

const isRequestFor = (accessKey: AccessKey, { data }: { data: { requestId: string } }): boolean =>
  data.requestId.startsWith(eventRequestId(accessKey, ''));

const foldCanceledElsewhere = (fold: FoldedInvoice, accessKey: AccessKey): InvoiceFold | Breach => {
  const { outcome, cancellation } = fold;
  if (outcome !== 'issued') return breach('a note canceled elsewhere that was not issued');
  if ((fold.accessKey ?? accessKey) !== accessKey) return breach('the cancellation elsewhere of another note');
  if (cancellation?.status === 'succeeded') return breach('a note canceled elsewhere that was canceled before');
  return { ...fold, cancellation: { ...NO_REQUEST, ...cancellation, status: 'succeeded' } };
};

const foldPending = (
  pending: FoldedCancellation,
  event: Exclude<
    CancellationEvent,
    { type: 'CancellationRequested' | 'CancellationSettledBySupport' | 'CancellationClosedBySupport' }
  >,
): FoldedCancellation | Breach => {
  const last = pending.lastAttempt;
  switch (event.type) {
    case 'CancellationAttempted': {
      const { attempt, deadlineAt } = event.data;
      if (attempt !== (last?.attempt ?? 0) + 1) return breach('a cancellation attempt out of order');
      if (last?.result === 'open' || last?.result === 'unknown')
        return breach('a cancellation attempt while the one before was not settled');
      if (pending.left >= MAX_SENDS) return breach(`more than ${MAX_SENDS} cancellation attempts that left`);
      const lastAttempt = { attempt, result: 'open' as const, deadlineAtMs: epochMs(deadlineAt) };
      return { ...pending, left: pending.left + 1, lastAttempt };
    }
    case 'CancellationNotSent':
    case 'CancellationOutcomeUnknown': {
      if (last?.attempt !== event.data.attempt || last.result !== 'open')
        return breach('a second answer to a cancellation attempt');
      if (event.type === 'CancellationNotSent')
        return { ...pending, left: pending.left - 1, lastAttempt: { ...last, result: 'not sent' } };
      const refused = event.data.refused === true ? { refused: true as const } : {};
      return { ...pending, lastAttempt: { ...last, ...refused, result: 'unknown' } };
    }
    case 'CancellationProvenAbsent': {
      const { attempt, firstAskedAt, secondAskedAt } = event.data;
      if (last?.attempt !== attempt || (last.result !== 'open' && last.result !== 'unknown'))
        return breach('a cancellation proven absent after it was settled');
      if (epochMs(firstAskedAt) < last.deadlineAtMs || epochMs(secondAskedAt) <= epochMs(firstAskedAt))
        return breach('a cancellation proven absent without two look-ups after the deadline');
      if (last.refused === true) return breach('a refused cancellation proven absent in order to be sent again');
      return { ...pending, lastAttempt: { ...last, result: 'absent' } };
    }
    case 'CancellationConfirmed':
      return { ...pending, status: 'succeeded' };
    case 'CancellationNotConfirmed':
      return { ...pending, status: 'failed' };
    default:
      return unreachable(event);
  }
};
