import { addSeconds, type Instant, isBefore } from '../shared/time.js';
import { type Limits, MAX_SENDS, resendPauseSeconds } from './limits.js';
import { type LookupProgress, lookupDue } from './next-issue-step.js';
import { type Cancellation, type InvoiceState, lastOf, lastSignal, sentCount } from './state.js';

export type CancelSend = Cancellation['sends'][number];

/** What the cancellation protocol does now; the same ladder as issuing, ended by one time-out (design section 6, 7). */
export type CancelStep =
  | { do: 'nothing' }
  | { do: 'send'; attempt: number }
  | { do: 'resend'; attempt: number; of: CancelSend }
  | { do: 'look_up'; send: CancelSend }
  | { do: 'wait'; until: Instant }
  | { do: 'conclude'; lookUpFirst?: CancelSend };

export const nextCancelStep = (
  state: InvoiceState,
  now: Instant,
  limits: Limits,
  progress: LookupProgress,
): CancelStep => {
  if (state.kind !== 'invoice' || state.cancellation?.status !== 'pending') return { do: 'nothing' };
  const { sends } = state.cancellation;
  const due = cancellationDue(state.cancellation, limits);
  const last = lastOf(sends);
  if (!isBefore(now, due)) return last === undefined ? { do: 'conclude' } : { do: 'conclude', lookUpFirst: last };
  if (last === undefined) return { do: 'send', attempt: 1 };
  switch (last.resolution) {
    case 'open':
      if (isBefore(now, last.deadlineAt)) return { do: 'wait', until: last.deadlineAt };
      return lookUpWhenDue(last, now, limits, progress);
    case 'unknown':
      return lookUpWhenDue(last, now, limits, progress);
    case 'not_sent':
    case 'absent': {
      const mayStartUntil = addSeconds(sends[0]?.attemptedAt ?? last.attemptedAt, limits.cancellationSeconds);
      if (sentCount(sends) >= MAX_SENDS || !isBefore(now, mayStartUntil)) return { do: 'wait', until: due };
      const pause = last.resolution === 'not_sent' ? resendPauseSeconds(sends.length) : 0;
      const earliest = addSeconds(last.resolvedAt ?? last.attemptedAt, pause);
      return isBefore(now, earliest)
        ? { do: 'wait', until: earliest }
        : { do: 'resend', attempt: last.attempt + 1, of: last };
    }
    default:
      return { do: 'wait', until: due };
  }
};

/** Without a confirmation until then: `cancellation.status` failed, so `pending` always ends. */
export const cancellationDue = (cancellation: Cancellation, limits: Limits): Instant =>
  addSeconds(lastSignal(cancellation.sends) ?? cancellation.requestedAt, limits.cancellationSeconds);

const lookUpWhenDue = (last: CancelSend, now: Instant, limits: Limits, progress: LookupProgress): CancelStep => {
  const due = lookupDue(last, limits, progress);
  return isBefore(now, due) ? { do: 'wait', until: due } : { do: 'look_up', send: last };
};
