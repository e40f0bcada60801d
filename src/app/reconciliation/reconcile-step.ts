import type { Mode, StreamName } from '../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore, isWithin } from '../../domain/common/time.js';
import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { isInRound } from '../../domain/invoice/reconciliation.js';
import type {
  FirstAbsence,
  ReconciledInvoice,
  ReconciliationProgress,
  ReconciliationProgressStore,
} from '../../ports/reconciliation.js';
import {
  type Comparison,
  DOUBTFUL_DOCUMENT,
  isOwnFault,
  type ReconciliationDeps,
  type StepResult,
  type TriedComparison,
  tryToCompare,
} from './compare-invoice.js';

const PAGE = 200;

/** How many first absences may wait for their second look-up before the round pauses. */
const MAX_FIRST_ABSENCES = 50;

/** How often one invoice is tried before the next one: it must not hold up the others. */
const MAX_TRIES = 3;

/**
 * One step of the reconciliation of a mode: the second look-up of an absence that is due, else the next invoice of the round. The cursor is saved
 * after each step, so that a restart continues there. Only one process may run this at a time. Rejects with what a comparison threw, after the
 * cursor was saved: an invoice that always throws is left behind after `MAX_TRIES`. The cursor stays where the notice of a difference could not be given.
 */
export const reconcileStep = async (mode: Mode, deps: ReconciliationDeps): Promise<StepResult> => {
  const { clock, limits, settings, progressStore } = deps;
  if (settings.samplePercent === 0) return 'nothing to do';
  const now = clock.now();
  const cursor = await currentCursor(mode, deps, now);
  const due = cursor.firstAbsences.find(
    ({ askedAt }) => !isBefore(now, addSeconds(askedAt, absenceGapSeconds(limits))),
  );
  if (due !== undefined) return await compareAgain(mode, cursor, due, deps);
  if (cursor.endedAt !== undefined || cursor.firstAbsences.length >= MAX_FIRST_ABSENCES) return 'nothing to do';

  const page = await progressStore.page(mode, cursor.after, PAGE);
  let { after } = cursor;
  for (const invoice of page) {
    const { stream, isSampled } = invoice;
    if (isInReach(invoice, now, deps) && isInRound(isSampled, stream, cursor.round, settings.samplePercent)) {
      const comparison = await tryToCompare(stream, [], deps);
      if (comparison.result !== 'left_alone')
        return await saveAfterComparison(mode, { ...cursor, after }, stream, comparison, deps);
    }
    after = stream;
  }
  await progressStore.save(
    mode,
    page.length < PAGE ? { ...cursor, after, tries: 0, endedAt: now } : { ...cursor, after, tries: 0 },
  );
  return 'nothing to do';
};

const currentCursor = async (
  mode: Mode,
  { progressStore, settings }: ReconciliationDeps,
  now: Instant,
): Promise<ReconciliationProgress> => {
  const stored = await progressStore.read(mode);
  if (stored === undefined) return { round: 1, startedAt: now, after: null, firstAbsences: [], tries: 0 };
  const cursor = await withoutFutureAbsences(mode, stored, now, progressStore);
  const { endedAt, startedAt, round, firstAbsences } = cursor;
  if (endedAt === undefined || isWithin(now, startedAt, addSeconds(startedAt, settings.roundSeconds))) return cursor;
  return { round: round + 1, startedAt: now, after: null, firstAbsences, tries: 0 };
};

/** After the clock was set back it is unknown how long ago a first absence was asked for, so its pause begins again. */
const withoutFutureAbsences = async (
  mode: Mode,
  cursor: ReconciliationProgress,
  now: Instant,
  progressStore: ReconciliationProgressStore,
): Promise<ReconciliationProgress> => {
  const isFuture = ({ askedAt }: FirstAbsence): boolean => isBefore(now, askedAt);
  if (!cursor.firstAbsences.some(isFuture)) return cursor;
  const firstAbsences = cursor.firstAbsences.map((one) => (isFuture(one) ? { ...one, askedAt: now } : one));
  const begunAgain = { ...cursor, firstAbsences };
  await progressStore.save(mode, begunAgain);
  return begunAgain;
};

const isInReach = ({ createdAt }: ReconciledInvoice, now: Instant, { settings }: ReconciliationDeps): boolean =>
  createdAt !== undefined &&
  !isBefore(now, addSeconds(createdAt, settings.settledSeconds)) &&
  isBefore(now, addSeconds(createdAt, settings.reachSeconds));

/** Moves the cursor past this invoice, unless the comparison was inconclusive and may be tried again. */
const saveAfterComparison = async (
  mode: Mode,
  cursor: ReconciliationProgress,
  stream: StreamName,
  comparison: TriedComparison,
  deps: ReconciliationDeps,
): Promise<StepResult> => {
  deps.onComparison(mode, comparison.result);
  const isRetried = mayRetry(comparison);
  if (isRetried && cursor.tries + 1 < MAX_TRIES) {
    await deps.progressStore.save(mode, { ...cursor, tries: cursor.tries + 1 });
    return resultOrThrow(comparison, 'inconclusive');
  }
  const absence = { stream, askedAt: deps.clock.now(), questions: comparison.absentOnce };
  const firstAbsences = comparison.absentOnce.length === 0 ? cursor.firstAbsences : [...cursor.firstAbsences, absence];
  await deps.progressStore.save(mode, { ...cursor, firstAbsences, after: stream, tries: 0 });
  return resultOrThrow(comparison, isRetried ? 'inconclusive' : 'asked');
};

/** After an inconclusive answer the first absence is kept, and waits behind the others. */
const compareAgain = async (
  mode: Mode,
  cursor: ReconciliationProgress,
  due: FirstAbsence,
  deps: ReconciliationDeps,
): Promise<StepResult> => {
  const comparison = await tryToCompare(due.stream, due.questions, deps);
  deps.onComparison(mode, comparison.result);
  const others = cursor.firstAbsences.filter((one) => one !== due);
  const isRetried = mayRetry(comparison);
  const absence = { stream: due.stream, askedAt: deps.clock.now(), questions: comparison.absentOnce };
  const still = isRetried ? [{ ...due, askedAt: deps.clock.now() }] : comparison.absentOnce.length > 0 ? [absence] : [];
  await deps.progressStore.save(mode, { ...cursor, firstAbsences: [...others, ...still] });
  return resultOrThrow(comparison, isRetried ? 'inconclusive' : 'asked');
};

const resultOrThrow = ({ thrown }: TriedComparison, result: StepResult): StepResult => {
  if (thrown !== undefined) throw thrown.error;
  return result;
};

/**
 * Whether another try may help. It does not when the company's certificate is the cause, nor when the found document is doubtful. An ADN that does
 * not answer must not hold up the invoices that Sefin is asked about.
 */
const mayRetry = (comparison: Comparison): boolean => {
  const { result, reason = '' } = comparison;
  return (
    result === 'inconclusive' && reason !== DOUBTFUL_DOCUMENT && !reason.startsWith('adn_') && !isOwnFault(comparison)
  );
};
