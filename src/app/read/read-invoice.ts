import type { Fold } from '../../domain/common/decision.js';
import { parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import type { InvoiceEvent, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { visible } from '../../domain/invoice/status.js';
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

/** `invoice` is null while the API would have answered 404: before acceptance, or after the life of a test invoice. */
type Replay = { at: Instant; livemode: boolean; invoice: Invoice | null };

/**
 * The invoice as GET would have found it at that instant, folded from what had been recorded until then. Undefined for a stream that has no
 * events or is not an invoice's. Of a deleted test invoice only the last event is left, so `invoice` is null.
 */
export const replayInvoice = async (
  stream: StreamName,
  at: Instant,
  { store, testRetentionSeconds }: { store: EventStore; testRetentionSeconds: number },
): Promise<Replay | undefined> => {
  const address = parseInvoiceStream(stream);
  const { events } = await store.load<InvoiceEvent>(stream);
  if (address === undefined || events.length === 0) return undefined;
  // Clocks of processes differ, so an event may have an earlier instant than the event before it. No reader saw an event without those before it.
  const last = events.findLastIndex(({ metadata }) => !isBefore(at, metadata.recordedAt ?? ''));
  const state = events.slice(0, last + 1).reduce<InvoiceState>(evolve, initialInvoice);
  const seen = visible(state, at, testRetentionSeconds);
  return { at, livemode: address.mode === 'live', invoice: seen.kind === 'invoice' ? seen.invoice : null };
};
