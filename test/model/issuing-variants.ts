import { isBefore } from '../../src/domain/common/time.js';
import { decideAbsence, decideAuthorized } from '../../src/domain/invoice/decide-issuance.js';
import { decided, stale } from '../../src/domain/invoice/decision.js';
import { MAX_SENDS } from '../../src/domain/invoice/limits.js';
import { type IssueStep, nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import { provesAbsence } from '../../src/domain/invoice/send-steps.js';
import { allCameToNothing, type Invoice, sentCount } from '../../src/domain/invoice/state.js';
import { type Rules, rules } from './issuing-rules.js';

/** The rules without one sentence of the protocol (docs/development.md#the-models); the name says which sentence is missing. */
type Variant = Partial<Rules>;

/** Records everything that the process takes for a proof of absence; the product would check the proof against the log once more. */
const recordAbsenceAsSaid: Rules['decideAbsence'] = (state, { attempt: of, firstAbsentAt, now }) => {
  const last = state.kind === 'invoice' && state.outcome.status === 'open' ? state.attempts.at(-1) : undefined;
  if (last?.attempt !== of || (last.resolution !== 'open' && last.resolution !== 'unknown')) return stale('settled');
  const { attempt, dpsId } = last;
  return decided({
    type: 'IssuanceProvenAbsent',
    data: { attempt, dpsId, firstAskedAt: firstAbsentAt, secondAskedAt: now, at: now },
  });
};

/** The same for a refusal with an uncatalogued code, which two absences make final. */
export const refusalAsSaid: Rules['decideAbsence'] = (state, proof, limits) => {
  const last = state.kind === 'invoice' && state.outcome.status === 'open' ? state.attempts.at(-1) : undefined;
  if (last?.attempt !== proof.attempt || last.refused !== true) return decideAbsence(state, proof, limits);
  const { attempt, codes } = last;
  const { firstAbsentAt: firstAskedAt, now: at } = proof;
  return decided({ type: 'IssuanceRejected', data: { attempt, codes, firstAskedAt, secondAskedAt: at, at } });
};

/** Without "After an E0014 absence may not be recorded for that DPS id". */
export const absentAfterExists: Variant = {
  countsAsAbsence: (_seen, asked, askedAt) => !isBefore(askedAt, asked.deadlineAt),
  decideAbsence: recordAbsenceAsSaid,
};

/** Without "only when asked at least twice". */
export const absentWhenAskedOnce: Variant = { provesAbsence: () => true, decideAbsence: recordAbsenceAsSaid };

/** Without "the two at least the second value apart". */
export const absentTwiceAtOnce: Variant = {
  provesAbsence: (_send, firstAbsentAt) => firstAbsentAt !== undefined,
  decideAbsence: recordAbsenceAsSaid,
};

/** Without "after the attempt's deadline passed"; look-ups begin before it, as with the product's own pauses. */
export const absentBeforeDeadline: Variant = {
  countsAsAbsence: () => true,
  provesAbsence: (_send, firstAbsentAt, now, given) =>
    provesAbsence({ deadlineAt: firstAbsentAt ?? now }, firstAbsentAt, now, given),
  decideAbsence: recordAbsenceAsSaid,
};

/** Without "One last look-up precedes every verdict by time". */
export const verdictWithoutLookup: Variant = { looksUpBeforeVerdict: false };

/** The last look-up may be older than the attempt whose time is over, when its process slept for a whole limit. The product did so before. */
export const verdictAfterOldLookup: Variant = { judgesAsOfLastLookup: false };

/** Without "appends `Authorized` as long as no outcome stands": a note counts only for an attempt that still waits for it. */
export const noteOfSettledAttemptDropped: Variant = {
  decideAuthorized: (state, data) => {
    const last = state.kind === 'invoice' ? state.attempts.at(-1) : undefined;
    const isAwaited = last?.attempt === data.attempt && (last.resolution === 'open' || last.resolution === 'unknown');
    return isAwaited ? decideAuthorized(state, data) : stale('the attempt is settled');
  },
};

/** Without "none starts later than one processing limit after the first". */
export const startsAtAnyTime: Variant = {
  nextIssueStep: elsewise(({ attempts }, now) => {
    const isCounted = !allCameToNothing(attempts) && sentCount(attempts) < MAX_SENDS;
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

/** Where the product only waits after a settled attempt, the variant decides as if the attempts were those of `asIf`. */
function elsewise(asIf: (invoice: Invoice, now: string) => Invoice['attempts'] | undefined): Rules['nextIssueStep'] {
  return (state, now, limits, progress): IssueStep => {
    const step = nextIssueStep(state, now, limits, progress);
    if (step.do !== 'wait' || state.kind !== 'invoice') return step;
    const last = state.attempts.at(-1);
    if (last === undefined || !['not_sent', 'absent', 'foreign'].includes(last.resolution)) return step;
    const attempts = asIf(state, now);
    return attempts === undefined ? step : nextIssueStep({ ...state, attempts }, now, limits, progress);
  };
}

/** Pauses with which look-ups begin long before an attempt's deadline. */
export const earlyLookups = { ...rules.limits, lookupIntervalsSeconds: [1, 1] };

/** Time enough for more attempts than are allowed. */
export const manyAttempts = { ...rules.limits, processingSeconds: 44 };
