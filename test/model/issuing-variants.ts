import { record, stale } from '../../src/domain/invoice/decision.js';
import { MAX_SENDS } from '../../src/domain/invoice/limits.js';
import { completesAbsence, type IssueStep, nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import { recordAuthorized } from '../../src/domain/invoice/record-issuance.js';
import { allNotSent, type Invoice, lastOf, sentCount } from '../../src/domain/invoice/state.js';
import { isBefore } from '../../src/domain/shared/time.js';
import { type Rules, rules } from './issuing-rules.js';

/** The rules with one sentence of design section 6 taken away, by that sentence. */
type Variant = Partial<Rules>;

/** Whatever the process takes for a proof is recorded; the product would check it once more against the log. */
const recordAbsenceAsSaid: Rules['recordAbsence'] = (state, { attempt: of, firstAbsentAt, now }) => {
  const last = state.kind === 'invoice' && state.outcome.status === 'open' ? lastOf(state.attempts) : undefined;
  if (last?.attempt !== of || (last.resolution !== 'open' && last.resolution !== 'unknown')) return stale('settled');
  const { attempt, dpsId } = last;
  return record({
    type: 'IssuanceProvenAbsent',
    data: { attempt, dpsId, firstAskedAt: firstAbsentAt, secondAskedAt: now, at: now },
  });
};

/** Without "After an E0014 absence may not be recorded for that DPS id". */
export const absentAfterExists: Variant = {
  countsAsAbsence: (_seen, asked, askedAt) => !isBefore(askedAt, asked.deadlineAt),
  recordAbsence: recordAbsenceAsSaid,
};

/** Without "only when asked at least twice". */
export const absentWhenAskedOnce: Variant = { completesAbsence: () => true, recordAbsence: recordAbsenceAsSaid };

/** Without "the two at least the second value apart". */
export const absentTwiceAtOnce: Variant = {
  completesAbsence: (_send, firstAbsentAt) => firstAbsentAt !== undefined,
  recordAbsence: recordAbsenceAsSaid,
};

/** Without "after the attempt's deadline passed"; look-ups begin before it, as with the product's own pauses. */
export const absentBeforeDeadline: Variant = {
  countsAsAbsence: () => true,
  completesAbsence: (_send, firstAbsentAt, now, given) =>
    completesAbsence({ deadlineAt: firstAbsentAt ?? now }, firstAbsentAt, now, given),
  recordAbsence: recordAbsenceAsSaid,
};

/** Without "One last look-up precedes every verdict by time". */
export const verdictWithoutLookup: Variant = { looksUpBeforeVerdict: false };

/** As it was: the look-up may be older than the attempt whose time is up, when its process slept for a whole limit. */
export const verdictAfterOldLookup: Variant = { judgesAsOfLastLookup: false };

/** Without "appends `Authorized` as long as no outcome stands": a note counts only for an attempt that still waits for it. */
export const noteOfSettledAttemptDropped: Variant = {
  recordAuthorized: (state, data) => {
    const last = state.kind === 'invoice' ? lastOf(state.attempts) : undefined;
    const isAwaited = last?.attempt === data.attempt && (last.resolution === 'open' || last.resolution === 'unknown');
    return isAwaited ? recordAuthorized(state, data) : stale('the attempt is settled');
  },
};

/** Without "none starts later than one processing limit after the first". */
export const startsAtAnyTime: Variant = {
  nextIssueStep: elsewise(({ attempts }, now) => {
    const isCounted = !allNotSent(attempts) && sentCount(attempts) < MAX_SENDS;
    return isCounted ? attempts.map((send, index) => (index === 0 ? { ...send, attemptedAt: now } : send)) : undefined;
  }),
};

/** Without "At most 5 attempts whose bytes left". */
export const startsAnyNumber: Variant = {
  nextIssueStep: elsewise(({ attempts }) =>
    sentCount(attempts) < MAX_SENDS
      ? undefined
      : attempts.filter((_send, index) => index === 0 || index === attempts.length - 1),
  ),
};

/** Where the product only waits behind a settled attempt, it takes the attempts for what `asIf` makes of them. */
function elsewise(asIf: (invoice: Invoice, now: string) => Invoice['attempts'] | undefined): Rules['nextIssueStep'] {
  return (state, now, limits, progress): IssueStep => {
    const step = nextIssueStep(state, now, limits, progress);
    if (step.do !== 'wait' || state.kind !== 'invoice') return step;
    const last = lastOf(state.attempts);
    if (last === undefined || !['not_sent', 'absent', 'foreign'].includes(last.resolution)) return step;
    const attempts = asIf(state, now);
    return attempts === undefined ? step : nextIssueStep({ ...state, attempts }, now, limits, progress);
  };
}

/** Pauses with which look-ups begin long before an attempt's deadline. */
export const earlyLookups = { ...rules.limits, lookupIntervalsSeconds: [1, 1] };

/** Time enough for more attempts than are allowed. */
export const manyAttempts = { ...rules.limits, processingSeconds: 44 };
