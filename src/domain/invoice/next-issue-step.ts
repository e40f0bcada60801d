import { sendableFrom } from '../dps/dhEmi.js';
import { addSeconds, type Instant, isBefore } from '../shared/time.js';
import { absenceGapSeconds, type Limits, lookupPauseSeconds, MAX_SENDS, resendPauseSeconds } from './limits.js';
import {
  allNotSent,
  type Invoice,
  type InvoiceState,
  type IssueAttempt,
  lastOf,
  lastSignal,
  sentCount,
} from './state.js';

/** What the look-ups of the current attempt have said so far; kept in R, losing it only costs time (design section 6, 5). */
export type LookupProgress = { asked: number; lastAskedAt?: Instant; firstAbsentAt?: Instant };

export type IssueVerdict = { event: 'NotProcessed' | 'IssuanceFailed' | 'IssuanceInterrupted'; failedAt: Instant };

/** What the issuing protocol does with this invoice now (design section 6). */
export type IssueStep =
  | { do: 'nothing' }
  /** A new DPS number, new bytes. */
  | { do: 'send'; attempt: number }
  /** The stored bytes of attempt `of`, again. */
  | { do: 'resend'; attempt: number; of: IssueAttempt }
  | { do: 'look_up'; attempt: IssueAttempt }
  | { do: 'wait'; until: Instant }
  | { do: 'conclude'; verdict: IssueVerdict; lookUpFirst?: IssueAttempt };

export const nextIssueStep = (
  state: InvoiceState,
  now: Instant,
  limits: Limits,
  progress: LookupProgress,
): IssueStep => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'open') return { do: 'nothing' };
  const verdict = dueVerdict(state, limits);
  const last = lastOf(state.attempts);
  if (!isBefore(now, verdict.failedAt)) {
    // What a look-up would say of a foreign note is known already.
    const known = last === undefined || last.resolution === 'foreign';
    return known ? { do: 'conclude', verdict } : { do: 'conclude', verdict, lookUpFirst: last };
  }
  if (last === undefined) return firstSend(state, now);
  const mayStartUntil = addSeconds(state.attempts[0]?.attemptedAt ?? last.attemptedAt, limits.processingSeconds);
  switch (last.resolution) {
    case 'open':
      return isBefore(now, last.deadlineAt)
        ? { do: 'wait', until: last.deadlineAt }
        : lookUpWhenDue(last, now, limits, progress);
    case 'unknown':
      return lookUpWhenDue(last, now, limits, progress);
    case 'not_sent':
    case 'absent': {
      if (sentCount(state.attempts) >= MAX_SENDS || !isBefore(now, mayStartUntil)) {
        return { do: 'wait', until: verdict.failedAt };
      }
      const notSentInARow = trailingNotSent(state);
      const earliest = addSeconds(
        last.resolvedAt ?? last.attemptedAt,
        notSentInARow === 0 ? 0 : resendPauseSeconds(notSentInARow),
      );
      return isBefore(now, earliest)
        ? { do: 'wait', until: earliest }
        : { do: 'resend', attempt: last.attempt + 1, of: last };
    }
    case 'foreign':
      if (last.foreignSameContent === true) {
        return { do: 'conclude', verdict: { event: 'IssuanceInterrupted', failedAt: last.resolvedAt ?? now } };
      }
      return isBefore(now, mayStartUntil) && sentCount(state.attempts) < MAX_SENDS
        ? { do: 'send', attempt: last.attempt + 1 }
        : { do: 'wait', until: verdict.failedAt };
    case 'rejected':
    case 'authorized':
      return { do: 'nothing' };
  }
};

const firstSend = ({ facts }: Invoice, now: Instant): IssueStep => {
  const { createdAt, competence } = facts;
  const from =
    createdAt === undefined || competence === undefined ? now : sendableFrom({ acceptedAt: createdAt, competence });
  return isBefore(now, from) ? { do: 'wait', until: from } : { do: 'send', attempt: 1 };
};

/**
 * The verdict that time alone will give, and when. `failed` only when every attempt is proven not sent; a proven
 * absence allows a resend but never a `failed`, because a late commit may still come (design section 6, 6).
 */
export const dueVerdict = (invoice: Invoice, limits: Limits): IssueVerdict => {
  const first = invoice.attempts[0];
  if (first === undefined) {
    const acceptedAt = invoice.facts.createdAt ?? '';
    return { event: 'NotProcessed', failedAt: addSeconds(acceptedAt, limits.queuedSeconds) };
  }
  if (allNotSent(invoice.attempts)) {
    return { event: 'IssuanceFailed', failedAt: addSeconds(first.attemptedAt, limits.processingSeconds) };
  }
  const signal = lastSignal(invoice.attempts) ?? first.attemptedAt;
  return { event: 'IssuanceInterrupted', failedAt: addSeconds(signal, limits.processingSeconds) };
};

/** Whether an "absent" heard at `now` completes the proof; the first proof counts only after the attempt's deadline. */
export const completesAbsence = (
  send: { deadlineAt: Instant },
  firstAbsentAt: Instant | undefined,
  now: Instant,
  limits: Limits,
): boolean =>
  firstAbsentAt !== undefined &&
  !isBefore(firstAbsentAt, send.deadlineAt) &&
  !isBefore(now, addSeconds(firstAbsentAt, absenceGapSeconds(limits)));

/** A look-up for this attempt when its pause is over, else the wait for it. */
const lookUpWhenDue = (last: IssueAttempt, now: Instant, limits: Limits, progress: LookupProgress): IssueStep => {
  const due = lookupDue(last, limits, progress);
  return isBefore(now, due) ? { do: 'wait', until: due } : { do: 'look_up', attempt: last };
};

/** First look-up one pause after the unknown answer or, without one, at the deadline; the next ones a pause apart. */
export const lookupDue = (
  send: { resolution: string; deadlineAt: Instant; resolvedAt?: Instant },
  limits: Limits,
  progress: LookupProgress,
): Instant => {
  if (progress.lastAskedAt === undefined) {
    return send.resolution === 'open'
      ? send.deadlineAt
      : addSeconds(send.resolvedAt ?? send.deadlineAt, lookupPauseSeconds(limits, 0));
  }
  return addSeconds(progress.lastAskedAt, lookupPauseSeconds(limits, progress.asked));
};

const trailingNotSent = (invoice: Invoice): number => {
  let count = 0;
  for (let i = invoice.attempts.length - 1; i >= 0 && invoice.attempts[i]?.resolution === 'not_sent'; i--) count++;
  return count;
};
