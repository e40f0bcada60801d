import { noChange } from '../../domain/common/decision.js';
import type { StreamName } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, type Instant, isBefore, utcDay } from '../../domain/common/time.js';
import type { Decision } from '../../domain/invoice/decision.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { retentionEnds } from '../../domain/invoice/status.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import type { PreviousGeneration } from '../../ports/read-model.js';
import type { LookupProgressStore, PendingCuts } from '../../ports/work-progress.js';
import type { StreamVersion } from '../event-store/codec.js';
import { workerContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import type { IssuerDeps } from '../issuing/deps.js';
import { invoiceFold } from '../read/read-invoice.js';

/**
 * A test invoice lives 7 days (docs/contract.md LIMIT-15); a day key is kept for 8 days after its day
 * (docs/architecture.md#sealing-and-hash-chain).
 */
const KEPT_DAYS = 8;
/** The oldest UTC day, `YYYY-MM-DD`, whose day key is kept; older keys are to be destroyed. */
export const oldestKeptDay = (now: Instant): string => utcDay(addSeconds(now, -KEPT_DAYS * DAY_SECONDS));

/** When the key of this UTC day is destroyed; from then on no copy of what it sealed can be opened. */
export const keyGoneAt = (day: string): Instant => addSeconds(`${day}T00:00:00.000Z`, (KEPT_DAYS + 1) * DAY_SECONDS);

/** The UTC day whose key sealed a text of this generation; undefined for a live generation. */
export const sealingDayOf = (generation: string): string | undefined =>
  /^t(\d{4}-\d{2}-\d{2})(?:\.|$)/.exec(generation)?.[1];

type Deps = Pick<IssuerDeps, 'store' | 'clock' | 'limits' | 'actor'> & {
  log: EventLog;
  lookups: LookupProgressStore;
  cuts: PendingCuts;
  previousGeneration: PreviousGeneration;
};

/**
 * Deletes a test invoice, whatever its status, when its life is over. The last event stays, so that the reference stays taken and the hash chain
 * has a known start (docs/architecture.md#sealing-and-hash-chain).
 */
export const deleteTestInvoice = async (stream: StreamName, deps: Deps): Promise<void> => {
  const outcome = await transact(
    {
      stream,
      read: 'sealed',
      fold: invoiceFold,
      decide: (state, { version, now }) => decideDeletion(state, version, now, deps.limits),
      context: workerContext(stream, 'delete_test_invoice', deps),
      // Before the append, so that a later sweep ends what this process may leave undone.
      beforeAppend: async () => {
        await deps.cuts.add(stream);
        return undefined;
      },
    },
    deps,
  );
  if (outcome.kind !== 'refused' && outcome.revision !== undefined) await cutBefore(stream, outcome.revision, deps);
};

const decideDeletion = (
  state: InvoiceState,
  version: StreamVersion,
  now: Instant,
  { testRetentionSeconds }: Pick<Limits, 'testRetentionSeconds'>,
): Decision => {
  if (version.kind === 'none' || state.kind === 'deleted') return noChange;
  const ends = state.kind === 'invoice' ? retentionEnds(state, testRetentionSeconds) : undefined;
  if (ends === undefined || isBefore(now, ends)) return { refused: 'its life is not over' };
  return { events: [{ type: 'TestInvoiceDeleted', data: { lastHash: version.hash, deletedAt: now } }] };
};

const cutBefore = async (stream: StreamName, revision: Revision, deps: Deps): Promise<void> => {
  await deps.log.cut(stream, revision);
  await deps.lookups.forget(stream);
  await deps.previousGeneration.end(stream);
  await deps.cuts.done(stream);
};
