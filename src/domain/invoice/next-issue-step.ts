import { addSeconds, type Instant, isBefore } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import { sendableFrom } from '../dps/emission-time.js';
import { type Limits, MAX_SENDS } from './limits.js';
import { type LookupProgress, type SendStep, stepAfterSend } from './send-steps.js';
import {
  allCameToNothing,
  type Invoice,
  type InvoiceState,
  type IssueAttempt,
  lastSignal,
  sentCount,
} from './state.js';

export type IssueVerdict = { event: 'NotProcessed' | 'IssuanceFailed' | 'IssuanceInterrupted'; failedAt: Instant };

/** A step of issuing; a `send` takes a new DPS number. */
export type IssueStep = SendStep<IssueAttempt, IssueVerdict, never>;

/** The next step of issuing an invoice (docs/architecture.md#never-twice). */
export const nextIssueStep = (
  state: InvoiceState,
  now: Instant,
  limits: Limits,
  progress: LookupProgress,
): IssueStep => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'open') return { do: 'nothing' };
  const verdict = verdictByTime(state, limits);
  const last = state.attempts.at(-1);
  if (!isBefore(now, verdict.failedAt)) {
    // The result of a look-up of a foreign note is known already.
    const known = last === undefined || last.resolution === 'foreign';
    return known ? { do: 'conclude', verdict } : { do: 'conclude', verdict, lookUpFirst: last };
  }
  const from = documentFrom(state);
  if (last === undefined) {
    return from !== undefined && isBefore(now, from) ? { do: 'wait', until: from } : { do: 'send', attempt: 1 };
  }
  const mayStartUntil = addSeconds(state.attempts[0]?.attemptedAt ?? last.attemptedAt, limits.processingSeconds);
  const { resolution } = last;
  switch (resolution) {
    case 'open':
    case 'unknown':
    case 'not_sent':
    case 'absent':
      return stepAfterSend(
        state.attempts,
        { ...last, resolution },
        { now, limits, progress, sendableFrom: from, mayStartUntil, endsAt: verdict.failedAt },
      );
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
    default:
      return unreachable(resolution);
  }
};

/**
 * The end of an open invoice's time, after which nothing of it is sent. Undefined when its state already rules out a further send. The rules about
 * sends may rule one out earlier: none follows the fifth, and none begins later than one processing limit after the first.
 */
export const mayBeSentUntil = (state: InvoiceState, limits: Limits): Instant | undefined => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'open') return undefined;
  return state.attempts.at(-1)?.foreignSameContent === true ? undefined : verdictByTime(state, limits).failedAt;
};

/** From when the authorizer takes the document that follows from the acceptance. */
const documentFrom = ({ facts: { createdAt, competence } }: Invoice): Instant | undefined =>
  createdAt === undefined || competence === undefined ? undefined : sendableFrom({ acceptedAt: createdAt, competence });

/**
 * The verdict that time will give, and when (TRANS-2, TRANS-3). `failed` only when nothing came of any attempt. A proven absence allows a resend but never a `failed`,
 * because a late commit may still come (docs/architecture.md#never-twice, 8). A number conflict after which no number was tried does not fail either:
 * the log may be an older copy, and an attempt that the log has lost may have left a note.
 */
export const verdictByTime = (invoice: Invoice, limits: Limits): IssueVerdict => {
  const [first, last] = [invoice.attempts[0], invoice.attempts.at(-1)];
  if (first === undefined) {
    const acceptedAt = invoice.facts.createdAt ?? '';
    return { event: 'NotProcessed', failedAt: addSeconds(acceptedAt, limits.queuedSeconds) };
  }
  if (allCameToNothing(invoice.attempts) && last?.resolution !== 'foreign') {
    return { event: 'IssuanceFailed', failedAt: addSeconds(first.attemptedAt, limits.processingSeconds) };
  }
  const signal = lastSignal(invoice.attempts) ?? first.attemptedAt;
  return { event: 'IssuanceInterrupted', failedAt: addSeconds(signal, limits.processingSeconds) };
};
