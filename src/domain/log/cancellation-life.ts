import type { InvoiceEvent } from '../invoice/events.js';
import { epochMs } from '../shared/time.js';
import { CANCEL, type InvoiceLife, OUTCOME, SEND } from './life.js';

/** Moves the cancellation on by one event; answers what none may do (design section 6, 7 and invariant 5). */
export const cancellationBreach = (life: InvoiceLife, event: InvoiceEvent): string | undefined => {
  switch (event.type) {
    case 'CancellationRequested':
      if (life.outcome !== OUTCOME.issued) return 'a cancellation of what was not issued';
      if (life.cancel === CANCEL.pending || life.cancel === CANCEL.succeeded)
        return 'a cancellation while another one stands';
      if (event.data.request !== life.request + 1)
        return `request ${event.data.request} follows request ${life.request}`;
      life.request = event.data.request;
      life.cancel = CANCEL.pending;
      life.cancelAttempt = 0;
      life.cancelSend = SEND.none;
      return undefined;
    case 'CancellationSettledBySupport':
      if (life.outcome !== OUTCOME.issued || life.cancel === CANCEL.succeeded)
        return 'a cancellation settled by support although there was none to settle';
      life.cancel = CANCEL.succeeded;
      return undefined;
    case 'CancellationAttempted': {
      const breach = pendingBreach(life, event.data.request);
      if (breach !== undefined) return breach;
      if (event.data.attempt !== life.cancelAttempt + 1) return 'a cancellation attempt out of order';
      if (life.cancelSend === SEND.open || life.cancelSend === SEND.unknown)
        return 'a cancellation attempt while the one before was not settled';
      life.cancelAttempt = event.data.attempt;
      life.cancelSend = SEND.open;
      life.cancelDeadlineAt = epochMs(event.data.deadlineAt);
      return undefined;
    }
    case 'CancellationNotSent':
      return answered(life, event.data, SEND.notSent);
    case 'CancellationOutcomeUnknown':
      return answered(life, event.data, SEND.unknown);
    case 'CancellationProvenAbsent': {
      const { request, attempt, firstAskedAt, secondAskedAt } = event.data;
      const breach = pendingBreach(life, request);
      if (breach !== undefined) return breach;
      if (attempt !== life.cancelAttempt || (life.cancelSend !== SEND.open && life.cancelSend !== SEND.unknown))
        return 'a cancellation proven absent after it was settled';
      if (epochMs(firstAskedAt) < life.cancelDeadlineAt || epochMs(secondAskedAt) <= epochMs(firstAskedAt))
        return 'a cancellation proven absent without two look-ups after the deadline';
      life.cancelSend = SEND.absent;
      return undefined;
    }
    case 'CancellationConfirmed':
      return pendingBreach(life, event.data.request) ?? ended(life, CANCEL.succeeded);
    case 'CancellationNotConfirmed':
      return pendingBreach(life, event.data.request) ?? ended(life, CANCEL.failed);
    default:
      return undefined;
  }
};

const pendingBreach = (life: InvoiceLife, request: number): string | undefined =>
  life.cancel === CANCEL.pending && life.request === request
    ? undefined
    : 'a word on a cancellation that is not under way';

const answered = (
  life: InvoiceLife,
  { request, attempt }: { request: number; attempt: number },
  send: number,
): string | undefined => {
  const breach = pendingBreach(life, request);
  if (breach !== undefined) return breach;
  if (attempt !== life.cancelAttempt || life.cancelSend !== SEND.open)
    return 'a second answer to a cancellation attempt';
  life.cancelSend = send;
  return undefined;
};

const ended = (life: InvoiceLife, cancel: number): undefined => {
  life.cancel = cancel;
};
