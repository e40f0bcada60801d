import { dpsStream, type StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import {
  type AllocationRefusal,
  allocateNumber,
  blockSeries,
  type DpsNumbers,
  dpsNumbersFrom,
} from '../../domain/dps-number/dps-number.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import { createKeyedBatches } from '../../lib/batches.js';
import { type Cause, workerContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { transact, transactTogether } from '../event-store/transact.js';
import type { IssuerDeps } from './deps.js';

type Allocated = { number: number } | { refused: AllocationRefusal };

type Owner = Pick<InvoiceFacts, 'mode' | 'companyId' | 'invoiceId'>;

type Allocation = {
  owner: Owner;
  start: { series: string; nextNumber: number };
  cause: Cause | undefined;
  deps: Pick<IssuerDeps, 'clock' | 'actor'>;
};

/** The allocations of a series that wait together are stored by one append; between processes the exact revision decides. */
const allocations = new WeakMap<EventStore, ReturnType<typeof createKeyedBatches<Allocation, Allocated>>>();

const allocationsIn = (store: EventStore) => {
  const known = allocations.get(store);
  if (known !== undefined) return known;
  const created = createKeyedBatches<Allocation, Allocated>((batch) => allocateTogether(batch, store));
  allocations.set(store, created);
  return created;
};

const allocateTogether = async (batch: readonly Allocation[], store: EventStore): Promise<readonly Allocated[]> => {
  const [first] = batch;
  if (first === undefined) return [];
  const stream = streamOf(first);
  const commands = batch.map(({ owner, cause, deps: { actor } }) => ({
    decide: (numbers: DpsNumbers, { now }: { now: Instant }) => allocateNumber(numbers, owner.invoiceId, now),
    context: workerContext(stream, 'allocate_number', { actor, cause }),
  }));
  const outcomes = await transactTogether(
    { stream, read: 'last', fold: dpsNumbersFrom(first.start.nextNumber), commands },
    { store, clock: first.deps.clock },
  );
  return outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome : { number: outcome.state.nextNumber - 1 }));
};

const streamOf = ({ owner: { mode, companyId }, start: { series } }: Pick<Allocation, 'owner' | 'start'>): StreamName =>
  dpsStream(mode, companyId, series);

/**
 * Takes the next DPS number of a series. Reads only the last event of the series, so the cost does not grow with it
 * (docs/architecture.md#uniqueness). Throws `StreamContended`.
 */
export const allocateDpsNumber = (
  owner: Owner,
  start: Allocation['start'],
  cause: Cause | undefined,
  { store, ...deps }: Pick<IssuerDeps, 'store' | 'clock' | 'actor'>,
): Promise<Allocated> =>
  // Another start means that the company file was changed meanwhile; only those with the same one are decided together.
  allocationsIn(store)(`${streamOf({ owner, start })} ${start.nextNumber}`, { owner, start, cause, deps });

/**
 * The authorizer holds another party's note under one of our DPS ids: the series stops until an operator moves it
 * (docs/architecture.md#never-twice). Throws `StreamContended`.
 */
export const blockDpsSeries = async (
  { mode, companyId, invoiceId }: Owner,
  { series, number }: { series: string; number: number },
  cause: Cause | undefined,
  deps: Pick<IssuerDeps, 'store' | 'clock' | 'actor'>,
): Promise<void> => {
  const stream = dpsStream(mode, companyId, series);
  await transact(
    {
      stream,
      read: 'last',
      fold: dpsNumbersFrom(number + 1),
      decide: (numbers, { now }) => blockSeries(numbers, number, invoiceId, now),
      context: workerContext(stream, 'block_series', { actor: deps.actor, cause }),
    },
    deps,
  );
};
