import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { type InvoiceAddress, invoiceStream, type StreamName } from '../../domain/shared/ids.js';
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

export const readInvoice = async (address: InvoiceAddress, store: EventStore): Promise<Invoice | undefined> => {
  const { mode, companyId, invoiceId } = address;
  const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), store);
  return state.kind === 'invoice' ? state : undefined;
};
