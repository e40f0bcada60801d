import { addSeconds, type Instant, isBefore } from '../common/time.js';
import { type Limits, recordingSeconds } from './limits.js';
import { type LookupProgress, type SendStep, stepAfterSend, UNSENT } from './send-steps.js';
import { type Cancellation, type CancelSend, type InvoiceState, lastSignal } from './state.js';

export type CancelStep = SendStep<CancelSend, 'timeout'>;

/** The next step of a cancellation: the protocol of issuing, ended by one time-out (docs/architecture.md#never-twice). */
export const nextCancelStep = (
  state: InvoiceState,
  now: Instant,
  limits: Limits,
  progress: LookupProgress,
): CancelStep => {
  if (state.kind !== 'invoice' || state.cancellation?.status !== 'pending') return { do: 'nothing' };
  const { sends, requestedAt } = state.cancellation;
  const endsAt = timeoutAt(state.cancellation, limits);
  const last = sends.at(-1);
  if (!isBefore(now, endsAt)) return { do: 'conclude', verdict: 'timeout', lookUpFirst: last ?? UNSENT };
  if (last === undefined) return firstSend(state.cancellation, now);
  const mayStartUntil = addSeconds(sends[0]?.attemptedAt ?? last.attemptedAt, limits.cancellationSeconds);
  return stepAfterSend(sends, last, { now, limits, progress, sendableFrom: requestedAt, mayStartUntil, endsAt });
};

/** `dhEvento` follows from the request. Sent by an issuer whose clock is behind, the stamp would be later than the receipt (E1843). */
const firstSend = ({ requestedAt }: Cancellation, now: Instant): CancelStep =>
  isBefore(now, requestedAt) ? { do: 'wait', until: requestedAt } : { do: 'send', attempt: 1 };

/** When a cancellation without confirmation ends as `failed`, so that `pending` always ends (TRANS-8). */
export const timeoutAt = (cancellation: Cancellation, limits: Limits): Instant =>
  addSeconds(lastSignal(cancellation.sends) ?? cancellation.requestedAt, limits.cancellationSeconds);

/** Until then the time-out waits for a confirmation that was found and could not be recorded yet. */
export const confirmationAwaitedUntil = (cancellation: Cancellation, limits: Limits): Instant =>
  addSeconds(timeoutAt(cancellation, limits), recordingSeconds(limits));
