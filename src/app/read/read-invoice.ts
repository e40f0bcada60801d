import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { DecodedEvent, StreamVersion } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';

export type LoadedInvoice = {
  state: InvoiceState;
  version: StreamVersion;
  events: readonly DecodedEvent<InvoiceEvent>[];
};

/** Folds the stream: the truth, whatever the read model says. */
export const loadInvoice = async (stream: StreamName, store: EventStore): Promise<LoadedInvoice> => {
  const { events, version } = await store.load<InvoiceEvent>(stream);
  return { state: events.reduce<InvoiceState>(evolve, initialInvoice), version, events };
};
