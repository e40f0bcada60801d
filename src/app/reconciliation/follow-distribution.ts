import { type AccessKey, providerOfKey } from '../../domain/common/access-key.js';
import { type Mode, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { addSeconds, DAY_SECONDS, earlierOf, type Instant, isBefore } from '../../domain/common/time.js';
import { isCanceledOrReplaced } from '../../domain/invoice/status.js';
import { type Caller, isCertificateReason } from '../../ports/authorizer.js';
import type {
  Distribution,
  DistributionAnswer,
  DistributionProgress,
  DistributionProgressStore,
  UnmatchedNote,
  WaitingInvoice,
} from '../../ports/distribution.js';
import type { ReadModel } from '../../ports/read-model.js';
import { loadSealedInvoice } from '../read/read-invoice.js';
import { isOwnFault, type ReconciliationDeps, type StepResult, tryToCompare } from './compare-invoice.js';

export type DistributionDeps = ReconciliationDeps & {
  distribution: Distribution;
  distributionProgress: DistributionProgressStore;
  readModel: Pick<ReadModel, 'byAccessKeys'>;
  /** Seconds after which a queue that was read to its end is asked again; 0 asks none. */
  everySeconds: number;
  /** Called for each answer of the ADN. */
  onDistribution(mode: Mode, answer: DistributionAnswer): void;
};

/** Comparisons of one invoice that show no event. After these only the rounds of the reconciliation compare the invoice. */
const MAX_TRIES = 5;

/**
 * One step along the queues of the ADN (ADR 50): compares an invoice that an event may have canceled, else asks the queue that is due. What an event
 * says is not taken from the ADN: the comparison asks the authorizer. Only one process may run this at a time. Rejects as the stores do.
 */
export const distributionStep = async (mode: Mode, deps: DistributionDeps): Promise<StepResult> => {
  if (deps.everySeconds === 0) return 'nothing to do';
  const now = deps.clock.now();
  const furthest = addSeconds(now, Math.max(deps.everySeconds, deps.settings.settledSeconds));
  const due = await deps.distributionProgress.due(mode, now, furthest);
  if (due === undefined) return 'nothing to do';
  const { companyId } = due;
  const progress = due.progress === undefined ? undefined : withoutFarTimes(due.progress, now, furthest);
  const invoice = progress?.waiting.find(({ dueAt }) => !isBefore(now, dueAt));
  return progress === undefined || invoice === undefined
    ? await readOn({ mode, companyId }, progress, deps)
    : await compareWaiting({ mode, companyId }, progress, invoice, deps);
};

/** No wait is longer than to `furthest`. A later time was stored before the clock was set back, and its wait is over. */
const withoutFarTimes = (progress: DistributionProgress, now: Instant, furthest: Instant): DistributionProgress => {
  const nearOf = (dueAt: Instant): Instant => (isBefore(furthest, dueAt) ? now : dueAt);
  const waiting = progress.waiting.map((one) => ({ ...one, dueAt: nearOf(one.dueAt) }));
  return { ...progress, waiting, queueDueAt: nearOf(progress.queueDueAt) };
};

const readOn = async (
  caller: Caller,
  before: DistributionProgress | undefined,
  deps: DistributionDeps,
): Promise<StepResult> => {
  const { nsu = 0, waiting = [], unmatchedNotes = [], failures = 0, reason } = before ?? {};
  const answer = await deps.distribution.after(caller, nsu);
  deps.onDistribution(caller.mode, answer);
  const askedAt = deps.clock.now();
  const later = addSeconds(askedAt, deps.everySeconds);
  const kept = before?.endSeenAt === undefined ? {} : { endSeenAt: before.endSeenAt };
  const save = (progress: Partial<QueueProgress>): Promise<void> =>
    saveProgress(caller, { nsu, waiting, unmatchedNotes, askedAt, queueDueAt: later, ...kept, ...progress }, deps);
  const askAgainLater = (said: string | undefined, pause = pauseAfter(failures, deps.everySeconds)): Promise<void> =>
    save({ ...present({ reason: said }), failures: failures + 1, queueDueAt: addSeconds(askedAt, pause) });
  const touchedBy = async (keys: readonly AccessKey[]): Promise<Pick<QueueProgress, 'waiting' | 'unmatchedNotes'>> => {
    const notes = [...notesOf(keys, askedAt), ...unmatchedNotes];
    const { streams, unmatched } = await touchedInvoices(caller, notes, deps).catch(async (error: unknown) => {
      // The same documents are read again. Without a later time this company would be the next one too, and hold up all others.
      await askAgainLater(reason);
      throw error;
    });
    const others = streams.filter((stream) => !waiting.some((one) => one.stream === stream));
    const added = others.map((stream) => ({ stream, tries: 0, dueAt: askedAt }));
    return { waiting: [...waiting, ...added], unmatchedNotes: stillToFind(unmatched, askedAt) };
  };
  switch (answer.kind) {
    case 'documents':
      // The queue may hold more, and is asked again at once.
      await save({ nsu: answer.last, ...(await touchedBy(answer.canceled)), queueDueAt: askedAt });
      return 'asked';
    case 'end':
      await save({ endSeenAt: askedAt, ...(await touchedBy([])) });
      return 'asked';
    case 'inconclusive': {
      // The other companies' queues do not wait because one company lacks a valid certificate.
      const isOfCertificate = isCertificateReason(answer.reason);
      await askAgainLater(answer.reason, isOfCertificate ? deps.everySeconds : undefined);
      return isOfCertificate ? 'asked' : 'inconclusive';
    }
  }
};

/** Seconds after the first answer that proves nothing; each further one doubles them. */
const FIRST_PAUSE_S = 10;

/** The ADN answers 429 in the middle of a queue too. With the pause of its end, a long queue would never be read to its end. */
const pauseAfter = (failures: number, everySeconds: number): number =>
  Math.min(everySeconds, FIRST_PAUSE_S * 2 ** Math.min(failures, 10));

const notesOf = (keys: readonly AccessKey[], seenAt: Instant): readonly UnmatchedNote[] =>
  keys.map((accessKey) => ({ accessKey, seenAt }));

/** Longer than a halt of the projector, and than support takes for an indeterminate invoice. */
const UNMATCHED_SECONDS = 30 * DAY_SECONDS;

/** Other software of the company may cancel notes that no invoice here has. */
const MAX_UNMATCHED = 500;

/** Each note once, those seen last first. */
const stillToFind = (notes: readonly UnmatchedNote[], now: Instant): readonly UnmatchedNote[] => {
  const young = notes.filter(({ seenAt }) => isBefore(now, addSeconds(seenAt, UNMATCHED_SECONDS)));
  return [...new Map(young.toReversed().map((note) => [note.accessKey, note])).values()]
    .toReversed()
    .slice(0, MAX_UNMATCHED);
};

type QueueProgress = Omit<DistributionProgress, 'dueAt'>;

const saveProgress = (
  caller: Caller,
  progress: QueueProgress,
  { distributionProgress }: DistributionDeps,
): Promise<void> => {
  const dueAt = progress.waiting.map((one) => one.dueAt).reduce(earlierOf, progress.queueDueAt);
  return distributionProgress.save(caller, { ...progress, dueAt });
};

/**
 * `streams`: the company's own invoices that have these notes, except those that are canceled or replaced already. `unmatched`: notes of the company
 * that no invoice is known to have yet, because the outcome is open, the projector is behind, or the note is still to be imported. A queue also holds
 * notes that others issued.
 */
const touchedInvoices = async (
  { mode, companyId }: Caller,
  notes: readonly UnmatchedNote[],
  { readModel, store }: DistributionDeps,
): Promise<{ streams: readonly StreamName[]; unmatched: readonly UnmatchedNote[] }> => {
  const own = notes.filter(({ accessKey }) => providerOfKey(accessKey) === companyId);
  if (own.length === 0) return { streams: [], unmatched: [] };
  const streams: StreamName[] = [];
  const known = new Set<string>();
  for (const { stream, accessKey } of await readModel.byAccessKeys(own.map((note) => note.accessKey))) {
    const address = parseInvoiceStream(stream);
    if (address?.mode !== mode || address.companyId !== companyId) continue;
    known.add(accessKey);
    if (await mayBeCanceled(stream, store)) streams.push(stream);
  }
  return { streams, unmatched: own.filter(({ accessKey }) => !known.has(accessKey)) };
};

/** True also where the stream cannot be read: its comparison tries again later and reports the fault, and holds up no queue. */
const mayBeCanceled = async (stream: StreamName, store: DistributionDeps['store']): Promise<boolean> => {
  try {
    const { state } = await loadSealedInvoice(stream, store);
    return state.kind === 'invoice' && !isCanceledOrReplaced(state);
  } catch {
    return true;
  }
};

/**
 * An invoice with work under way is compared later, because the event may be the service's own. An invoice whose event the authorizer does not show
 * yet is compared later too, because a lagging replica may have answered. A comparison that throws counts as a try. When the company's certificate is
 * the cause, the other waiting invoices of this company are put off too, so that other companies come first.
 */
const compareWaiting = async (
  caller: Caller,
  progress: DistributionProgress,
  due: WaitingInvoice,
  deps: DistributionDeps,
): Promise<StepResult> => {
  const comparison = await tryToCompare(due.stream, [], deps);
  const { result, isEventFound, thrown } = comparison;
  deps.onComparison(caller.mode, result);
  const isOwn = isOwnFault(comparison);
  const later = addSeconds(deps.clock.now(), deps.settings.settledSeconds);
  const others = progress.waiting
    .filter((one) => one !== due)
    .map((one) => (isOwn && isBefore(one.dueAt, later) ? { ...one, dueAt: later } : one));
  const tries = due.tries + 1;
  const waiting = isEventFound || tries >= MAX_TRIES ? others : [...others, { ...due, tries, dueAt: later }];
  await saveProgress(caller, { ...progress, waiting }, deps);
  if (thrown !== undefined) throw thrown.error;
  return result === 'inconclusive' && !isOwn ? 'inconclusive' : 'asked';
};
