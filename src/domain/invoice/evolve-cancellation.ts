import { unreachable } from '../shared/unreachable.js';
import type { InvoiceEvent } from './events.js';
import { answered, resolved } from './evolve-send.js';
import { sentOf } from './sent-document.js';
import { type Cancellation, lastOf, type Send } from './state.js';

export type CancellationEvent = Extract<InvoiceEvent, { type: `Cancellation${string}` }>;

/** Folds an event of the cancellation; a new request begins anew, whatever became of the one before. */
export const evolveCancellation = (current: Cancellation | undefined, event: CancellationEvent): Cancellation => {
  if (event.type === 'CancellationRequested') {
    const { request, reason, requestedAt } = event.data;
    return { request, status: 'pending', reason, requestedAt, sends: [], codes: [] };
  }
  if (current === undefined) throw new Error(`${event.type} before CancellationRequested`);
  switch (event.type) {
    case 'CancellationAttempted': {
      const { attempt, requestId, attemptedAt, deadlineAt } = event.data;
      const about = { attempt, requestId, ...sentOf(event.data), attemptedAt, deadlineAt };
      const send = { ...about, resolution: 'open' as const, codes: [] };
      return { ...current, sends: [...current.sends, send] };
    }
    case 'CancellationNotSent':
      return withSend(current, event.data.attempt, answered('not_sent', event.data));
    case 'CancellationOutcomeUnknown':
      return withSend(current, event.data.attempt, answered('unknown', event.data));
    case 'CancellationProvenAbsent':
      return withSend(current, event.data.attempt, resolved('absent', event.data.at));
    case 'CancellationConfirmed':
    case 'CancellationSettledBySupport':
      return { ...current, status: 'succeeded', canceledAt: event.data.canceledAt };
    case 'CancellationNotConfirmed': {
      const last = lastOf(current.sends);
      const ended = last === undefined ? current : withSend(current, last.attempt, ifOpen(event.data.at));
      return { ...ended, status: 'failed', codes: event.data.codes };
    }
    default:
      return unreachable(event);
  }
};

const ifOpen =
  (at: string) =>
  <S extends Send>(send: S): S =>
    send.resolution === 'open' ? { ...send, resolution: 'unknown', resolvedAt: at } : send;

const withSend = (
  cancellation: Cancellation,
  attempt: number,
  change: (send: Cancellation['sends'][number]) => Cancellation['sends'][number],
): Cancellation => ({
  ...cancellation,
  sends: cancellation.sends.map((send) => (send.attempt === attempt ? change(send) : send)),
});
