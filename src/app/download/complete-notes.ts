import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { type AccessKey, providerOfKey } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import { type Cents, centsFromDecimal } from '../../domain/common/money.js';
import { present } from '../../domain/common/present.js';
import { type InvoiceEvent, noteGivenBy } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { isOfLostAttempt } from '../../domain/invoice/note-met.js';
import { type Invoice, type InvoiceState, type IssueAttempt, initialInvoice } from '../../domain/invoice/state.js';
import { isDownloadable } from '../../domain/invoice/status.js';
import { createFairSemaphore } from '../../lib/fair-semaphore.js';
import type { AuthorizedNote, Authorizer, Caller } from '../../ports/authorizer.js';
import type { StreamEvent } from '../event-store/codec.js';
import type { EventStore, LoadedStream } from '../event-store/event-store.js';
import type { DomainEvent } from '../event-store/event-types.js';
import { sha256Hex } from '../event-store/hashes.js';
import { type IssuerDeps, type IssuerNotice, sendNotice } from '../issuing/deps.js';
import { compareNote } from '../issuing/found-documents.js';

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
 * another company's, or does not have the hash that the log records. A note of which the log records no hash must fit its invoice (ADR 30).
 */
export const storeWithFetchedNotes = (
  store: EventStore,
  authorizer: Pick<Authorizer, 'findByAccessKey'>,
  notify: IssuerDeps['notify'],
): EventStore => {
  const cached = new LRUCache<string, FetchedNote>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ packed }) => packed.nfseXmlGzip.length,
  });
  const fetches = createFairSemaphore(FETCH_LIMITS);
  const fetching = new Map<string, Promise<FetchedNote | undefined>>();

  const fetchNote = async (stream: StreamName, missing: Missing): Promise<PackedNote | undefined> => {
    const { caller, accessKey, recorded } = missing;
    const noteKey = `${caller.mode} ${accessKey}`;
    const note = cached.get(noteKey) ?? (await (fetching.get(noteKey) ?? fetchOnce(noteKey, caller, accessKey)));
    if (note === undefined) return undefined;
    if ('sha256' in recorded) {
      if (note.packed.nfseSha256 !== recorded.sha256) return undefined;
    } else {
      const fault = faultOf(note, caller, recorded);
      if (fault !== undefined) {
        sendNotice({ notify }, { ...fault, stream });
        return undefined;
      }
    }
    if (caller.mode === 'live') cached.set(noteKey, note);
    return note.packed;
  };

  /** Concurrent requests for one note share one look-up. */
  const fetchOnce = (noteKey: string, caller: Caller, accessKey: AccessKey): Promise<FetchedNote | undefined> => {
    const fetched = fetches(caller.companyId, async () => {
      const answer = await authorizer.findByAccessKey(caller, accessKey);
      if (answer.kind !== 'found') return undefined;
      const { xml, content, ...facts } = answer.found;
      return { ...facts, packed: await pack(xml), amount: content.amount };
    }).finally(() => fetching.delete(noteKey));
    fetching.set(noteKey, fetched);
    return fetched;
  };

  const completed = async (stream: StreamName, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    const missing = missingNoteOf(events);
    const found = missing === undefined ? undefined : await fetchNote(stream, missing);
    if (found === undefined) return events;
    return events.map((event) =>
      event === missing?.of ? ({ ...event, data: { ...event.data, ...found } } as StoredEvent) : event,
    );
  };

  return {
    ...store,
    load: async <E extends DomainEvent>(...args: Parameters<EventStore['load']>): Promise<LoadedStream<E>> => {
      const loaded = await store.load<InvoiceEvent>(...args);
      return { ...loaded, events: await completed(args[0], loaded.events) } as unknown as LoadedStream<E>;
    },
  };
};

/** The fields of an event that hold a note: gzip in base64, and the SHA-256 of the XML in hex. */
type PackedNote = { nfseXmlGzip: string; nfseSha256: string };

/** A note as the authorizer gave it, and what is compared with the invoice. `amount`: `vServ` as written. */
type FetchedNote = Omit<AuthorizedNote, 'xml' | 'content'> & { packed: PackedNote; amount: string };

/**
 * Why a note of which the log records no hash cannot be the note of the invoice. The DPS inside an imported note may be another program's, so only the
 * authorizer's signature vouches for it (ADR 30): that DPS may be signed by an algorithm that this program does not know, or not at all.
 */
const faultOf = (
  note: FetchedNote,
  caller: Caller,
  { amountInCents, sent }: WithoutHash,
): Pick<IssuerNotice, 'kind' | 'detail'> | undefined => {
  const { signatureFault, mode, provider, amount } = note;
  if (signatureFault !== undefined) return { kind: 'signature_unverified', detail: signatureFault };
  if (mode !== caller.mode) return { kind: 'document_altered', detail: 'environment' };
  if (provider !== caller.companyId) return { kind: 'document_altered', detail: 'provider' };
  if (centsFromDecimal(amount) !== amountInCents) return { kind: 'document_altered', detail: 'amount' };
  return sent === undefined || mayEmbed(sent, note) ? undefined : { kind: 'document_altered', detail: 'content' };
};

/** Whether the note embeds a DPS that the invoice sent. Where the key of the digest of such a DPS is gone, nothing may tell. */
const mayEmbed = (attempts: readonly IssueAttempt[], note: FetchedNote): boolean => {
  const owner = compareNote({ attempts }, note);
  if (owner !== 'unknown') return owner === 'ours';
  return attempts.some(({ dpsId, digest }) => dpsId === note.dpsId && digest === undefined);
};

/** Packs outside the event loop, because a note of another program may have a megabyte. */
const pack = (xml: Buffer): Promise<PackedNote> =>
  new Promise((resolve, reject) => {
    gzip(xml, (error, bytes) =>
      error === null ? resolve({ nfseXmlGzip: bytes.toString('base64'), nfseSha256: sha256Hex(xml) }) : reject(error),
    );
  });

type StoredEvent = StreamEvent<InvoiceEvent>;

/** `recorded`: what the log has to compare with: the SHA-256 of the XML, in hex, or what it knows of a note that was recorded without its XML. */
type Missing = {
  of: StoredEvent;
  caller: Caller;
  accessKey: AccessKey;
  recorded: { sha256: string } | WithoutHash;
};

/** `sent`: the attempts of which one made the note; absent for an imported note, and where the log has lost that attempt (ADR 22). */
type WithoutHash = { amountInCents: Cents; sent?: readonly IssueAttempt[] };

/** Undefined when the log has the document, or when the client may not have it. */
const missingNoteOf = (events: readonly StoredEvent[]): Missing | undefined => {
  const of = events.findLast((event) => noteGivenBy(event) !== undefined);
  const note = of && noteGivenBy(of);
  if (of === undefined || note === undefined || note.nfseXmlGzip !== undefined) return undefined;
  const state = events.reduce<InvoiceState>(evolve, initialInvoice);
  if (state.kind !== 'invoice' || !isDownloadable(state)) return undefined;
  const { mode, companyId, amountInCents } = state.facts;
  const { accessKey, nfseSha256: sha256 } = note;
  if (accessKey === undefined || providerOfKey(accessKey) !== companyId) return undefined;
  // Test bytes that were recorded and cannot be opened were erased.
  if (mode === 'test' && sha256 !== undefined) return undefined;
  const recorded = sha256 === undefined ? present({ amountInCents, sent: sentFor(of, state, events) }) : { sha256 };
  return { of, caller: { mode, companyId }, accessKey, recorded };
};

const sentFor = (
  { type }: StoredEvent,
  { attempts }: Invoice,
  events: readonly StoredEvent[],
): readonly IssueAttempt[] | undefined =>
  type === 'InvoiceImported' || isOfLostAttempt(events) ? undefined : attempts;
