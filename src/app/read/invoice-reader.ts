import { LRUCache } from 'lru-cache';
import { type CompanyId, type InvoiceAddress, invoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import {
  type Invoice,
  type InvoiceFacts,
  type InvoiceState,
  initialInvoice,
  personalFacts,
} from '../../domain/invoice/state.js';
import { type Visible, visible } from '../../domain/invoice/status.js';
import { createFairSemaphore } from '../../lib/fair-semaphore.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog, LastEvent } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { openCopiedField } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { invoiceIdOfReference } from '../event-store/hashes.js';
import { loadInvoice } from './read-invoice.js';

const CACHED_STATES = 5_000;
/** Companies take turns. No read is refused, because the quota of a client bounds its reads. */
const FOLD_LIMITS = { what: 'invoices to be read', atOnce: 32, perOwner: 8, waitingPerOwner: Number.POSITIVE_INFINITY };

export type InvoiceReader = {
  /** Undefined for every invoice that this company and mode may not see, whatever the reason. */
  byId(address: InvoiceAddress): Promise<Invoice | undefined>;
  byReference(owner: Omit<InvoiceAddress, 'invoiceId'>, reference: string): Promise<Invoice | undefined>;
  /** The hash of the last event of what `byId` would show now; undefined where `byId` is. */
  hashOf(address: InvoiceAddress): Promise<string | undefined>;
  /** Drops states from memory that no client may see any more, such as expired test invoices; returns how many were dropped. */
  evictExpired(): number;
};

type ReaderDeps = {
  store: EventStore;
  log: Pick<EventLog, 'lastEvent'>;
  readModel: Pick<ReadModel, 'invoice'>;
  keys: SealingKeys;
  clock: Clock;
  testRetentionSeconds: number;
};

type StateAt = { last: LastEvent; state: InvoiceState };

/**
 * The log says which event is the last one; memory and row only save folding up to it. So what any process has recorded is seen by all of
 * them, also with the projector stopped, and a 404 after a 202 is impossible (docs/architecture.md#reading-row-or-fold).
 */
export const createInvoiceReader = (deps: ReaderDeps): InvoiceReader => {
  const folds = createFairSemaphore(FOLD_LIMITS);
  const cachedStates = new LRUCache<StreamName, StateAt>({ max: CACHED_STATES });

  /** A row has no hash. A row is used only at the last event itself, because a row further on may be of a log that was set back. */
  const rowAt = async (stream: StreamName, last: LastEvent): Promise<StateAt | undefined> => {
    const row = await deps.readModel.invoice(stream);
    if (row?.revision !== last.revision) return undefined;
    return { last, state: await opened(row.state, stream, deps.keys) };
  };

  const folded = async (stream: StreamName, companyId: CompanyId): Promise<StateAt> => {
    const { state, version } = await folds(companyId, () => loadInvoice(stream, deps.store));
    if (version.kind === 'none') throw new Error('a stream that has a last event has no events');
    return { last: version, state };
  };

  const currentOf = async ({ mode, companyId, invoiceId }: InvoiceAddress): Promise<StateAt | undefined> => {
    const stream = invoiceStream(mode, companyId, invoiceId);
    const last = await deps.log.lastEvent(stream);
    if (last === null) return undefined;
    const known = cachedStates.get(stream);
    if (known?.last.hash === last.hash) return known;
    const current = (await rowAt(stream, last)) ?? (await folded(stream, companyId));
    cachedStates.set(stream, current);
    return current;
  };

  const visibleOf = (state: InvoiceState): Visible => visible(state, deps.clock.now(), deps.testRetentionSeconds);

  const visibleInvoice = async (address: InvoiceAddress): Promise<Visible> =>
    visibleOf((await currentOf(address))?.state ?? initialInvoice);

  const byId = async (address: InvoiceAddress): Promise<Invoice | undefined> => {
    const seen = await visibleInvoice(address);
    return seen.kind === 'invoice' ? seen.invoice : undefined;
  };

  return {
    byId,
    hashOf: async (address) => {
      const current = await currentOf(address);
      return current !== undefined && visibleOf(current.state).kind === 'invoice' ? current.last.hash : undefined;
    },
    evictExpired: () => {
      let forgotten = 0;
      for (const [stream, { state }] of [...cachedStates.entries()]) {
        if (state.kind !== 'invoice' || visibleOf(state).kind === 'invoice') continue;
        cachedStates.delete(stream);
        forgotten += 1;
      }
      return forgotten;
    },
    byReference: async ({ mode, companyId }, reference) => {
      const invoiceId = invoiceIdOfReference(mode, companyId, reference);
      const seen = await visibleInvoice({ mode, companyId, invoiceId });
      if (seen.kind === 'moved') return await byId({ mode, companyId, invoiceId: seen.to });
      return seen.kind === 'invoice' ? seen.invoice : undefined;
    },
  };
};

/** Rows carry the personal fields as they were sealed in the log. A field whose key is gone is left out. */
const opened = async (state: InvoiceState, stream: StreamName, keys: SealingKeys): Promise<InvoiceState> => {
  if (state.kind !== 'invoice') return state;
  const facts: Partial<Record<keyof InvoiceFacts, unknown>> = { ...state.facts };
  for (const field of personalFacts) facts[field] = await openCopiedField(facts[field], stream, field, keys);
  return { ...state, facts: present(facts) as InvoiceFacts };
};
