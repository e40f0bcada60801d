import type { Instant } from '../shared/time.js';
import { isBefore } from '../shared/time.js';
import { alreadySo, type Decision, record, stale } from './decision.js';
import type { AuthorizerAnswer, InvoiceEventData } from './events.js';
import type { Limits } from './limits.js';
import { completesAbsence, dueVerdict, type IssueVerdict } from './next-issue-step.js';
import { allNotSent, type Invoice, type InvoiceState, type IssueAttempt } from './state.js';

/** "This DPS already exists": it outweighs every other code beside it and forbids a proof of absence. */
export const DPS_EXISTS = 'E0014';

export const recordAttempt = (state: InvoiceState, data: InvoiceEventData<'IssuanceAttempted'>): Decision => {
  const invoice = openInvoice(state);
  if (invoice === undefined) return stale('an outcome stands');
  const last = invoice.attempts.at(-1);
  const resendable = last === undefined || ['not_sent', 'absent', 'foreign'].includes(last.resolution);
  if (!resendable || data.attempt !== (last?.attempt ?? 0) + 1) return stale('another attempt is under way');
  return record({ type: 'IssuanceAttempted', data });
};

/** Only the process that held the socket may say so; a second word on the same attempt changes nothing. */
export const recordNotSent = (state: InvoiceState, data: InvoiceEventData<'IssuanceNotSent'>): Decision =>
  onOpenAttempt(state, data.attempt, () => record({ type: 'IssuanceNotSent', data }));

export const recordUnknown = (state: InvoiceState, data: InvoiceEventData<'IssuanceOutcomeUnknown'>): Decision =>
  onOpenAttempt(state, data.attempt, () => record({ type: 'IssuanceOutcomeUnknown', data }));

/** Final codes end the invoice only when every earlier attempt never left; otherwise they are evidence, and look-ups go on. */
export const recordRejection = (
  state: InvoiceState,
  attempt: number,
  answer: AuthorizerAnswer,
  at: Instant,
): Decision =>
  onOpenAttempt(state, attempt, (invoice) => {
    const earlier = invoice.attempts.filter((other) => other.attempt < attempt);
    return allNotSent(earlier)
      ? record({ type: 'IssuanceRejected', data: { attempt, ...answer, at } })
      : record({
          type: 'IssuanceOutcomeUnknown',
          data: { attempt, reason: 'rejected after an unknown attempt', ...answer, at },
        });
  });

/** An authorized note in hand is recorded as long as no outcome stands, whatever happened to the attempt meanwhile. */
export const recordAuthorized = (state: InvoiceState, data: InvoiceEventData<'Authorized'>): Decision => {
  const invoice = openInvoice(state);
  if (invoice !== undefined) return record({ type: 'Authorized', data });
  const known =
    state.kind === 'invoice' && state.outcome.status === 'issued' && state.outcome.accessKey === data.accessKey;
  return known ? alreadySo : stale('an outcome stands');
};

/** Two proofs, both after the deadline, far enough apart, and the authorizer never said that the DPS exists. */
export const recordAbsence = (
  state: InvoiceState,
  command: { attempt: number; firstAbsentAt: Instant; now: Instant },
  limits: Limits,
): Decision => {
  const invoice = openInvoice(state);
  const attempt = invoice?.attempts.at(-1);
  if (invoice === undefined || attempt === undefined || attempt.attempt !== command.attempt)
    return stale('not the last attempt');
  if (attempt.resolution === 'absent') return alreadySo;
  if (attempt.resolution !== 'open' && attempt.resolution !== 'unknown') return stale('the attempt is settled');
  if (saidToExist(invoice, attempt.dpsId)) return stale('the authorizer said that this DPS exists');
  if (!completesAbsence(attempt, command.firstAbsentAt, command.now, limits)) return stale('the proof is not complete');
  const { attempt: number, dpsId } = attempt;
  return record({
    type: 'IssuanceProvenAbsent',
    data: { attempt: number, dpsId, firstAskedAt: command.firstAbsentAt, secondAskedAt: command.now, at: command.now },
  });
};

export const recordConflict = (state: InvoiceState, data: InvoiceEventData<'NumberConflictFound'>): Decision => {
  const invoice = openInvoice(state);
  const last = invoice?.attempts.at(-1);
  if (last === undefined || last.attempt !== data.attempt) return stale('not the last attempt');
  return last.resolution === 'foreign' ? alreadySo : record({ type: 'NumberConflictFound', data });
};

/** The document cannot be written at all, and nothing was ever tried: a safe failure that says what to send (reading 51). */
export const recordUnfit = (state: InvoiceState, reason: 'customer_name_missing', at: Instant): Decision => {
  const invoice = openInvoice(state);
  if (invoice === undefined) return alreadySo;
  if (invoice.attempts.length > 0) return stale('an attempt was made');
  return record({ type: 'IssuanceFailed', data: { failedAt: at, reason, at } });
};

/**
 * The verdict of time, once it is due; early and double sweeps change nothing. `noteSeen`: a look-up has shown a note that could
 * not be recorded, so that nobody may say that there is none.
 */
export const conclude = (
  state: InvoiceState,
  verdict: IssueVerdict,
  now: Instant,
  limits: Limits,
  noteSeen = false,
): Decision => {
  const invoice = openInvoice(state);
  if (invoice === undefined) return alreadySo;
  const settledAtOnce = verdict.event === 'IssuanceInterrupted' && invoice.attempts.at(-1)?.foreignSameContent === true;
  const due = settledAtOnce ? verdict : dueVerdict(invoice, limits);
  if (due.event !== verdict.event || isBefore(now, due.failedAt)) return stale('not due');
  const type = noteSeen ? 'IssuanceInterrupted' : due.event;
  return record({ type, data: { failedAt: due.failedAt, at: now } });
};

/** Whether an absence may still be proven for this DPS id (design section 6, 5). */
export const saidToExist = (invoice: Invoice, dpsId: string): boolean =>
  invoice.attempts.some((attempt) => attempt.dpsId === dpsId && attempt.codes.includes(DPS_EXISTS));

const openInvoice = (state: InvoiceState): Invoice | undefined =>
  state.kind === 'invoice' && state.outcome.status === 'open' ? state : undefined;

const onOpenAttempt = (
  state: InvoiceState,
  number: number,
  decide: (invoice: Invoice, attempt: IssueAttempt) => Decision,
): Decision => {
  const invoice = openInvoice(state);
  const attempt = invoice?.attempts.find((candidate) => candidate.attempt === number);
  if (invoice === undefined || attempt === undefined) return stale('an outcome stands');
  return attempt.resolution === 'open' ? decide(invoice, attempt) : alreadySo;
};
