import { type Instant, isBefore } from '../shared/time.js';
import { alreadySo, type Decision, record, stale } from './decision.js';
import type { AuthorizerAnswer, InvoiceEventData } from './events.js';
import type { Limits } from './limits.js';
import { cancellationDue } from './next-cancel-step.js';
import { completesAbsence } from './next-issue-step.js';
import { allNotSent, type Cancellation, type InvoiceState } from './state.js';

/** "An event already stands on this note": only sends us to the look-up (design section 6, 7). */
export const EVENT_EXISTS = 'E0840';

export const recordCancelAttempt = (state: InvoiceState, data: InvoiceEventData<'CancellationAttempted'>): Decision => {
  const pending = pendingCancellation(state, data.request);
  if (pending === undefined) return stale('no such pending cancellation');
  const last = pending.sends.at(-1);
  const resendable = last === undefined || last.resolution === 'not_sent' || last.resolution === 'absent';
  if (!resendable || data.attempt !== (last?.attempt ?? 0) + 1) return stale('another attempt is under way');
  return record({ type: 'CancellationAttempted', data });
};

export const recordCancelNotSent = (state: InvoiceState, data: InvoiceEventData<'CancellationNotSent'>): Decision =>
  onOpenSend(state, data, () => record({ type: 'CancellationNotSent', data }));

export const recordCancelUnknown = (
  state: InvoiceState,
  data: InvoiceEventData<'CancellationOutcomeUnknown'>,
): Decision => onOpenSend(state, data, () => record({ type: 'CancellationOutcomeUnknown', data }));

/** A final refusal ends the request only when no earlier send may have arrived; else it is looked up until the time-out. */
export const recordCancelRefusal = (
  state: InvoiceState,
  send: { request: number; attempt: number },
  answer: AuthorizerAnswer,
  at: Instant,
): Decision =>
  onOpenSend(state, send, (pending) =>
    allNotSent(pending.sends.filter((other) => other.attempt < send.attempt))
      ? record({ type: 'CancellationNotConfirmed', data: { request: send.request, reason: 'refused', ...answer, at } })
      : record({
          type: 'CancellationOutcomeUnknown',
          data: { ...send, reason: 'refused after an unknown attempt', ...answer, at },
        }),
  );

export const recordConfirmation = (state: InvoiceState, data: InvoiceEventData<'CancellationConfirmed'>): Decision => {
  if (pendingCancellation(state, data.request) !== undefined) return record({ type: 'CancellationConfirmed', data });
  const canceled = state.kind === 'invoice' && state.cancellation?.status === 'succeeded';
  return canceled ? alreadySo : stale('the cancellation has ended');
};

/**
 * The event is proven absent. After an E0840 that means that another event blocks the note: a refusal. Otherwise the
 * same bytes may be sent again.
 */
export const recordCancelAbsence = (
  state: InvoiceState,
  command: { request: number; attempt: number; firstAbsentAt: Instant; now: Instant },
  limits: Limits,
): Decision => {
  const pending = pendingCancellation(state, command.request);
  const send = pending?.sends.at(-1);
  if (pending === undefined || send === undefined || send.attempt !== command.attempt)
    return stale('not the last attempt');
  if (send.resolution === 'absent') return alreadySo;
  if (send.resolution !== 'open' && send.resolution !== 'unknown') return stale('the attempt is settled');
  const { request, attempt, now: at } = command;
  const exists = pending.sends.some((one) => one.codes.includes(EVENT_EXISTS));
  const onlyThisMayHaveArrived = allNotSent(pending.sends.filter((other) => other.attempt !== attempt));
  if (exists && onlyThisMayHaveArrived) return blocked(request, at);
  if (!completesAbsence(send, command.firstAbsentAt, command.now, limits)) return stale('the proof is not complete');
  if (exists) return blocked(request, at);
  const proof = { firstAskedAt: command.firstAbsentAt, secondAskedAt: command.now };
  return record({ type: 'CancellationProvenAbsent', data: { request, attempt, ...proof, at } });
};

/** Another event stands on the note. When an earlier send may have arrived, a late look-up could hide ours: then one "absent" is not enough. */
const blocked = (request: number, at: Instant): Decision =>
  record({ type: 'CancellationNotConfirmed', data: { request, reason: 'refused', codes: [EVENT_EXISTS], at } });

export const concludeCancellation = (state: InvoiceState, now: Instant, limits: Limits): Decision => {
  const pending = state.kind === 'invoice' && state.cancellation?.status === 'pending' ? state.cancellation : undefined;
  if (pending === undefined) return alreadySo;
  if (isBefore(now, cancellationDue(pending, limits))) return stale('not due');
  return record({
    type: 'CancellationNotConfirmed',
    data: { request: pending.request, reason: 'timeout', codes: [], at: now },
  });
};

const pendingCancellation = (state: InvoiceState, request: number): Cancellation | undefined =>
  state.kind === 'invoice' && state.cancellation?.status === 'pending' && state.cancellation.request === request
    ? state.cancellation
    : undefined;

const onOpenSend = (
  state: InvoiceState,
  { request, attempt }: { request: number; attempt: number },
  decide: (pending: Cancellation) => Decision,
): Decision => {
  const pending = pendingCancellation(state, request);
  const send = pending?.sends.find((candidate) => candidate.attempt === attempt);
  if (pending === undefined || send === undefined) return stale('the cancellation has ended');
  return send.resolution === 'open' ? decide(pending) : alreadySo;
};
