import { gzipSync } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { isDownloadable } from '../../domain/invoice/view.js';
import type { Authorizer, Caller } from '../../ports/authorizer.js';
import { createFairGate } from '../../waiting/fair-gate.js';
import type { DecodedEvent } from '../event-store/codec.js';
import type { EventStore, LoadedStream } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { sha256Hex } from '../hashes.js';
import { providerOfKey } from '../import/plan-line.js';
import { lru } from '../lru.js';

/** Live notes kept in memory, so that a client's retries do not all reach the authorizer; test notes are to vanish. */
const KEPT = 200;

/** An answer may take as long as the authorizer lets us wait: no company may keep the others from asking. */
const QUESTIONS = { what: 'notes to be fetched from the authorizer', atOnce: 16, atOnceOfOne: 2, waitingOfOne: 32 };

/**
 * The store as downloads read it: where the log has no bytes of the note, or none that open any more (ADR 26), those that the
 * authorizer has under its access key (reading 57). Not found, not reachable, not the company's own, or not the very bytes whose
 * hash the log has: as if this were not here.
 */
export const completingNotes = (store: EventStore, authorizer: Pick<Authorizer, 'findByAccessKey'>): EventStore => {
  const kept = lru<string, Buffer>(KEPT);
  const questions = createFairGate(QUESTIONS);
  const asking = new Map<string, Promise<Buffer | undefined>>();

  const fetchXml = async ({ caller, accessKey, sha256 }: Missing): Promise<Buffer | undefined> => {
    const place = `${caller.mode} ${accessKey}`;
    const xml = kept.get(place) ?? (await (asking.get(place) ?? askFor(place, caller, accessKey)));
    if (xml === undefined || (sha256 !== undefined && sha256Hex(xml) !== sha256)) return undefined;
    if (caller.mode === 'live') kept.set(place, xml);
    return xml;
  };

  /** All who want the same note wait for one answer. */
  const askFor = (place: string, caller: Caller, accessKey: string): Promise<Buffer | undefined> => {
    const asked = questions(caller.companyId, async () => {
      const answer = await authorizer.findByAccessKey(caller, accessKey);
      return answer.kind === 'found' ? answer.found.xml : undefined;
    }).finally(() => asking.delete(place));
    asking.set(place, asked);
    return asked;
  };

  const completed = async (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    const missing = missingNoteOf(events);
    const xml = missing === undefined ? undefined : await fetchXml(missing);
    if (xml === undefined) return events;
    const found = { nfseXmlGzip: gzipSync(xml).toString('base64'), nfseSha256: sha256Hex(xml) };
    return events.map((event) =>
      event === missing?.of ? ({ ...event, data: { ...event.data, ...found } } as StoredEvent) : event,
    );
  };

  return {
    ...store,
    load: async <E extends DomainEvent>(...args: Parameters<EventStore['load']>): Promise<LoadedStream<E>> => {
      const loaded = await store.load<InvoiceEvent>(...args);
      return { ...loaded, events: await completed(loaded.events) } as unknown as LoadedStream<E>;
    },
  };
};

type StoredEvent = DecodedEvent<InvoiceEvent>;

/** `sha256` of the bytes that were there, in hex; undefined for a note that was imported without any. */
type Missing = { of: StoredEvent; caller: Caller; accessKey: string; sha256: string | undefined };

/** Undefined when there is a document already, or none that a client may have. */
const missingNoteOf = (events: readonly StoredEvent[]): Missing | undefined => {
  const of = events.findLast(isNote);
  if (of === undefined || (of.data.nfseXmlGzip as string | undefined) !== undefined) return undefined;
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  if (state.kind !== 'invoice' || !isDownloadable(state)) return undefined;
  const { mode, companyId } = state.facts;
  const { accessKey, nfseSha256: sha256 } = of.data;
  if (accessKey === undefined || providerOfKey(accessKey) !== companyId) return undefined;
  // Test bytes that were there and are not any more were erased.
  return mode === 'test' && sha256 !== undefined ? undefined : { of, caller: { mode, companyId }, accessKey, sha256 };
};

type NoteEvent = Extract<
  StoredEvent,
  { type: 'Authorized' | 'InvoiceImported' } | { type: 'IndeterminateResolved'; data: { as: 'issued' } }
>;

const isNote = (event: StoredEvent): event is NoteEvent =>
  event.type === 'Authorized' ||
  event.type === 'InvoiceImported' ||
  (event.type === 'IndeterminateResolved' && event.data.as === 'issued');
