import type { Fold } from '../../domain/common/decision.js';
import type { StreamName } from '../../domain/common/ids.js';
import type { InvoiceEvent, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import type { EventStore, LoadedStream } from '../event-store/event-store.js';

export type LoadedInvoice = LoadedStream<InvoiceEvent> & { state: InvoiceState };

export const invoiceFold: Fold<InvoiceState, ReadInvoiceEvent> = { initial: initialInvoice, evolve };

/** Folds the stream of an invoice from the log, with personal fields opened. */
export const loadInvoice = (stream: StreamName, store: EventStore): Promise<LoadedInvoice> =>
  folded(store.load<InvoiceEvent>(stream));

/**
 * The same with personal fields as they are stored, for decisions. No decision looks inside a personal field, so a lost, wrong or unreachable key
 * stops none of them.
 */
export const loadSealedInvoice = (stream: StreamName, store: EventStore): Promise<LoadedInvoice> =>
  folded(store.load<InvoiceEvent>(stream, { sealed: true }));

const folded = async (loading: Promise<LoadedStream<InvoiceEvent>>): Promise<LoadedInvoice> => {
  const loaded = await loading;
  return { ...loaded, state: loaded.events.reduce<InvoiceState>(evolve, initialInvoice) };
};
