import { dpsStream, type StreamName } from '../../domain/common/ids.js';
import {
  type AllocationRefusal,
  allocateNumber,
  blockSeries,
  type DpsNumbers,
  dpsNumbers,
  dpsNumbersFrom,
} from '../../domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../domain/dps-number/events.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import { createKeyedLock } from '../../lib/keyed-lock.js';
import { type Cause, workerContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { transact } from '../event-store/transact.js';
import type { IssuerDeps } from './deps.js';

type Allocated = { number: number } | { refused: AllocationRefusal };

type Owner = Pick<InvoiceFacts, 'mode' | 'companyId' | 'invoiceId'>;

/** One allocation at a time per series inside this process; between processes the exact revision decides. */
const oneAtATime = createKeyedLock();

/**
 * Takes the next DPS number of a series. Reads only the last event of the series, so the cost does not grow with it
 * (docs/architecture.md#uniqueness). Throws `StreamContended`.
 */
export const allocateDpsNumber = (
  { mode, companyId, invoiceId }: Owner,
  { series, nextNumber }: { series: string; nextNumber: number },
  cause: Cause | undefined,
  deps: Pick<IssuerDeps, 'store' | 'clock' | 'actor'>,
): Promise<Allocated> => {
  const stream = dpsStream(mode, companyId, series);
  const context = workerContext(stream, 'allocate_number', { actor: deps.actor, cause });
  return oneAtATime(stream, async () => {
    const outcome = await transact(
      {
        stream,
        read: 'last',
        fold: dpsNumbersFrom(nextNumber),
        decide: (numbers, { now }) => allocateNumber(numbers, invoiceId, now),
        context,
      },
      deps,
    );
    return outcome.kind === 'refused' ? outcome : { number: outcome.state.nextNumber - 1 };
  });
};

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

export const lastNumbers = async (stream: StreamName, start: number, store: EventStore): Promise<DpsNumbers> => {
  const { events } = await store.load<DpsNumberEvent>(stream, { direction: 'backwards', limit: 1 });
  return dpsNumbers(events[0], start);
};
