import {
  allocateNumber,
  blockSeries,
  type DpsNumberEvent,
  type DpsNumbers,
  dpsNumbers,
} from '../../domain/dps-number/dps-number.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import { dpsStream, type StreamName } from '../../domain/shared/ids.js';
import type { DecodedEvent, StreamVersion } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { createKeyedLock } from '../keyed-lock.js';
import type { AppendSite } from '../sites.js';
import type { IssuerDeps } from './deps.js';
import { workerContext } from './record.js';

export type Allocated = { number: number } | { refused: 'series_blocked' | 'series_exhausted' };

type Owner = Pick<InvoiceFacts, 'mode' | 'companyId' | 'invoiceId'>;

/** One allocation at a time per series inside this process; between processes the exact revision decides. */
const oneAtATime = createKeyedLock();

/** Reads only the last event of the series, so the cost does not grow with its volume (design section 5). */
export const allocateDpsNumber = (
  owner: Owner,
  start: { series: string; nextNumber: number },
  cause: DecodedEvent | undefined,
  deps: IssuerDeps,
): Promise<Allocated> => {
  const stream = dpsStream(owner.mode, owner.companyId, start.series);
  return oneAtATime(stream, async () => {
    for (;;) {
      const { numbers, version } = await lastNumbers(stream, start.nextNumber, deps.store);
      const allocation = allocateNumber(numbers, owner.invoiceId, deps.clock.now());
      if ('refused' in allocation) return allocation;
      if (await append(stream, version, [allocation.event], 'allocate_number', cause, deps))
        return { number: allocation.number };
    }
  });
};

/** A foreign note stands under one of our DPS ids: the series stops until an operator moves it (design section 6, 5). */
export const blockDpsSeries = async (
  owner: Owner,
  at: { series: string; number: number },
  cause: DecodedEvent | undefined,
  deps: IssuerDeps,
): Promise<void> => {
  const stream = dpsStream(owner.mode, owner.companyId, at.series);
  for (;;) {
    const { numbers, version } = await lastNumbers(stream, at.number + 1, deps.store);
    const events = blockSeries(numbers, at.number, owner.invoiceId, deps.clock.now());
    if (events.length === 0 || (await append(stream, version, events, 'block_series', cause, deps))) return;
  }
};

export const lastNumbers = async (
  stream: StreamName,
  start: number,
  store: EventStore,
): Promise<{ numbers: DpsNumbers; version: StreamVersion }> => {
  const { events, version } = await store.load<DpsNumberEvent>(stream, { direction: 'backwards', limit: 1 });
  return { numbers: dpsNumbers(events[0], start), version };
};

const append = async (
  stream: StreamName,
  version: StreamVersion,
  events: readonly DpsNumberEvent[],
  site: AppendSite,
  cause: DecodedEvent | undefined,
  deps: IssuerDeps,
): Promise<boolean> => (await deps.store.append(stream, version, events, workerContext(stream, site, cause, deps))).ok;
