import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { providerOfKey } from '../../domain/common/access-key.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { isDownloadable } from '../../domain/invoice/status.js';
import { createFairSemaphore } from '../../lib/fair-semaphore.js';
import type { Authorizer, Caller } from '../../ports/authorizer.js';
import type { StreamEvent } from '../event-store/codec.js';
import type { EventStore, LoadedStream } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { sha256Hex } from '../event-store/hashes.js';

/**
 * Bytes of packed live notes in memory, so that a client's retries do not all reach the authorizer. Test notes are not cached, because test data is
 * erased.
 */
const CACHED_BYTES = 16 * 1024 * 1024;

/** A look-up may last until its time limit, so a company has a bounded number of them and cannot hold back the others. */
const FETCH_LIMITS = { what: 'notes to be fetched from the authorizer', atOnce: 16, perOwner: 2, waitingPerOwner: 32 };

/**
 * The event store as downloads read it. Where the log has no bytes of the note, or bytes that cannot be opened (ADR 26), it adds the note that
 * the authorizer has under its access key (docs/contract.md PDF-4, XML-3). It adds nothing when the note is not found, is out of reach, is
 * another company's, or does not have the hash that the log records.
 */
export const storeWithFetchedNotes = (
  store: EventStore,
  authorizer: Pick<Authorizer, 'findByAccessKey'>,
): EventStore => {
  const cached = new LRUCache<string, PackedNote>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ nfseXmlGzip }) => nfseXmlGzip.length,
  });
  const fetches = createFairSemaphore(FETCH_LIMITS);
  const fetching = new Map<string, Promise<PackedNote | undefined>>();

  const fetchNote = async ({ caller, accessKey, sha256 }: Missing): Promise<PackedNote | undefined> => {
    const noteKey = `${caller.mode} ${accessKey}`;
    const note = cached.get(noteKey) ?? (await (fetching.get(noteKey) ?? fetchOnce(noteKey, caller, accessKey)));
    if (note === undefined || (sha256 !== undefined && note.nfseSha256 !== sha256)) return undefined;
    if (caller.mode === 'live') cached.set(noteKey, note);
    return note;
  };

  /** Concurrent requests for one note share one look-up. */
  const fetchOnce = (noteKey: string, caller: Caller, accessKey: string): Promise<PackedNote | undefined> => {
    const fetched = fetches(caller.companyId, async () => {
      const answer = await authorizer.findByAccessKey(caller, accessKey);
      return answer.kind === 'found' ? await packed(answer.found.xml) : undefined;
    }).finally(() => fetching.delete(noteKey));
    fetching.set(noteKey, fetched);
    return fetched;
  };

  const completed = async (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    const missing = missingNoteOf(events);
    const found = missing === undefined ? undefined : await fetchNote(missing);
    if (found === undefined) return events;
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

/** The fields of an event that hold a note: gzip in base64, and the SHA-256 of the XML in hex. */
type PackedNote = { nfseXmlGzip: string; nfseSha256: string };

/** Packs outside the event loop, because a note of another program may have a megabyte. */
const packed = (xml: Buffer): Promise<PackedNote> =>
  new Promise((resolve, reject) => {
    gzip(xml, (error, bytes) =>
      error === null ? resolve({ nfseXmlGzip: bytes.toString('base64'), nfseSha256: sha256Hex(xml) }) : reject(error),
    );
  });

type StoredEvent = StreamEvent<InvoiceEvent>;

/** `sha256`: of the recorded bytes, in hex; undefined for a note that was imported without bytes. */
type Missing = { of: StoredEvent; caller: Caller; accessKey: string; sha256: string | undefined };

/** Undefined when the log has the document, or when the client may not have it. */
const missingNoteOf = (events: readonly StoredEvent[]): Missing | undefined => {
  const of = events.findLast(isNote);
  if (of === undefined || (of.data.nfseXmlGzip as string | undefined) !== undefined) return undefined;
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  if (state.kind !== 'invoice' || !isDownloadable(state)) return undefined;
  const { mode, companyId } = state.facts;
  const { accessKey, nfseSha256: sha256 } = of.data;
  if (accessKey === undefined || providerOfKey(accessKey) !== companyId) return undefined;
  // Test bytes that were recorded and cannot be opened were erased.
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
