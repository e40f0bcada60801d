import type { Customer } from '../../domain/invoice/facts.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { type Visible, visible } from '../../domain/invoice/view.js';
import { type CompanyId, type InvoiceAddress, invoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { createFairGate } from '../../waiting/fair-gate.js';
import { openCarried } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { invoiceIdOfReference } from '../hashes.js';
import { lru } from '../lru.js';
import { loadInvoice } from './read-invoice.js';

const REMEMBERED_STATES = 5_000;
/** Companies take turns; nobody is refused, because what a client may ask for is bounded by its quota. */
const FOLDS = { what: 'invoices to be read', atOnce: 32, atOnceOfOne: 8, waitingOfOne: Number.POSITIVE_INFINITY };

export type InvoiceReader = {
  /** Undefined for every invoice that this company and mode may not see, whatever the reason. */
  byId(address: InvoiceAddress): Promise<Invoice | undefined>;
  byReference(owner: Omit<InvoiceAddress, 'invoiceId'>, reference: string): Promise<Invoice | undefined>;
  /** Drops from memory what nobody may see any more and nobody asks for; returns how many there were. */
  forgetOver(): number;
};

export type ReaderDeps = {
  store: EventStore;
  log: Pick<EventLog, 'lastRevision'>;
  readModel: Pick<ReadModel, 'invoice'>;
  keys: SealingKeys;
  clock: Clock;
  testRetentionSeconds: number;
};

type Standing = { revision: Revision; state: InvoiceState };

/**
 * The row-or-fold rule: the log says which revision is the last one, memory and row only save folding up to it. So what
 * any process has recorded is seen by all from then on, also with the projector stopped, and a 404 after a 202 is impossible.
 */
export const createInvoiceReader = (deps: ReaderDeps): InvoiceReader => {
  const folds = createFairGate(FOLDS);
  const remembered = lru<StreamName, Standing>(REMEMBERED_STATES);

  const rowAt = async (stream: StreamName, least: Revision): Promise<Standing | undefined> => {
    const row = await deps.readModel.invoice(stream);
    if (row === undefined || row.revision < least) return undefined;
    return { revision: row.revision, state: await opened(row.state, stream, deps.keys) };
  };

  const folded = async (stream: StreamName, companyId: CompanyId): Promise<Standing> => {
    const { state, version } = await folds(companyId, () => loadInvoice(stream, deps.store));
    if (version.kind === 'none') throw new Error('a stream that has a last revision has no events');
    return { revision: version.revision, state };
  };

  const stateOf = async (stream: StreamName, companyId: CompanyId): Promise<InvoiceState> => {
    const last = await deps.log.lastRevision(stream);
    if (last === null) return initialInvoice;
    const known = remembered.get(stream);
    if (known !== undefined && known.revision >= last) return known.state;
    const standing = (await rowAt(stream, last)) ?? (await folded(stream, companyId));
    remembered.set(stream, standing);
    return standing.state;
  };

  const see = async (address: InvoiceAddress): Promise<Visible> => {
    const { mode, companyId, invoiceId } = address;
    const state = await stateOf(invoiceStream(mode, companyId, invoiceId), companyId);
    return visible(state, deps.clock.now(), deps.testRetentionSeconds);
  };

  const byId = async (address: InvoiceAddress): Promise<Invoice | undefined> => {
    const seen = await see(address);
    return seen.kind === 'invoice' ? seen.invoice : undefined;
  };

  return {
    byId,
    forgetOver: () => {
      let forgotten = 0;
      for (const [stream, { state }] of remembered.entries()) {
        if (state.kind !== 'invoice' || visible(state, deps.clock.now(), deps.testRetentionSeconds).kind === 'invoice')
          continue;
        remembered.delete(stream);
        forgotten += 1;
      }
      return forgotten;
    },
    byReference: async ({ mode, companyId }, reference) => {
      const seen = await see({ mode, companyId, invoiceId: invoiceIdOfReference(mode, companyId, reference) });
      if (seen.kind === 'moved') return await byId({ mode, companyId, invoiceId: seen.to });
      return seen.kind === 'invoice' ? seen.invoice : undefined;
    },
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
