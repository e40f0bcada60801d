import type { DpsId } from '../common/access-key.js';
import { saysDpsExists } from '../common/authorizer-code.js';
import { noChange } from '../common/decision.js';
import { present } from '../common/present.js';
import { type Instant, isBefore } from '../common/time.js';
import { type Decision, decided, stale } from './decision.js';
import { type AuthorizerAnswer, type InvoiceEventData, REFUSED_AFTER_OTHERS, type UnsendableReason } from './events.js';
import type { Limits } from './limits.js';
import { type IssueVerdict, verdictByTime } from './next-issue-step.js';
import {
  type AbsenceMeaning,
  type AbsenceProof,
  isRefusedAfterOthers,
  issueSends,
  MAY_HAVE_ARRIVED,
  NOT_PROVEN,
  OUTCOME_KNOWN,
  onAbsence,
  openInvoice,
  provenRefusal,
  refusalOrEvidence,
} from './send-decisions.js';
import type { Invoice, InvoiceState, IssueAttempt } from './state.js';

/** A refusal with final codes ends the invoice when nothing came of any earlier attempt; else it is evidence. Refuses once an outcome is known. */
export const decideRejection = (
  state: InvoiceState,
  { attempt }: { attempt: number },
  answer: AuthorizerAnswer,
  at: Instant,
): Decision =>
  refusalOrEvidence(state, {
    end: { type: 'IssuanceRejected', data: { attempt, ...answer, at } },
    evidence: {
      type: 'IssuanceOutcomeUnknown',
      data: { attempt, reason: REFUSED_AFTER_OTHERS.note, ...answer, at },
    },
  });

/** A note in hand is recorded while the invoice has no outcome, whatever happened to the attempt meanwhile. */
export const decideAuthorized = (state: InvoiceState, data: InvoiceEventData<'Authorized'>): Decision => {
  if (openInvoice(state) !== undefined) return decided({ type: 'Authorized', data });
  const known =
    state.kind === 'invoice' && state.outcome.status === 'issued' && state.outcome.accessKey === data.accessKey;
  return known ? noChange : stale(OUTCOME_KNOWN);
};

/**
 * As `decideAuthorized`, for a note that answers the send or the look-up of an attempt under `dpsId`. A failover may have lost that attempt (ADR 14).
 * Then an attempt of the log under the same id has the note, because all documents of an invoice under one id are equal. Without such an attempt the
 * note is recorded as that of a lost attempt, after the last one that the log has.
 */
export const decideNoteOf = (state: InvoiceState, dpsId: DpsId, data: InvoiceEventData<'Authorized'>): Decision => {
  const attempts = state.kind === 'invoice' ? state.attempts : [];
  const under = attempts.filter((one) => one.dpsId === dpsId);
  const held = under.find((one) => one.attempt === data.attempt) ?? under.at(-1);
  const attempt = held?.attempt ?? (attempts.at(-1)?.attempt ?? 0) + 1;
  return decideAuthorized(
    state,
    present({ ...data, attempt, attemptLost: held === undefined ? (true as const) : undefined }),
  );
};

/**
 * Two absent look-ups after the deadline, far enough apart, unless the authorizer ever said that the DPS exists. They make a refusal with an
 * uncatalogued code final; otherwise the same bytes may be sent again.
 */
export const decideAbsence = (state: InvoiceState, proof: AbsenceProof, limits: Limits): Decision =>
  onAbsence(issueSends(state), proof, limits, (send, isProven) => {
    const { attempt, dpsId } = send;
    const invoice = openInvoice(state);
    if (invoice !== undefined && isKnownToExist(invoice, dpsId))
      return stale('the authorizer said that this DPS exists');
    if (!isProven) return NOT_PROVEN;
    if (invoice !== undefined && whatAbsenceShows(invoice, send) === 'proves nothing') return stale(MAY_HAVE_ARRIVED);
    if (send.refused === true)
      return decided({ type: 'IssuanceRejected', data: { attempt, ...provenRefusal(send, proof) } });
    const { firstAbsentAt: firstAskedAt, now: secondAskedAt } = proof;
    return decided({
      type: 'IssuanceProvenAbsent',
      data: { attempt, dpsId, firstAskedAt, secondAskedAt, at: secondAskedAt },
    });
  });

/** The authorizer holds another document under the DPS id of the last attempt. Refuses for an earlier attempt and once an outcome is known. */
export const decideNumberConflict = (state: InvoiceState, data: InvoiceEventData<'NumberConflictFound'>): Decision => {
  const last = openInvoice(state)?.attempts.at(-1);
  if (last === undefined || last.attempt !== data.attempt) return stale('not the last attempt');
  return last.resolution === 'foreign' ? noChange : decided({ type: 'NumberConflictFound', data });
};

/** The document cannot be written and no attempt was made: a safe failure whose message says what to do (ADR 10). */
export const decideUnsendable = (state: InvoiceState, reason: UnsendableReason, at: Instant): Decision => {
  const invoice = openInvoice(state);
  if (invoice === undefined) return noChange;
  if (invoice.attempts.length > 0) return stale('an attempt was made');
  return decided({ type: 'IssuanceFailed', data: { failedAt: at, reason, at } });
};

/**
 * Records a verdict that is due; early and repeated sweeps change nothing. `noteSeen`: the last look-up found a document that was not
 * recorded, so `failed` is ruled out.
 */
export const decideVerdict = (
  state: InvoiceState,
  verdict: IssueVerdict,
  now: Instant,
  limits: Limits,
  noteSeen: boolean,
): Decision => {
  const invoice = openInvoice(state);
  if (invoice === undefined) return noChange;
  const settledAtOnce = verdict.event === 'IssuanceInterrupted' && invoice.attempts.at(-1)?.foreignSameContent === true;
  const due = settledAtOnce ? verdict : verdictByTime(invoice, limits);
  // The instant of a settled conflict comes from the clock of another process, which may be ahead of this one.
  const isDue = settledAtOnce || !isBefore(now, due.failedAt);
  if (due.event !== verdict.event || !isDue) return stale('not due');
  const type = noteSeen ? 'IssuanceInterrupted' : due.event;
  return decided({ type, data: { failedAt: due.failedAt, at: now } });
};

/** True when the authorizer said that this DPS exists; its absence can then not be proven (docs/architecture.md#never-twice, 5). */
export const isKnownToExist = (invoice: Invoice, dpsId: DpsId): boolean =>
  invoice.attempts.some((attempt) => attempt.dpsId === dpsId && saysDpsExists(attempt.codes));

/** What absent look-ups of an attempt can settle by the answers to all attempts. `decideAbsence` has the reasons. */
export const whatAbsenceShows = (invoice: Invoice, send: IssueAttempt): Exclude<AbsenceMeaning, 'one may settle it'> =>
  isKnownToExist(invoice, send.dpsId) || isRefusedAfterOthers(invoice.attempts, send)
    ? 'proves nothing'
    : 'two prove it';
