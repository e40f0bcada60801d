import type { Customer } from '../../domain/invoice/events.js';
import type { Invoice, InvoiceState } from '../../domain/invoice/state.js';
import { type Visible, visible } from '../../domain/invoice/view.js';
import { type InvoiceAddress, invoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { Revision } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { openCarried } from '../event-store/codec.js';
import type { AppendListener, EventStore } from '../event-store/event-store.js';
import { invoiceIdOfReference } from '../hashes.js';
import { lru } from '../lru.js';
import { createGate } from './gate.js';
import { loadInvoice } from './read-invoice.js';

const MAX_LAG_SECONDS = 1;
const REMEMBERED_WRITES = 50_000;
const REMEMBERED_STATES = 5_000;
const FOLDS_AT_ONCE = 32;

export type InvoiceReader = {
  /** Undefined for every invoice that this company and mode may not see, whatever the reason. */
  byId(address: InvoiceAddress): Promise<Invoice | undefined>;
  byReference(owner: Omit<InvoiceAddress, 'invoiceId'>, reference: string): Promise<Invoice | undefined>;
  /** Wire it to the event store, so that a read after a write sees the write. */
  onAppended: AppendListener;
};

export type ReaderDeps = {
  readModel: Pick<ReadModel, 'invoice'>;
  keys: SealingKeys;
  clock: Clock;
  /** Age of the oldest event that the invoices projection has not handled, cached for a moment. */
  lagSeconds(): Promise<number>;
  testRetentionSeconds: number;
};

/** The row-or-fold rule (design section 5): a 404 after a 202 is impossible, also with the projector stopped. */
export const createInvoiceReader = (store: () => EventStore, deps: ReaderDeps): InvoiceReader => {
  const written = lru<StreamName, Revision>(REMEMBERED_WRITES);
  const folds = createGate(FOLDS_AT_ONCE);
  const openedStates = lru<StreamName, { revision: Revision; state: InvoiceState }>(REMEMBERED_STATES);

  const stateOf = async (stream: StreamName): Promise<InvoiceState> => {
    if ((await deps.lagSeconds()) < MAX_LAG_SECONDS) {
      const row = await deps.readModel.invoice(stream);
      const behind = row === undefined || row.revision < (written.get(stream) ?? -1);
      if (!behind) {
        const known = openedStates.get(stream);
        if (known?.revision === row.revision) return known.state;
        const state = await opened(row.state, stream, deps.keys);
        openedStates.set(stream, { revision: row.revision, state });
        return state;
      }
    }
    return (await folds(() => loadInvoice(stream, store()))).state;
  };

  const see = async (address: InvoiceAddress): Promise<Visible> => {
    const { mode, companyId, invoiceId } = address;
    const state = await stateOf(invoiceStream(mode, companyId, invoiceId));
    return visible(state, deps.clock.now(), deps.testRetentionSeconds);
  };

  const byId = async (address: InvoiceAddress): Promise<Invoice | undefined> => {
    const seen = await see(address);
    return seen.kind === 'invoice' ? seen.invoice : undefined;
  };

  return {
    byId,
    byReference: async ({ mode, companyId }, reference) => {
      const seen = await see({ mode, companyId, invoiceId: invoiceIdOfReference(mode, companyId, reference) });
      if (seen.kind === 'moved') return await byId({ mode, companyId, invoiceId: seen.to });
      return seen.kind === 'invoice' ? seen.invoice : undefined;
    },
    onAppended: (stream, revision) => written.set(stream, revision),
  };
};

/** Rows carry customer and description as they were sealed in the log. */
const opened = async (state: InvoiceState, stream: StreamName, keys: SealingKeys): Promise<InvoiceState> => {
  if (state.kind !== 'invoice') return state;
  const { customer, description, ...facts } = state.facts;
  const openedCustomer = (await openCarried(customer, stream, 'customer', keys)) as Customer | undefined;
  const openedDescription = (await openCarried(description, stream, 'description', keys)) as string | undefined;
  return {
    ...state,
    facts: {
      ...facts,
      ...(openedCustomer === undefined ? {} : { customer: openedCustomer }),
      ...(openedDescription === undefined ? {} : { description: openedDescription }),
    },
  };
};
