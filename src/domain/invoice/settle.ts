import type { DpsId } from '../common/access-key.js';
import { noChange } from '../common/decision.js';
import { present } from '../common/present.js';
import { addSeconds, DAY_SECONDS, type Instant, isBefore } from '../common/time.js';
import { decideCanceledElsewhere } from './decide-cancellation.js';
import { isKnownToExist } from './decide-issuance.js';
import type { Decision } from './decision.js';
import type { InvoiceEventData, OtherSale } from './events.js';
import { absenceGapSeconds, type Limits } from './limits.js';
import { contentMet } from './note-met.js';
import { compareSent, type FoundDocument, isContradictory } from './sent-document.js';
import type { Invoice, InvoiceState } from './state.js';
import { invoiceStatus, isCanceled } from './status.js';

/** An earlier absence proves nothing, because a late commit may still come (docs/operations/support.md#settle-an-invoice). */
export const SETTLE_ABSENCE_SECONDS = DAY_SECONDS;

/** Two look-ups of one DPS id that the authorizer answered with "not there". */
export type ProvenAbsence = { dpsId: DpsId; firstAskedAt: Instant; secondAskedAt: Instant };

type Issued = Omit<Extract<InvoiceEventData<'IndeterminateResolved'>, { as: 'issued' }>, 'as'>;

/**
 * Settles with a note that embeds the exact DPS that an attempt signed: same id, same digest. `isMet`: a number of the invoice has the note, with the
 * content of the invoice. Such a note settles it too, under the authorizer's signature.
 */
export const settleAsIssued = (
  state: InvoiceState,
  note: { dpsId: DpsId } & FoundDocument,
  isMet: boolean,
  data: Issued,
): Decision => {
  const invoice = invoiceOf(state);
  if (invoice === undefined) return noInvoice;
  const { outcome } = invoice;
  if (isCanceled(invoice)) return { refused: 'its note is canceled, so there is nothing to settle' };
  if (outcome.status === 'issued' && outcome.accessKey === data.accessKey) return noChange;
  if (outcome.status !== 'indeterminate') return notIndeterminate(invoice);
  const sent = invoice.attempts.filter(({ dpsId }) => dpsId === note.dpsId);
  const owner = compareSent(sent, note);
  if (owner === 'unknown') return { refused: whyDoubtful(note) ?? NOT_COMPARABLE };
  if (owner === 'other' && !isMet) return { refused: `${FOREIGN_NOTE}${nextOf(invoice, sent)}` };
  return { events: [{ type: 'IndeterminateResolved', data: { as: 'issued', ...data } }] };
};

const nextOf = (invoice: Invoice, sent: Invoice['attempts']): string => {
  if (contentMet(invoice) === 'equal') return `, ${STAYS}`;
  return sent.length > 0 ? `: ${OTHER_CONTENT}` : '';
};

const STAYS =
  'and the note with equal content that the invoice met is not the one found, or cannot be compared, so the invoice stays indeterminate';

const NOT_COMPARABLE =
  'the key of what this invoice sent is gone, so nobody can tell whether the document found is its own';

/** Why nothing may be recorded on a document that is not known to be ours; undefined for a reliable document. */
export const whyDoubtful = (found: FoundDocument): string | undefined => {
  if (isContradictory(found)) return CONTRADICTORY;
  return found.signatureFault === undefined ? undefined : UNVERIFIED;
};

const CONTRADICTORY =
  'the document found contradicts itself (its content is not what its own signature says, or is not signed, or its key or time does not fit its DPS): nobody can tell whose it is, compare it with the national portal';

const UNVERIFIED =
  "the authorizer's signature on the document found cannot be verified: nobody can tell whose it is, compare it with the national portal";

const FOREIGN_NOTE =
  'the document found does not hold what this invoice sent (its DPS id or digest differs): it is another invoice';

/** A repeat on another day has another text where its description has a marker of a date, so its own note has other content (ADR 22). */
export const OTHER_CONTENT =
  'the note under its number has other content, so only --as failed can settle the invoice, where that note is of another sale';

/** What must be proven before an indeterminate invoice is settled as failed. */
type ToProve = {
  /**
   * All under which an attempt may have left a note. Each must be absent, or have the note of another sale, because one DPS id has one note. Where no
   * attempt was sent, a look-up has shown a document under these ids, so all are asked for.
   */
  dpsIds: readonly DpsId[];
  /** Those of which no absence is taken (E0014). */
  saidToExist: readonly DpsId[];
  /** Those whose note was met already, and must be of another sale. */
  met: readonly DpsId[];
  earliest: Instant;
};

/** What `settleAsFailed` asks for. Refused when nothing could prove it. */
export const absencesToProve = (state: InvoiceState, now: Instant): ToProve | { refused: string } => {
  const invoice = invoiceOf(state);
  if (invoice === undefined) return noInvoice;
  if (invoice.outcome.status !== 'indeterminate') return notIndeterminate(invoice);
  const last = invoice.attempts.at(-1);
  const earliest = last === undefined ? now : addSeconds(last.attemptedAt, SETTLE_ABSENCE_SECONDS);
  if (isBefore(now, earliest))
    return { refused: `an absence proves nothing before ${earliest}, 24 h after the last attempt` };
  const left = invoice.attempts.filter(({ resolution }) => resolution !== 'not_sent' && resolution !== 'rejected');
  const isForeign = ({ resolution }: Invoice['attempts'][number]): boolean => resolution === 'foreign';
  // An invoice is indeterminate after attempts that were not sent only because a look-up showed a document under their DPS id.
  const open = left.every(isForeign) ? invoice.attempts : left;
  if (open.some(({ foreignSameContent }) => foreignSameContent === true)) return { refused: SAME_CONTENT };
  const dpsIds = [...new Set(open.filter((attempt) => !isForeign(attempt)).map(({ dpsId }) => dpsId))];
  const met = [...new Set(open.filter(isForeign).map(({ dpsId }) => dpsId))];
  return { dpsIds, saidToExist: dpsIds.filter((dpsId) => isKnownToExist(invoice, dpsId)), met, earliest };
};

const SAME_CONTENT =
  'a note stands under its DPS id whose customer, amount and description are equal or could not be compared: it may be this very invoice, so it cannot be called failed. --as issued gives the note to the invoice; where that is refused, the invoice stays indeterminate';

/** Why an absent look-up proves nothing of such a DPS id. */
export const SAID_TO_EXIST =
  'the authorizer once answered that this DPS exists (E0014): its absence cannot be proven any more';

/** `absences`: each with the protocol's gap between its two look-ups. */
type FailedProofs = { absences: readonly ProvenAbsence[]; otherSales: readonly OtherSale[] };

/** Settles with the proofs that `absencesToProve` names. */
export const settleAsFailed = (
  state: InvoiceState,
  { absences, otherSales }: FailedProofs,
  { evidence, now }: { evidence: string; now: Instant },
  limits: Limits,
): Decision => {
  if (invoiceOf(state)?.outcome.status === 'failed') return noChange;
  const wanted = absencesToProve(state, now);
  if ('refused' in wanted) return wanted;
  const isOfOther = (dpsId: DpsId): boolean => otherSales.some((other) => other.dpsId === dpsId);
  if (!wanted.met.every(isOfOther)) return { refused: 'the note under its number is not proven to be of another sale' };
  const isAbsent = (dpsId: DpsId): boolean =>
    !wanted.saidToExist.includes(dpsId) &&
    absences.some(
      (absence) =>
        absence.dpsId === dpsId &&
        !isBefore(absence.firstAskedAt, wanted.earliest) &&
        !isBefore(absence.secondAskedAt, addSeconds(absence.firstAskedAt, absenceGapSeconds(limits))),
    );
  if (!wanted.dpsIds.every((dpsId) => isOfOther(dpsId) || isAbsent(dpsId)))
    return { refused: 'its absence at the authorizer is not proven' };
  const data = present({ as: 'failed' as const, absences, otherSales: otherSales.length > 0 ? otherSales : undefined });
  return { events: [{ type: 'IndeterminateResolved', data: { ...data, evidence, at: now } }] };
};

/** The authorizer has our event, or one that may be ours: the note is canceled and the failed request ends. */
export const settleAsCanceled = (
  state: InvoiceState,
  data: InvoiceEventData<'CancellationSettledBySupport'>,
): Decision => {
  const against = cannotBeCanceled(state);
  if (against !== undefined) return against;
  if (invoiceOf(state)?.cancellation === undefined) return { refused: 'nobody has asked for its cancellation' };
  return { events: [{ type: 'CancellationSettledBySupport', data }] };
};

/** The authorizer shows no event for the note: the failed cancellation is closed, and the client's answer stays as it is. */
export const closeCancellation = (
  state: InvoiceState,
  data: InvoiceEventData<'CancellationClosedBySupport'>,
): Decision => {
  const invoice = invoiceOf(state);
  if (invoice === undefined) return noInvoice;
  if (!isCancellationFailed(invoice)) return { refused: 'it has no failed cancellation' };
  if (invoice.cancellation?.closedAt !== undefined) return noChange;
  return { events: [{ type: 'CancellationClosedBySupport', data }] };
};

/** Whether a cancellation of ours failed and the note is not known to be canceled otherwise. */
export const isCancellationFailed = (invoice: Invoice): boolean =>
  invoice.cancellation?.status === 'failed' && !isCanceled(invoice);

/** The authorizer has an event of another party: the note is canceled, with or without a failed request of ours. See `decideCanceledElsewhere`. */
export const settleAsCanceledElsewhere = (
  state: InvoiceState,
  data: InvoiceEventData<'NoteCanceledElsewhere'>,
  judged: InvoiceState,
): Decision => cannotBeCanceled(state) ?? decideCanceledElsewhere(state, data, judged);

/** Why support cannot settle it as canceled, known before any look-up; undefined when it can. "Already canceled" is a result too. */
export const cannotBeCanceled = (state: InvoiceState): Decision | undefined => {
  const invoice = invoiceOf(state);
  if (invoice === undefined) return noInvoice;
  const { outcome, cancellation } = invoice;
  if (outcome.status !== 'issued')
    return { refused: `it is ${invoiceStatus(invoice)}: only an issued invoice is canceled` };
  if (isCanceled(invoice)) return noChange;
  if (cancellation?.status !== 'pending') return undefined;
  return { refused: 'its cancellation is still being worked on and will end by itself' };
};

const noInvoice = { refused: 'there is no such invoice (any more)' };

const invoiceOf = (state: InvoiceState): Invoice | undefined => (state.kind === 'invoice' ? state : undefined);

const notIndeterminate = (invoice: Invoice) => ({
  refused: `it is ${invoiceStatus(invoice)}: only an indeterminate invoice is settled`,
});
