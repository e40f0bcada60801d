import { parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { visible } from '../../domain/invoice/status.js';
import type { EventStore } from '../event-store/event-store.js';

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
