import type { Cents } from '../../domain/shared/money.js';
import type { Instant } from '../../domain/shared/time.js';
import { openAppendFile, type Span } from './append-file.js';
import { documentOf, LedgerDamaged, ledgerLine, recordOf } from './ledger-line.js';

/** One authorized note, without its document. */
export type Note = {
  accessKey: string;
  dpsId: string;
  /** Of the emitter. */
  cnpj: string;
  number: number;
  municipality: string;
  amountInCents: Cents;
  /** CNPJ or CPF. */
  customer?: string;
  /** What a substitution may not change; absent in ledgers of earlier versions. */
  subject?: { competence: string; serviceCode: string; municipalCode?: string; place?: string };
  authorizedAt: Instant;
};

/** One registered event, without its document. */
export type RegisteredEvent = { accessKey: string; type: string; sequence: number; registeredAt: Instant };

type Record = ({ kind: 'note' } & Note) | ({ kind: 'event' } & RegisteredEvent);

/**
 * Everything that one environment ever authorized. A record counts from `addNote`/`addEvent` on, before it is on the
 * disk: whoever tells the outside about it awaits `durable` first.
 */
export type Ledger = {
  noteByDps(dpsId: string): Note | undefined;
  noteByKey(accessKey: string): Note | undefined;
  event(accessKey: string, type: string): RegisteredEvent | undefined;
  /** Every event on a note, the oldest first. */
  events(accessKey: string): readonly RegisteredEvent[];
  notes(): Iterable<Note>;
  /** The next nNFSe of this emitter, from 1. */
  nextNumber(cnpj: string): number;
  /** The next number of the environment (nDFSe), from 1. */
  nextDocument(): number;
  /** `document` is base64 of the gzipped XML. */
  addNote(note: Note, document: string): void;
  addEvent(event: RegisteredEvent, document: string): void;
  durable(): Promise<void>;
  noteDocument(accessKey: string): Promise<string | undefined>;
  eventDocument(accessKey: string, type: string): Promise<string | undefined>;
  close(): Promise<void>;
};

const eventId = (accessKey: string, type: string) => `${accessKey}/${type}`;

/** Opens the NDJSON ledger of one environment, or makes it. Throws `LedgerDamaged` on a damaged line that is not the last. */
export const openLedger = async (path: string): Promise<Ledger> => {
  const byDps = new Map<string, Note>();
  const byKey = new Map<string, { note: Note; span: Span }>();
  const events = new Map<string, { event: RegisteredEvent; span: Span }>();
  const eventsByKey = new Map<string, RegisteredEvent[]>();
  const lastNumber = new Map<string, number>();

  const remember = (record: Record, span: Span): void => {
    if (record.kind === 'event') {
      const { kind: _, ...event } = record;
      events.set(eventId(event.accessKey, event.type), { event, span });
      eventsByKey.set(event.accessKey, [...(eventsByKey.get(event.accessKey) ?? []), event]);
      return;
    }
    const { kind: _, ...note } = record;
    byDps.set(note.dpsId, note);
    byKey.set(note.accessKey, { note, span });
    lastNumber.set(note.cnpj, Math.max(note.number, lastNumber.get(note.cnpj) ?? 0));
  };

  const file = await openAppendFile(path, (line, span) => {
    const record = recordOf(line);
    if (!isRecord(record)) {
      throw new LedgerDamaged(
        `${path} is damaged at byte ${span.offset}: put a good copy back, or begin anew without it`,
      );
    }
    remember(record, span);
  });

  const add = (record: Record, document: string): void => {
    remember(record, file.append(ledgerLine(record, document)));
  };
  const documentAt = async (span: Span | undefined): Promise<string | undefined> => {
    if (span === undefined) return undefined;
    await file.durable();
    return documentOf(await file.read(span));
  };

  return {
    noteByDps: (dpsId) => byDps.get(dpsId),
    noteByKey: (accessKey) => byKey.get(accessKey)?.note,
    event: (accessKey, type) => events.get(eventId(accessKey, type))?.event,
    events: (accessKey) => eventsByKey.get(accessKey) ?? [],
    notes: () => byDps.values(),
    nextNumber: (cnpj) => (lastNumber.get(cnpj) ?? 0) + 1,
    nextDocument: () => byKey.size + 1,
    addNote: (note, document) => add({ kind: 'note', ...note }, document),
    addEvent: (event, document) => add({ kind: 'event', ...event }, document),
    durable: () => file.durable(),
    noteDocument: (accessKey) => documentAt(byKey.get(accessKey)?.span),
    eventDocument: (accessKey, type) => documentAt(events.get(eventId(accessKey, type))?.span),
    close: () => file.close(),
  };
};

const isRecord = (value: unknown): value is Record =>
  typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'note' || value.kind === 'event');
