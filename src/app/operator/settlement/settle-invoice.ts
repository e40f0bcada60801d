import type { AccessKey } from '../../../domain/common/access-key.js';
import { parseInvoiceStream, publicInvoiceId, type StreamName } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import type { Instant } from '../../../domain/common/time.js';
import type { Decision } from '../../../domain/invoice/decision.js';
import type { ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import type { Limits } from '../../../domain/invoice/limits.js';
import { contentMet, noteMet, othersMet } from '../../../domain/invoice/note-met.js';
import type { Owner } from '../../../domain/invoice/sent-document.js';
import {
  absencesToProve,
  cannotBeCanceled,
  closeCancellation,
  isCancellationFailed,
  settleAsCanceled,
  settleAsCanceledElsewhere,
  settleAsFailed,
  settleAsIssued,
  whyDoubtful,
} from '../../../domain/invoice/settle.js';
import type { Invoice, InvoiceState } from '../../../domain/invoice/state.js';
import { invoiceStatus } from '../../../domain/invoice/status.js';
import type { AuthorizedNote, Authorizer, LookupResult } from '../../../ports/authorizer.js';
import type { Clock } from '../../../ports/clock.js';
import type { LookupProgressStore } from '../../../ports/work-progress.js';
import { workerContext } from '../../event-store/command-context.js';
import type { EventStore } from '../../event-store/event-store.js';
import { contendedAsRefusal, transact } from '../../event-store/transact.js';
import { type IssuerNotice, noticesOf, type ReceivedDocument } from '../../issuing/deps.js';
import {
  cancellationFields,
  compareNote,
  compareRequest,
  elsewhereFrom,
  isNoteMet,
  noteFields,
  sentRequests,
} from '../../issuing/found-documents.js';
import { invoiceFold, loadInvoice } from '../../read/read-invoice.js';
import { reserve } from '../import/reservations.js';
import { inconclusive, proveNoNote } from './no-note-proofs.js';

/** `valid` is of a failed cancellation: the note stays. */
export type SettleAs = (typeof SETTLE_ENDS)[number];

export const SETTLE_ENDS = ['issued', 'failed', 'canceled', 'valid'] as const;

export type SettleCommand = {
  stream: StreamName;
  as: SettleAs;
  /** The operator's evidence; kept in the event, sealed. */
  evidence: string;
  /** `issued` only: the access key of the note, when it cannot be found by DPS id. */
  accessKey?: AccessKey;
  /** `failed` only: access keys of notes under the numbers of the invoice that the operator has compared, and says to be of other sales. */
  otherSales?: readonly string[];
};

export type SettleDeps = {
  store: EventStore;
  authorizer: Authorizer;
  lookups: LookupProgressStore;
  clock: Clock;
  limits: Limits;
  actor: `support:${string}`;
  /** The streams of the invoices that hold this access key. */
  holdersOf(accessKey: AccessKey): Promise<readonly StreamName[]>;
  /** Reports a doubtful document and stores the notice for `nfse doctor`; resolves once the notice is stored. */
  notify(notice: IssuerNotice): Promise<void>;
};

/** `reason` and `detail` are one line. `ask_again`: the first absence was recorded; the same command after `at` makes the second look-up. */
export type SettleResult =
  | { kind: 'settled'; detail: string }
  | { kind: 'already_so' }
  | { kind: 'refused'; reason: string }
  | { kind: 'ask_again'; at: Instant; detail: string };

const refusedResult = (reason: string): SettleResult => ({ kind: 'refused', reason });

/**
 * Reports a document whose signature cannot be verified: ours is recorded all the same, but never without a notice. A failing notice changes
 * nothing.
 */
const notifyDoubts = async (
  stream: StreamName,
  found: ReceivedDocument,
  owner: Owner,
  { notify }: Pick<SettleDeps, 'notify'>,
): Promise<void> => {
  for (const doubt of noticesOf(stream, found, owner)) await notify(doubt).catch(() => undefined);
};

/** Decides on the newest state and appends with the operator as actor. */
const appendSettlement = async (
  stream: StreamName,
  decide: (state: InvoiceState) => Decision,
  detail: string,
  deps: SettleDeps,
): Promise<SettleResult> => {
  const context = workerContext(stream, 'settle_invoice', deps);
  const command = { stream, read: 'opened' as const, fold: invoiceFold, decide, context };
  const outcome = await transact(command, deps).catch(contendedAsRefusal);
  if (outcome.kind === 'refused') return refusedResult(outcome.refused);
  return outcome.kind === 'appended' ? { kind: 'settled', detail } : { kind: 'already_so' };
};

/**
 * Settles what the protocol left open: an indeterminate invoice, a cancellation that ended as failed, or a note that was canceled elsewhere. The
 * authorizer is asked in every case (docs/operations/support.md#settle-an-invoice; invariant 5 of docs/architecture.md#invariants). Throws what the
 * log throws.
 */
export const settleInvoice = (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const settle = { issued: settleIssued, failed: settleFailed, canceled: settleCanceled, valid: settleValid }[
    command.as
  ];
  return settle(command, deps);
};

const NO_INVOICE = 'there is no such invoice (any more)';

const NO_NOTE =
  'the authorizer has no such document; if it has none 24 h after the last attempt either, settle the invoice with --as failed';

const NO_NOTE_ANY_MORE =
  'the authorizer has no such document any more. The invoice met a note with equal content, which may be its own, so it stays indeterminate: --as failed is refused too';

const settleIssued = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { state, events } = await loadInvoice(command.stream, deps.store);
  if (state.kind !== 'invoice') return refusedResult(NO_INVOICE);
  if (state.outcome.status !== 'indeterminate' && state.outcome.status !== 'issued')
    return refusedResult(`it is ${invoiceStatus(state)}: only an indeterminate invoice is settled as issued`);
  const found = await lookUp(state, events, command, deps);
  if (found.kind === 'absent') return refusedResult(contentMet(state) === 'equal' ? NO_NOTE_ANY_MORE : NO_NOTE);
  if (found.kind === 'inconclusive') return refusedResult(inconclusive(found.reason));
  const note = found.found;
  const owner = compareNote(state, note);
  await notifyDoubts(command.stream, note, owner, deps);
  const isMet = owner === 'other' && isNoteMet(note, events);
  if (isMet && state.outcome.status === 'indeterminate') {
    const taken = await takeNote(state, note, deps);
    if (taken !== undefined) return refusedResult(taken);
  }
  const attemptLost = isMet && noteMet(events, note.accessKey) === undefined ? (true as const) : undefined;
  const fields = present({ ...noteFields(note), attemptLost });
  const data = { ...fields, evidence: command.evidence, at: deps.clock.now() };
  const decide = (current: InvoiceState): Decision => settleAsIssued(current, note, isMet, data);
  const how = isMet ? ', the note with its content under its number' : '';
  return await appendSettlement(command.stream, decide, `issued, access key ${note.accessKey}${how}`, deps);
};

/**
 * Reserves a note of whose DPS the log has no digest, as an import does, so that no import gives the note to another invoice meanwhile. Why another
 * invoice has the note; undefined when this invoice may have it.
 */
const takeNote = async (
  { facts }: Invoice,
  { accessKey }: AuthorizedNote,
  { holdersOf, ...deps }: SettleDeps,
): Promise<string | undefined> => {
  const { mode, companyId, invoiceId } = facts;
  const others = (await holdersOf(accessKey)).flatMap((stream) => {
    const holder = parseInvoiceStream(stream);
    const isOther = holder?.mode === mode && holder.companyId === companyId && holder.invoiceId !== invoiceId;
    return isOther ? [publicInvoiceId(holder.invoiceId)] : [];
  });
  if (others.length > 0) return `the document found is the note of ${others.join(' and ')}`;
  const liveKey = mode === 'live' ? accessKey : undefined;
  const refused = await reserve({ data: facts, ...present({ liveKey }) }, deps.clock.now(), deps);
  return refused && `the document found is kept for another invoice: ${refused.problem}`;
};

/**
 * By the key that the operator gives, else by the DPS ids of the attempts, newest first. A note that the invoice met with other content hides no absence
 * under another DPS id.
 */
const lookUp = async (
  { facts, attempts }: Invoice,
  events: readonly ReadInvoiceEvent[],
  { accessKey }: SettleCommand,
  { authorizer }: SettleDeps,
): Promise<LookupResult<AuthorizedNote>> => {
  if (accessKey !== undefined) return await authorizer.findByAccessKey(facts, accessKey);
  const met = new Set(othersMet(events).map((one) => one.accessKey));
  const isOther = (note: AuthorizedNote): boolean => met.has(note.accessKey);
  let other: LookupResult<AuthorizedNote> | undefined;
  let isAbsent = false;
  for (const dpsId of new Set(attempts.map((attempt) => attempt.dpsId).reverse())) {
    const answer = await authorizer.findByDps(facts, dpsId);
    if (answer.kind === 'found' && isOther(answer.found)) other = answer;
    else if (answer.kind !== 'absent') return answer;
    else isAbsent = true;
  }
  return isAbsent ? { kind: 'absent' } : (other ?? { kind: 'absent' });
};

/** Only an import brings such an invoice. Its line holds its last state (docs/operations/moving.md#old-notes-afterwards). */
const WITHOUT_KEY =
  'it was imported without access_key, and only an event at the authorizer, which is looked up by that key, makes an invoice canceled: it stays issued';

/**
 * Settles as canceled only with the event that the authorizer holds, ours or another's, with or without a failed request of ours; its exact
 * bytes are recorded. An event that is not known to be our request needs a valid signature of the authorizer.
 */
const settleCanceled = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { state, events } = await loadInvoice(command.stream, deps.store);
  const against = cannotBeCanceled(state);
  if (against !== undefined) return 'refused' in against ? refusedResult(against.refused) : { kind: 'already_so' };
  const accessKey = state.kind === 'invoice' && state.outcome.status === 'issued' ? state.outcome.accessKey : undefined;
  if (state.kind !== 'invoice' || accessKey === undefined) return refusedResult(WITHOUT_KEY);
  const found = await deps.authorizer.findCancellation(state.facts, accessKey);
  if (found.kind === 'absent') return refusedResult('the authorizer has no cancellation event for this note');
  if (found.kind === 'inconclusive') return refusedResult(inconclusive(found.reason));
  const owner = compareRequest(found.found, sentRequests(events));
  await notifyDoubts(command.stream, found.found, owner, deps);
  const doubt = owner === 'unknown' ? whyDoubtful(found.found) : undefined;
  if (doubt !== undefined) return refusedResult(doubt);
  const at = deps.clock.now();
  const { evidence, stream } = command;
  const { registeredAt, eventType } = found.found;
  if (owner === 'other') {
    const elsewhere = elsewhereFrom(found.found, accessKey, at, evidence);
    const decide = (current: InvoiceState): Decision => settleAsCanceledElsewhere(current, elsewhere, state);
    return await appendSettlement(
      stream,
      decide,
      `canceled ${registeredAt} by event ${eventType} of another party`,
      deps,
    );
  }
  const data = { evidence, ...cancellationFields(found.found), at };
  const decide = (current: InvoiceState): Decision => settleAsCanceled(current, data);
  return await appendSettlement(stream, decide, `canceled ${registeredAt}`, deps);
};

/**
 * Closes a failed cancellation only while the authorizer shows no event for the note. A late event that comes afterwards is found by the
 * reconciliation, and `canceled` still settles it.
 */
const settleValid = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { stream, evidence } = command;
  const { state } = await loadInvoice(stream, deps.store);
  if (state.kind !== 'invoice') return refusedResult(NO_INVOICE);
  if (!isCancellationFailed(state)) return refusedResult('it has no failed cancellation');
  if (state.cancellation?.closedAt !== undefined) return { kind: 'already_so' };
  const accessKey = state.outcome.status === 'issued' ? state.outcome.accessKey : undefined;
  if (accessKey === undefined) return refusedResult('it has no access key to look for');
  const found = await deps.authorizer.findCancellation(state.facts, accessKey);
  if (found.kind === 'inconclusive') return refusedResult(inconclusive(found.reason));
  if (found.kind === 'found')
    return refusedResult('the authorizer has an event that cancels the note: try --as canceled');
  const decide = (current: InvoiceState): Decision => closeCancellation(current, { evidence, at: deps.clock.now() });
  return await appendSettlement(stream, decide, 'valid, its failed cancellation waits for nobody any more', deps);
};

/**
 * Settles as failed only when the invoice certainly has no note under any DPS id: two absent look-ups, as far apart as the protocol demands, both at least
 * 24 h after the last attempt; or the note of another sale.
 */
const settleFailed = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { stream, evidence, otherSales: named = [] } = command;
  const { state: invoice, events } = await loadInvoice(stream, deps.store);
  if (invoice.kind === 'invoice' && invoice.outcome.status === 'failed') return { kind: 'already_so' };
  const wanted = absencesToProve(invoice, deps.clock.now());
  if ('refused' in wanted) return refusedResult(wanted.refused);
  if (invoice.kind !== 'invoice') return refusedResult(NO_INVOICE);
  const proofs = await proveNoNote({ stream, invoice, events, named }, wanted, deps);
  if ('refused' in proofs) return refusedResult(proofs.refused);
  if ('again' in proofs)
    return {
      kind: 'ask_again',
      at: proofs.again,
      detail: 'the authorizer has no such document; it is asked once more',
    };
  const decide = (current: InvoiceState): Decision =>
    settleAsFailed(current, proofs, { evidence, now: deps.clock.now() }, deps.limits);
  const result = await appendSettlement(stream, decide, failedText(proofs), deps);
  await deps.lookups.forget(stream);
  return result;
};

const failedText = ({
  absences,
  otherSales,
}: {
  absences: readonly unknown[];
  otherSales: readonly unknown[];
}): string => {
  if (otherSales.length === 0) return 'failed, no document exists';
  return absences.length === 0
    ? 'failed, the notes under its numbers are of other sales'
    : 'failed, under each of its numbers is no document, or the note of another sale';
};
