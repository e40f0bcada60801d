import { saysDpsExists } from '../common/authorizer-code.js';
import { present } from '../common/present.js';
import { addSeconds, earlierOf, epochMs, type Instant, isBefore, laterOf } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import {
  absenceGapSeconds,
  type Limits,
  lookupPauseSeconds,
  MAX_SENDS,
  nextSendShare,
  refusalGapSeconds,
  resendPauseSeconds,
} from './limits.js';
import { firstSent, type Send, type SendResolution, sentCount } from './state.js';

/** Named by a last look-up in place of a send where the log has no send. A log that was restored from a backup may have lost its sends (ADR 22). */
export const UNSENT = 'unsent';
export type Unsent = typeof UNSENT;

/**
 * The next step of the send protocol, for a note or a cancellation (docs/architecture.md#never-twice). `Verdict`: what time decides. `None`: what the
 * last look-up may name in place of a send.
 */
export type SendStep<S extends Send, Verdict = unknown, None extends Unsent = Unsent> =
  | { do: 'nothing' }
  /** A new document. */
  | { do: 'send'; attempt: number }
  /** The content of the send `of` again: its stored bytes, or signed again after a renewal of the certificate (ADR 19). */
  | { do: 'resend'; attempt: number; of: S }
  | { do: 'look_up'; send: S }
  | { do: 'wait'; until: Instant }
  | { do: 'conclude'; verdict: Verdict; lookUpFirst?: S | None };

/** Results so far of the look-ups of the last send. Kept in the database; losing it costs time only (docs/architecture.md#never-twice). */
export type LookupProgress = { asked: number; lastAskedAt?: Instant; firstAbsentAt?: Instant };

/** What a look-up showed. `not_asked`: nothing left, because the company has no certificate that can be used. */
export type LookupKind = 'found' | 'absent' | 'inconclusive' | 'not_asked';

type Situation = {
  now: Instant;
  limits: Limits;
  progress: LookupProgress;
  /** No resend starts earlier: the authorizer refuses a document from the future of its clock. Undefined for an import, which has no acceptance. */
  sendableFrom: Instant | undefined;
  /** No send starts later. */
  mayStartUntil: Instant;
  /** When time ends what the authorizer leaves open. */
  endsAt: Instant;
};

/** The step after the last send, while time is left. */
export const stepAfterSend = <S extends Send>(
  sends: readonly S[],
  last: S & { resolution: SendResolution },
  { now, limits, progress, sendableFrom, mayStartUntil, endsAt }: Situation,
): Extract<SendStep<S>, { do: 'resend' | 'look_up' | 'wait' }> => {
  switch (last.resolution) {
    case 'open':
    case 'unknown': {
      const isAwaited = last.resolution === 'open' && !isAhead(last.attemptedAt, now) && isBefore(now, last.deadlineAt);
      const due = isAwaited ? last.deadlineAt : lookupDue(last, now, limits, progress);
      return isBefore(now, due) ? { do: 'wait', until: due } : { do: 'look_up', send: last };
    }
    case 'not_sent':
    case 'absent': {
      if (sentCount(sends) >= MAX_SENDS || !isBefore(now, mayStartUntil)) return { do: 'wait', until: endsAt };
      const allowed = resendFrom(sends, last, now, mayStartUntil);
      const earliest = laterOf(allowed, sendableFrom ?? allowed);
      return isBefore(now, earliest)
        ? { do: 'wait', until: earliest }
        : { do: 'resend', attempt: last.attempt + 1, of: last };
    }
    default:
      return unreachable(last.resolution);
  }
};

/** Whether look-ups for this send go on, so that their progress counts. */
export const isLookedUp = ({ resolution }: Send): boolean => resolution === 'open' || resolution === 'unknown';

/** Seconds by which the clock of the process that recorded an instant may be ahead of this one. */
export const CLOCKS_APART_SECONDS = 60;

/**
 * Whether an instant of the log was recorded by a clock that was ahead and has been set back since. A wait that counts from such an instant is over:
 * it would last as long as the clock was ahead. Proofs of absence and verdicts count from such an instant all the same, because no evidence may come
 * early.
 */
const isAhead = (recorded: Instant, now: Instant): boolean => isBefore(addSeconds(now, CLOCKS_APART_SECONDS), recorded);

/**
 * Instant of the next look-up: one pause after an unknown answer, at the deadline without an answer, then one pause after the last. An answer that the
 * DPS exists is followed by a look-up at once: another party's note there stops the series, and each number given before that stop may issue again a
 * sale whose note this log does not have, as over an older copy of DATA_DIR.
 */
const lookupDue = (
  { resolution, codes, attemptedAt, deadlineAt, resolvedAt = deadlineAt }: Send,
  now: Instant,
  limits: Limits,
  { asked, lastAskedAt }: LookupProgress,
): Instant => {
  const exists = saysDpsExists(codes);
  if (lastAskedAt !== undefined) {
    const pausesSoFar = exists ? Math.max(0, asked - 1) : asked;
    return addSeconds(lastAskedAt, lookupPauseSeconds(limits, pausesSoFar));
  }
  const isOpen = resolution === 'open';
  if (isAhead(isOpen ? attemptedAt : resolvedAt, now)) return now;
  if (isOpen) return deadlineAt;
  return exists ? resolvedAt : addSeconds(resolvedAt, lookupPauseSeconds(limits, 0));
};

/**
 * When the last send may be repeated. Bytes that never left: after a pause that grows with the sends not sent in a row. A proven absence: at once, but
 * later each time when the authorizer has answered more than once without deciding.
 */
const resendFrom = (sends: readonly Send[], last: Send, now: Instant, mayStartUntil: Instant): Instant => {
  const resolvedAt = last.resolvedAt ?? last.attemptedAt;
  const isOver = isAhead(resolvedAt, now);
  const settledAt = isOver ? now : resolvedAt;
  const sent = sends.findLastIndex(({ resolution }) => resolution !== 'not_sent');
  const notSentInARow = sends.length - 1 - sent;
  if (notSentInARow > 0) return isOver ? now : addSeconds(resolvedAt, resendPauseSeconds(notSentInARow));
  const first = firstSent(sends);
  const isUndecidedAgain = last.undecided === true && sends.filter(({ undecided }) => undecided === true).length > 1;
  const spreadFrom = firstSent(sends.filter(({ attemptedAt }) => !isAhead(attemptedAt, now)))?.attemptedAt;
  if (first === undefined || !isUndecidedAgain || spreadFrom === undefined) return settledAt;
  const seconds = (epochMs(mayStartUntil) - epochMs(first.attemptedAt)) / 1000;
  return laterOf(settledAt, addSeconds(spreadFrom, nextSendShare(sentCount(sends)) * seconds));
};

/**
 * Whether an absent look-up at `now` proves the absence, together with an earlier one at `firstAbsentAt`. The first counts only after the
 * send's deadline, and one look-up is never both.
 */
export const provesAbsence = (
  send: Pick<Send, 'deadlineAt' | 'refused'>,
  firstAbsentAt: Instant | undefined,
  now: Instant,
  limits: Limits,
): boolean => {
  const gapSeconds = send.refused === true ? refusalGapSeconds(limits) : absenceGapSeconds(limits);
  return (
    firstAbsentAt !== undefined &&
    isBefore(firstAbsentAt, now) &&
    !isBefore(firstAbsentAt, send.deadlineAt) &&
    !isBefore(now, addSeconds(firstAbsentAt, gapSeconds))
  );
};

/**
 * The stored progress, as far as it is of this send: its last look-up was asked between the send and now.
 * - An earlier look-up is of a send that a set-back log has lost. Where the clock was set back between send and answer, the answer is the earlier
 *   instant of the two.
 * - A later look-up was asked by a clock that was ahead. It would put the next look-up off, or void all later absences.
 * - While the answer, or without one the send, is ahead of the clock, the first absence alone is left out.
 */
export const progressOfSend = (
  stored: LookupProgress | undefined,
  { attemptedAt, resolvedAt = attemptedAt }: Pick<Send, 'attemptedAt' | 'resolvedAt'>,
  now: Instant,
): LookupProgress => {
  const last = stored?.lastAskedAt;
  const since = earlierOf(attemptedAt, resolvedAt);
  if (stored === undefined || last === undefined || isBefore(now, last)) return { asked: 0 };
  if (isAhead(resolvedAt, now)) return { asked: stored.asked, lastAskedAt: last };
  return isBefore(last, since) ? { asked: 0 } : stored;
};

/**
 * The progress after a look-up that settled nothing. `counts`: its "absent" may be the first of two. A found document voids an earlier
 * absence, also a document of another owner, because the find shows a late commit. An absence asked for before the newest look-up does not count.
 * `not_asked`: no question left, so the next pause is no longer, and the cure is followed by a look-up soon.
 */
export const progressAfter = (
  progress: LookupProgress,
  { askedAt, kind }: { askedAt: Instant; kind: LookupKind },
  counts: boolean,
): LookupProgress & { lastAskedAt: Instant } => {
  const isNewest = progress.lastAskedAt === undefined || !isBefore(askedAt, progress.lastAskedAt);
  const firstNow = kind === 'absent' && counts && isNewest ? askedAt : undefined;
  const firstAbsentAt = kind === 'found' ? undefined : (progress.firstAbsentAt ?? firstNow);
  return {
    asked: progress.asked + (kind === 'not_asked' ? 0 : 1),
    lastAskedAt: isNewest ? askedAt : (progress.lastAskedAt ?? askedAt),
    ...present({ firstAbsentAt }),
  };
};
