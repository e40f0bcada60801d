import type { Mode, StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { decideCanceledElsewhere } from '../../domain/invoice/decide-cancellation.js';
import type { Decision } from '../../domain/invoice/decision.js';
import type { InvoiceEvent, OtherSale, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { isOfLostAttempt, otherSalesSettled } from '../../domain/invoice/note-met.js';
import {
  type Difference,
  type DifferenceKind,
  differenceOf,
  isReconcilable,
  type LookupFinding,
  type ReconciliationLookup,
  reconciliationLookups,
} from '../../domain/invoice/reconciliation.js';
import { isDoubtful, type Owner } from '../../domain/invoice/sent-document.js';
import type { Invoice, InvoiceState } from '../../domain/invoice/state.js';
import { isCanceled } from '../../domain/invoice/status.js';
import { isCertificateReason, type RegisteredEvent } from '../../ports/authorizer.js';
import type { ReconciliationProgressStore } from '../../ports/reconciliation.js';
import { workerContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import { decideAndAppend } from '../issuing/decide-and-append.js';
import { type IssuerDeps, noticesOf, type ReceivedDocument, sendNotice } from '../issuing/deps.js';
import { compareNote, compareRequest, elsewhereFrom, sentRequests } from '../issuing/found-documents.js';
import { invoiceFold, type LoadedInvoice, loadInvoice, loadSealedInvoice } from '../read/read-invoice.js';

export type ReconciliationSettings = {
  /** Percentage of the issued invoices that a round compares; 0 switches reconciliation off. */
  samplePercent: number;
  /** From the beginning of one round to that of the next. */
  roundSeconds: number;
  /** An invoice is compared only when its last event is at least this old. */
  settledSeconds: number;
  /** Invoices older than this are no longer compared. */
  reachSeconds: number;
};

/** The result of comparing one invoice. */
export type ComparisonResult =
  | 'agrees'
  | 'differs'
  | 'absent_once'
  /** The note was found canceled or replaced by another party, which is recorded. */
  | 'canceled_elsewhere'
  | 'inconclusive'
  | 'left_alone';

export type ReconciliationDeps = Pick<IssuerDeps, 'store' | 'authorizer' | 'clock' | 'limits' | 'actor' | 'notify'> & {
  progressStore: ReconciliationProgressStore;
  settings: ReconciliationSettings;
  onComparison(mode: Mode, result: ComparisonResult): void;
  /**
   * Called for each difference of a comparison, recorded now or before. When it rejects, the step rejects and compares the same invoice again, so that
   * no notice of a difference is lost.
   */
  onDifference(stream: StreamName, difference: FoundDifference): Promise<void>;
};

/** `isNew`: this comparison recorded it. An older one was recorded at `foundAt` and is still there. */
export type FoundDifference = { kind: DifferenceKind; foundAt: Instant; isNew: boolean };

/** The notice of a difference could not be given. */
export class DifferenceNotTold extends Error {
  override name = 'DifferenceNotTold';
}

/**
 * Of one step. `asked`: the authorizer or the ADN answered, or the certificate of one company prevented that. `inconclusive`: no answer came, or the
 * answer proves nothing, so that the next step of the mode comes after a longer pause.
 */
export type StepResult = 'asked' | 'inconclusive' | 'nothing to do';

export type Comparison = {
  result: ComparisonResult;
  /** Whether the authorizer showed an event that cancels or replaces the note. */
  isEventFound: boolean;
  /** Why the answer was inconclusive. `certificateRefused`: as in `LookupResult`. */
  reason?: string;
  certificateRefused?: true;
  /** Keys of the look-ups that were absent for the first time. */
  absentOnce: readonly string[];
};

/** The `reason` when a found document is doubtful (ADR 30). Only the next round compares the invoice again. */
export const DOUBTFUL_DOCUMENT = 'document_doubtful';

const leftAlone: Comparison = { result: 'left_alone', isEventFound: false, absentOnce: [] };

const NOTHING_PROVEN = { result: 'inconclusive', isEventFound: false, absentOnce: [] } as const;

/**
 * Whether the comparison failed by the company's certificate, which is missing, expired, or refused. The invoices of other companies do not wait for
 * that.
 */
export const isOwnFault = ({ reason = '', certificateRefused }: Comparison): boolean =>
  certificateRefused === true || isCertificateReason(reason);

/**
 * Asks the authorizer what it holds of one invoice and appends what differs, or that another party canceled the note. `absentBefore`: keys of the
 * look-ups that were absent before, long enough ago. A first absence proves nothing yet.
 */
const compareInvoice = async (
  stream: StreamName,
  absentBefore: readonly string[],
  deps: ReconciliationDeps,
): Promise<Comparison> => {
  const loaded = await loadInvoice(stream, deps.store);
  const { state } = loaded;
  const { clock, limits } = deps;
  if (!isReconcilable(state, limits.testRetentionSeconds, clock.now()) || !isQuiet(loaded, deps)) return leftAlone;
  const questions = reconciliationLookups(state);
  const attemptLost = isOfLostAttempt(loaded.events);
  const settled = otherSalesSettled(loaded.events);
  if (questions.length === 0) return leftAlone;

  const held: LookupFinding[] = [];
  const absentOnce: string[] = [];
  let doubt: string | undefined;
  let elsewhere: RegisteredEvent | undefined;
  for (const question of questions) {
    const answer = await ask(stream, { state, events: loaded.events }, question, deps);
    if ('doubt' in answer) {
      doubt = answer.doubt;
      continue;
    }
    if ('elsewhere' in answer) {
      elsewhere = answer.elsewhere;
      continue;
    }
    if ('reason' in answer) {
      // Differences that earlier answers showed hold, although this answer is inconclusive.
      await appendDifferences(stream, held, attemptLost, deps);
      const { reason, certificateRefused } = answer;
      return present({ ...NOTHING_PROVEN, reason, certificateRefused });
    }
    if (answer.held === 'absent' && needsProof(state, question) && !absentBefore.includes(keyOf(question))) {
      absentOnce.push(keyOf(question));
    } else if (!isSettled(answer, state, settled)) {
      held.push(answer);
    }
  }
  const found = await appendDifferences(stream, held, attemptLost, deps);
  const isCanceledElsewhere =
    elsewhere !== undefined && (await recordCanceledElsewhere(stream, state, elsewhere, deps));
  const isEventFound = isCanceledElsewhere || held.some((one) => one.held === 'event');
  // The other look-ups were made all the same, so that a doubtful document does not hide other differences.
  if (doubt !== undefined) return { result: 'inconclusive', reason: doubt, isEventFound, absentOnce: [] };
  if (absentOnce.length > 0) return { result: 'absent_once', isEventFound, absentOnce };
  if (isCanceledElsewhere) return { result: 'canceled_elsewhere', isEventFound, absentOnce };
  if (elsewhere !== undefined && !found) return leftAlone;
  return { result: found ? 'differs' : 'agrees', isEventFound, absentOnce };
};

export type TriedComparison = Comparison & { thrown?: { error: unknown } };

/** As `compareInvoice`; what that throws is an inconclusive comparison. Rejects only with `DifferenceNotTold`, and then the comparison is due again. */
export const tryToCompare = async (
  stream: StreamName,
  absentBefore: readonly string[],
  deps: ReconciliationDeps,
): Promise<TriedComparison> => {
  try {
    return await compareInvoice(stream, absentBefore, deps);
  } catch (error) {
    if (error instanceof DifferenceNotTold) throw error;
    return { ...NOTHING_PROVEN, thrown: { error } };
  }
};

/** A foreign note that support has settled as another sale's is no difference any more. One that holds what the invoice sent stays one. */
const isSettled = (finding: LookupFinding, state: Invoice, settled: readonly OtherSale[]): boolean => {
  if (finding.about !== 'note' || finding.held === 'absent') return false;
  const { dpsId, held } = finding;
  const isNamed = settled.some((one) => one.dpsId === dpsId && one.accessKey === held.accessKey);
  return isNamed && compareNote(state, { dpsId, ...held }) === 'other';
};

/**
 * Whether the last event is so old that no work is under way. What reconciliation itself recorded does not count, because it would put off the second
 * look-up of what else is missing.
 */
const isQuiet = ({ events }: LoadedInvoice, { clock, settings }: ReconciliationDeps): boolean => {
  const last = events.findLast(
    ({ type }) => type !== 'ReconciliationDifferenceFound' && type !== 'NoteCanceledElsewhere',
  );
  const recordedAt = last?.metadata.recordedAt;
  return recordedAt !== undefined && !isBefore(clock.now(), addSeconds(recordedAt, settings.settledSeconds));
};

/** Where we hold no note or cancellation either, an absence is expected and needs no second look-up. */
const needsProof = (invoice: Invoice, { about }: ReconciliationLookup): boolean =>
  invoice.outcome.status === 'issued' && (about === 'note' || isCanceled(invoice));

const keyOf = (question: ReconciliationLookup): string =>
  question.about === 'note' ? `note/${question.dpsId}` : 'cancellation';

type Asked = Pick<LoadedInvoice, 'events'> & { state: Invoice };

type Answer = LookupFinding | { elsewhere: RegisteredEvent } | Unanswered | { doubt: string };

type Unanswered = { reason: string; certificateRefused?: true };

const ask = async (
  stream: StreamName,
  { state, events }: Asked,
  question: ReconciliationLookup,
  deps: ReconciliationDeps,
): Promise<Answer> => {
  const { authorizer } = deps;
  if (question.about === 'cancellation') {
    const answer = await authorizer.findCancellation(state.facts, question.accessKey);
    if (answer.kind === 'inconclusive') return answer;
    if (answer.kind === 'absent') return { ...question, held: 'absent' };
    const owner = compareRequest(answer.found, sentRequests(events));
    if (!isReliable(stream, answer.found, owner, deps)) return DOUBTFUL;
    const isNews = owner === 'other' && !isCanceled(state);
    return isNews ? { elsewhere: answer.found } : { ...question, held: 'event' };
  }
  const answer = await authorizer.findByDps(state.facts, question.dpsId);
  if (answer.kind === 'inconclusive') return answer;
  if (answer.kind === 'absent') return { ...question, held: 'absent' };
  const note = answer.found;
  return isReliable(stream, note, compareNote(state, note), deps) ? { ...question, held: note } : DOUBTFUL;
};

const DOUBTFUL = { doubt: DOUBTFUL_DOCUMENT };

/** Sends the notices for a found document. False for a doubtful document of unknown owner, which shows neither agreement nor difference. */
const isReliable = (stream: StreamName, found: ReceivedDocument, owner: Owner, deps: ReconciliationDeps): boolean => {
  for (const notice of noticesOf(stream, found, owner)) sendNotice(deps, notice);
  return owner !== 'unknown' || !isDoubtful(found);
};

/**
 * Appends what differs from the newest state, each difference once for the invoice, and changes no outcome. True when something differs, appended
 * now or before. Throws `StreamContended` and `DifferenceNotTold`.
 */
const appendDifferences = async (
  stream: StreamName,
  held: readonly LookupFinding[],
  attemptLost: boolean,
  deps: ReconciliationDeps,
): Promise<boolean> => {
  const outcome = await transact(
    {
      stream,
      read: 'opened',
      fold: invoiceFold,
      decide: (state, { events, now }): Decision => {
        if (!isReconcilable(state, deps.limits.testRetentionSeconds, now)) return { refused: 'not reconcilable' };
        const fresh = differencesOf(state, held, attemptLost).filter(
          (one) => !events.some((event) => isRecorded(event, one)),
        );
        return { events: fresh.map((one) => ({ type: 'ReconciliationDifferenceFound', data: { ...one, at: now } })) };
      },
      context: workerContext(stream, 'record_reconciliation', deps),
    },
    deps,
  );
  if (outcome.kind === 'refused') return false;
  const differences = differencesOf(outcome.state, held, attemptLost);
  const appended = outcome.kind === 'appended' ? outcome.events : [];
  if (differences.length > 0) await tell(stream, differences, appended, deps);
  return differences.length > 0;
};

const tell = async (
  stream: StreamName,
  differences: readonly Difference[],
  appended: readonly InvoiceEvent[],
  deps: ReconciliationDeps,
): Promise<void> => {
  const { events } = await loadSealedInvoice(stream, deps.store);
  for (const one of differences) {
    const foundAt = events.find((event) => isRecorded(event, one))?.metadata.recordedAt;
    if (foundAt === undefined) continue;
    const isNew = appended.some((event) => isRecorded(event, one));
    await deps.onDifference(stream, { kind: one.kind, foundAt, isNew }).catch((cause: unknown) => {
      throw new DifferenceNotTold('the notice of a difference could not be given', { cause });
    });
  }
};

/**
 * Records that an event of another party canceled the note, unless the newest state says so already. False when the newest state no longer allows
 * that, as when the event may be of a cancellation that was sent meanwhile: its worker judges the event. Throws `StreamContended`.
 */
const recordCanceledElsewhere = async (
  stream: StreamName,
  judged: Invoice,
  found: RegisteredEvent,
  deps: ReconciliationDeps,
): Promise<boolean> => {
  const { outcome } = judged;
  if (outcome.status !== 'issued' || outcome.accessKey === undefined) return false;
  const data = elsewhereFrom(found, outcome.accessKey, deps.clock.now());
  return await decideAndAppend(stream, 'record_reconciliation', deps, (state) =>
    decideCanceledElsewhere(state, data, judged),
  );
};

const differencesOf = (
  state: InvoiceState,
  held: readonly LookupFinding[],
  attemptLost: boolean,
): readonly Difference[] =>
  state.kind === 'invoice' ? held.flatMap((one) => differenceOf(state, one, attemptLost) ?? []) : [];

const isRecorded = (event: ReadInvoiceEvent | InvoiceEvent, { kind, accessKey }: Difference): boolean =>
  event.type === 'ReconciliationDifferenceFound' && event.data.kind === kind && event.data.accessKey === accessKey;
