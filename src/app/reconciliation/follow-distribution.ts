import type { AccessKey } from '../../domain/common/access-key.js';
import { type Mode, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { addSeconds, isBefore } from '../../domain/common/time.js';
import { isCanceled } from '../../domain/invoice/status.js';
import type { Caller } from '../../ports/authorizer.js';
import type {
  Distribution,
  DistributionAnswer,
  DistributionProgress,
  DistributionProgressStore,
  WaitingInvoice,
} from '../../ports/distribution.js';
import type { ReadModel } from '../../ports/read-model.js';
import { loadInvoice } from '../read/read-invoice.js';
import { type ComparisonResult, type ReconciliationDeps, tryToCompare } from './compare-invoice.js';

export type DistributionDeps = ReconciliationDeps & {
  distribution: Distribution;
  distributionProgress: DistributionProgressStore;
  readModel: Pick<ReadModel, 'byAccessKeys'>;
  /** Seconds after which a queue that was read to its end is asked again; 0 asks none. */
  everySeconds: number;
  /** Called for each answer of the ADN. */
  onDistribution(mode: Mode, answer: DistributionAnswer): void;
};

/** `asked`: the ADN or the authorizer answered. `inconclusive`: the answer proves nothing. */
type StepResult = 'asked' | 'inconclusive' | 'nothing to do';

/** Comparisons of one invoice that prove nothing. After these only the rounds of the reconciliation compare the invoice. */
const MAX_TRIES = 5;

/**
 * One step along the queues of the ADN (ADR 50): compares an invoice that an event may have canceled, else asks the queue that is due. What an event
 * says is not taken from the ADN: the comparison asks the authorizer. Only one process may run this at a time. Rejects as the stores do.
 */
export const distributionStep = async (mode: Mode, deps: DistributionDeps): Promise<StepResult> => {
  if (deps.everySeconds === 0) return 'nothing to do';
  const now = deps.clock.now();
  const due = await deps.distributionProgress.due(mode, now);
  if (due === undefined) return 'nothing to do';
  const { companyId, progress } = due;
  const invoice = progress?.waiting.find(({ dueAt }) => !isBefore(now, dueAt));
  return progress === undefined || invoice === undefined
    ? await readOn({ mode, companyId }, progress, deps)
    : await compareWaiting({ mode, companyId }, progress, invoice, deps);
};

const readOn = async (
  caller: Caller,
  before: DistributionProgress | undefined,
  deps: DistributionDeps,
): Promise<StepResult> => {
  const { nsu = 0, waiting = [] } = before ?? {};
  const answer = await deps.distribution.after(caller, nsu);
  deps.onDistribution(caller.mode, answer);
  const askedAt = deps.clock.now();
  const later = addSeconds(askedAt, deps.everySeconds);
  const kept = before?.endSeenAt === undefined ? {} : { endSeenAt: before.endSeenAt };
  const save = (progress: Partial<QueueProgress>): Promise<void> =>
    saveProgress(caller, { nsu, waiting, askedAt, queueDueAt: later, ...kept, ...progress }, deps);
  switch (answer.kind) {
    case 'documents': {
      const fresh = await touchedInvoices(caller, answer.canceled, deps);
      const others = fresh.filter((stream) => !waiting.some((one) => one.stream === stream));
      const added = others.map((stream) => ({ stream, tries: 0, dueAt: askedAt }));
      // The queue may hold more, and is asked again at once.
      await save({ nsu: answer.last, waiting: [...waiting, ...added], queueDueAt: askedAt });
      return 'asked';
    }
    case 'end':
      await save({ endSeenAt: askedAt });
      return 'asked';
    case 'inconclusive':
      await save({ reason: answer.reason });
      // The other companies' queues do not wait because one company lacks a certificate.
      return answer.reason.startsWith('certificate_') ? 'asked' : 'inconclusive';
  }
};

type QueueProgress = Omit<DistributionProgress, 'dueAt'>;

const saveProgress = (
  caller: Caller,
  progress: QueueProgress,
  { distributionProgress }: DistributionDeps,
): Promise<void> => {
  const dates = [progress.queueDueAt, ...progress.waiting.map(({ dueAt }) => dueAt)];
  const dueAt = dates.reduce((first, one) => (isBefore(one, first) ? one : first));
  return distributionProgress.save(caller, { ...progress, dueAt });
};

/** The company's own invoices under these keys, except those that are canceled already. A queue also holds notes that others issued. */
const touchedInvoices = async (
  { mode, companyId }: Caller,
  keys: readonly AccessKey[],
  { readModel, store }: DistributionDeps,
): Promise<readonly StreamName[]> => {
  if (keys.length === 0) return [];
  const touched: StreamName[] = [];
  for (const { stream } of await readModel.byAccessKeys(keys)) {
    const address = parseInvoiceStream(stream);
    if (address?.mode !== mode || address.companyId !== companyId) continue;
    const { state } = await loadInvoice(stream, store);
    if (state.kind === 'invoice' && !isCanceled(state)) touched.push(stream);
  }
  return touched;
};

/** An invoice with work under way is compared later, because the event may be the service's own. A comparison that throws counts as a try. */
const compareWaiting = async (
  caller: Caller,
  progress: DistributionProgress,
  due: WaitingInvoice,
  deps: DistributionDeps,
): Promise<StepResult> => {
  const { result, thrown } = await tryToCompare(due.stream, [], deps);
  deps.onComparison(caller.mode, result);
  const others = progress.waiting.filter((one) => one !== due);
  const tries = due.tries + 1;
  const again = { ...due, tries, dueAt: addSeconds(deps.clock.now(), deps.settings.settledSeconds) };
  const waiting = isSettled(result) || tries >= MAX_TRIES ? others : [...others, again];
  await saveProgress(caller, { ...progress, waiting }, deps);
  if (thrown !== undefined) throw thrown.error;
  return result === 'inconclusive' ? 'inconclusive' : 'asked';
};

const isSettled = (result: ComparisonResult): boolean =>
  result === 'agrees' || result === 'differs' || result === 'canceled_elsewhere';
