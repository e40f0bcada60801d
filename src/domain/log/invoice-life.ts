import type { InvoiceEvent } from '../invoice/events.js';
import { MAX_SENDS } from '../invoice/limits.js';
import { epochMs, type Instant } from '../shared/time.js';
import { cancellationBreach } from './cancellation-life.js';
import { BORN, CANCEL, type InvoiceLife, markOf, OUTCOME, SEND } from './life.js';

/** Support may call an invoice failed only so long after its last attempt (issue "settlement"). */
const ABSENCE_MS = 24 * 3_600_000;
const DPS_EXISTS = 'E0014';

/** Moves `life` on by one event of its stream; answers what no invoice may do, in one line without any content of the event. */
export const liveOn = (life: InvoiceLife, event: InvoiceEvent): string | undefined => {
  if (life.born === BORN.unjudged) return undefined;
  if (life.born === BORN.no) return bear(life, event);
  if (event.type === 'TestInvoiceDeleted') {
    if (life.born === BORN.deleted) return 'a test invoice ended twice';
    life.born = BORN.deleted;
    return undefined;
  }
  if (life.born === BORN.deleted) return 'an event follows the end of a test invoice';
  if (life.born === BORN.reference) return 'an event follows on a reference that another invoice holds';
  if (event.type.startsWith('Cancellation')) return cancellationBreach(life, event);
  return issuanceBreach(life, event);
};

const bear = (life: InvoiceLife, event: InvoiceEvent): string | undefined => {
  switch (event.type) {
    case 'InvoiceAccepted':
      life.born = BORN.accepted;
      return undefined;
    case 'InvoiceImported':
      life.born = BORN.imported;
      life.outcome = OUTCOME.issued;
      if (event.data.state === 'canceled') life.cancel = CANCEL.succeeded;
      return undefined;
    case 'ReferenceTaken':
      life.born = BORN.reference;
      return undefined;
    case 'TestInvoiceDeleted':
      life.born = BORN.deleted;
      return undefined;
    default:
      return 'the stream begins with neither an acceptance nor an import';
  }
};

const issuanceBreach = (life: InvoiceLife, event: InvoiceEvent): string | undefined => {
  switch (event.type) {
    case 'IssuanceAttempted':
      return attemptBreach(life, event.data);
    case 'IssuanceNotSent':
      return answerBreach(life, event.data.attempt) ?? settle(life, SEND.notSent);
    case 'IssuanceOutcomeUnknown':
      if (event.data.codes.includes(DPS_EXISTS)) life.exists = 1;
      return answerBreach(life, event.data.attempt) ?? settle(life, SEND.unknown);
    case 'IssuanceProvenAbsent':
      return absenceBreach(life, event.data) ?? settle(life, SEND.absent);
    case 'NumberConflictFound':
      return lastAttemptBreach(life, event.data.attempt) ?? settle(life, SEND.foreign);
    case 'Authorized':
      if (event.data.attempt < 1 || event.data.attempt > life.attempt + (event.data.attemptLost === true ? 1 : 0))
        return 'a note of an attempt that was never made';
      return end(life, OUTCOME.issued);
    case 'IssuanceRejected': {
      const breach = answerBreach(life, event.data.attempt);
      if (breach !== undefined) return breach;
      if (life.left > 1) return 'called failed although an earlier attempt may have left a note';
      return end(life, OUTCOME.failed);
    }
    case 'IssuanceFailed':
      if (life.left > 0) return 'called failed although an attempt was not proven unsent';
      return end(life, OUTCOME.failed);
    case 'NotProcessed':
      if (life.attempt > 0) return 'called not processed although an attempt was made';
      return end(life, OUTCOME.failed);
    case 'IssuanceInterrupted':
      if (life.left === 0) return 'called indeterminate although no attempt was sent';
      return end(life, OUTCOME.indeterminate);
    case 'IndeterminateResolved':
      if (life.outcome !== OUTCOME.indeterminate) return 'settled by support although it was not indeterminate';
      if (event.data.as === 'failed' && epochMs(event.data.at) < life.attemptedAt + ABSENCE_MS)
        return 'settled as failed less than 24 hours after its last attempt';
      life.outcome = event.data.as === 'issued' ? OUTCOME.issued : OUTCOME.failed;
      return undefined;
    case 'ReconciliationDifferenceFound':
      return undefined;
    default:
      return `${event.type} follows the beginning of the invoice`;
  }
};

const attemptBreach = (
  life: InvoiceLife,
  data: { attempt: number; dpsId: string; attemptedAt: Instant; deadlineAt: Instant },
): string | undefined => {
  if (life.outcome !== OUTCOME.open) return 'an attempt after the outcome';
  if (data.attempt !== life.attempt + 1) return `attempt ${data.attempt} follows attempt ${life.attempt}`;
  if (life.send === SEND.open || life.send === SEND.unknown) return 'an attempt while the one before was not settled';
  // The digest is sealed; that a resend has the same one is checked where documents are opened.
  const mark = markOf(data.dpsId);
  const again = life.send === SEND.notSent || life.send === SEND.absent;
  if (again && mark !== life.mark) return 'a further attempt with another DPS';
  if (life.send === SEND.foreign && mark === life.mark) return 'the DPS of a number conflict was sent again';
  if (life.left >= MAX_SENDS) return `more than ${MAX_SENDS} attempts that left`;
  if (epochMs(data.deadlineAt) <= epochMs(data.attemptedAt)) return 'an attempt whose deadline is not after it';
  if (!again) life.exists = 0;
  life.attempt = data.attempt;
  life.send = SEND.open;
  life.mark = mark;
  life.attemptedAt = epochMs(data.attemptedAt);
  life.deadlineAt = epochMs(data.deadlineAt);
  life.left += 1;
  return undefined;
};

const lastAttemptBreach = (life: InvoiceLife, attempt: number): string | undefined => {
  if (life.outcome !== OUTCOME.open) return 'an answer after the outcome';
  return attempt !== life.attempt || attempt < 1 ? 'an answer to an attempt that is not the last one' : undefined;
};

const answerBreach = (life: InvoiceLife, attempt: number): string | undefined =>
  lastAttemptBreach(life, attempt) ?? (life.send === SEND.open ? undefined : 'a second answer to the same attempt');

const absenceBreach = (
  life: InvoiceLife,
  proof: { attempt: number; firstAskedAt: Instant; secondAskedAt: Instant },
): string | undefined => {
  const breach = lastAttemptBreach(life, proof.attempt);
  if (breach !== undefined) return breach;
  if (life.send !== SEND.open && life.send !== SEND.unknown) return 'proven absent after it was settled';
  if (life.exists === 1) return 'proven absent although the authorizer said that this DPS exists';
  if (epochMs(proof.firstAskedAt) < life.deadlineAt) return 'proven absent by a look-up before the deadline';
  return epochMs(proof.secondAskedAt) <= epochMs(proof.firstAskedAt) ? 'proven absent by one look-up' : undefined;
};

const settle = (life: InvoiceLife, send: number): undefined => {
  if (send === SEND.notSent) life.left -= 1;
  life.send = send;
};

const end = (life: InvoiceLife, outcome: number): string | undefined => {
  if (life.outcome !== OUTCOME.open) return 'a second outcome';
  life.outcome = outcome;
  return undefined;
};
