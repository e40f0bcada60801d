import { gzipSync } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { isDownloadable } from '../../domain/invoice/view.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { DecodedEvent } from '../event-store/codec.js';
import type { EventStore, LoadedStream } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { sha256Hex } from '../hashes.js';
import { lru } from '../lru.js';
import { providerOfKey } from './plan-line.js';

/** Live notes kept in memory, so that a client's retries do not all reach the authorizer; test notes are to vanish. */
const KEPT = 200;

/**
 * The store as downloads read it: an invoice that was imported without its XML shows the one that the authorizer has
 * under its access key (reading 57). Not found, not reachable or not the company's own: as if this were not here.
 */
export const completingImported = (store: EventStore, authorizer: Pick<Authorizer, 'findByAccessKey'>): EventStore => {
  const kept = lru<string, Buffer>(KEPT);

  const fetchXml = async ({ data }: Imported, accessKey: string): Promise<Buffer | undefined> => {
    const { mode, companyId } = data;
    if (providerOfKey(accessKey) !== companyId) return undefined;
    const place = `${mode} ${accessKey}`;
    const known = kept.get(place);
    if (known !== undefined) return known;
    const answer = await authorizer.findByAccessKey({ mode, companyId }, accessKey);
    if (answer.kind !== 'found') return undefined;
    if (mode === 'live') kept.set(place, answer.found.xml);
    return answer.found.xml;
  };

  const completed = async (events: readonly DecodedEvent<InvoiceEvent>[]): Promise<typeof events> => {
    const [first, ...rest] = events;
    const accessKey = first === undefined ? undefined : missingNoteOf(first, events);
    if (first?.type !== 'InvoiceImported' || accessKey === undefined) return events;
    const xml = await fetchXml(first, accessKey);
    if (xml === undefined) return events;
    const found = { nfseXmlGzip: gzipSync(xml).toString('base64'), nfseSha256: sha256Hex(xml) };
    return [{ ...first, data: { ...first.data, ...found } }, ...rest];
  };

  return {
    ...store,
    load: async <E extends DomainEvent>(...args: Parameters<EventStore['load']>): Promise<LoadedStream<E>> => {
      const loaded = await store.load<InvoiceEvent>(...args);
      return { ...loaded, events: await completed(loaded.events) } as unknown as LoadedStream<E>;
    },
  };
};

type Imported = Extract<DecodedEvent<InvoiceEvent>, { type: 'InvoiceImported' }>;

/** The key under which to look; undefined when there is a document already, or none that a client may have. */
const missingNoteOf = (
  first: DecodedEvent<InvoiceEvent>,
  events: readonly DecodedEvent<InvoiceEvent>[],
): string | undefined => {
  if (first.type !== 'InvoiceImported' || first.data.nfseXmlGzip !== undefined) return undefined;
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  return state.kind === 'invoice' && isDownloadable(state) ? first.data.accessKey : undefined;
};
