import { createHash } from 'node:crypto';
import type { Cents } from '../../domain/common/money.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import { LedgerDamaged } from '../options.js';
import { type AppendFile, cutFile, openAppendFile, type Span } from './append-file.js';

/** One authorized note, without its document. */
export type Note = {
  accessKey: string;
  dpsId: string;
  /** CNPJ or CPF of the emitter. */
  cnpj: string;
  number: number;
  municipality: string;
  amountInCents: Cents;
  /** CNPJ or CPF of the customer. */
  customer?: string;
  /** What a substitution may not change; absent in ledgers of earlier versions. */
  subject?: { competence: string; serviceCode: string; municipalCode?: string; place?: string };
  authorizedAt: Instant;
};

/** One registered event, without its document. */
export type RegisteredEvent = { accessKey: string; type: string; sequence: number; registeredAt: Instant };

/**
 * What remains of dropped notes: the last number of each emitter, and how many documents were dropped. `entries` counts dropped notes and events;
 * ledgers of earlier versions lack it.
 */
type Numbers = { kind: 'numbers'; last: { [cnpj: string]: number }; documents: number; entries?: number };

/** A note or event with its number in the order of registration (NSU). */
export type Numbered = { nsu: number; note: Note; event?: RegisteredEvent };

type Entry = ({ kind: 'note' } & Note) | ({ kind: 'event' } & RegisteredEvent);

type Line = Entry | Numbers;

/**
 * The notes and events of one environment, except those that `KeptFrom` drops. Reads see a record from `addNote` or `addEvent` on, before it is
 * on disk; a caller awaits `durable` before it answers a client.
 */
export type Ledger = {
  noteByDps(dpsId: string): Note | undefined;
  noteByKey(accessKey: string): Note | undefined;
  event(accessKey: string, type: string): RegisteredEvent | undefined;
  /** All events on a note, the oldest first. */
  events(accessKey: string): readonly RegisteredEvent[];
  notes(): Iterable<Note>;
  /** Notes that `isWanted` lets through and their events, in order, each with an NSU above `nsu`. */
  registeredAfter(nsu: number, isWanted: (note: Note) => boolean): Iterable<Numbered>;
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

/** The instant before which notes and events are dropped, but not their numbers. Undefined: nothing is dropped. */
export type KeptFrom = () => Instant | undefined;

/**
 * Opens or creates the NDJSON ledger of one environment, and cuts the lines that `keptFrom` drops from the beginning of the file. Throws
 * `LedgerDamaged` on a damaged line, except for a torn last line.
 */
export const openLedger = async (path: string, keptFrom: KeptFrom = () => undefined): Promise<Ledger> => {
  const { ledger, old } = await loadLedger(path, keptFrom);
  if (old === undefined) return ledger;
  await ledger.close();
  await cutFile(path, old.end, ledgerLine(old.numbers, ''));
  return (await loadLedger(path, keptFrom)).ledger;
};

/** `old`: the lines before the byte `end` are dropped, and `numbers` replaces them. */
type Loaded = { ledger: Ledger; old: { end: number; numbers: Numbers } | undefined };

const loadLedger = async (path: string, keptFrom: KeptFrom): Promise<Loaded> => {
  const byDps = new Map<string, Note>();
  const byKey = new Map<string, { note: Note; span: Span }>();
  const events = new Map<string, readonly { event: RegisteredEvent; span: Span }[]>();
  const lastNumber = new Map<string, number>();
  /** In the order of the file; the NSU of the first is `droppedEntries` + 1. */
  const order: Entry[] = [];
  let droppedDocuments = 0;
  let droppedEntries = 0;

  const raiseNumber = (cnpj: string, number: number): void => {
    lastNumber.set(cnpj, Math.max(number, lastNumber.get(cnpj) ?? 0));
  };
  const remember = (record: Entry, span: Span): void => {
    if (record.kind === 'event') {
      const { kind: _, ...event } = record;
      events.set(event.accessKey, [...(events.get(event.accessKey) ?? []), { event, span }]);
      order.push(record);
      return;
    }
    const { kind: _, ...note } = record;
    byDps.set(note.dpsId, note);
    byKey.set(note.accessKey, { note, span });
    order.push(record);
    raiseNumber(note.cnpj, note.number);
  };
  const forget = ({ accessKey, dpsId }: Note): void => {
    byDps.delete(dpsId);
    byKey.delete(accessKey);
    events.delete(accessKey);
    droppedDocuments += 1;
  };
  /** Drops notes in the order of the file up to the first kept note, as a start does. So a clock that was set back drops nothing too early. */
  const forgetOld = (): void => {
    const from = keptFrom();
    if (from === undefined) return;
    for (const { note } of byKey.values()) {
      if (!isBefore(note.authorizedAt, from)) return;
      forget(note);
    }
  };

  const cutBefore = keptFrom();
  let [oldEnd, oldEntries, isOld] = [0, 0, true];
  /** True for a line in the dropped beginning of the file. Keeps the numbers of that line. */
  const isOver = (record: Line, span: Span): boolean => {
    isOld &&= record.kind === 'numbers' || (cutBefore !== undefined && isBefore(timeOf(record), cutBefore));
    if (!isOld) return false;
    oldEnd = span.offset + span.length + 1;
    if (record.kind === 'numbers') {
      for (const [cnpj, number] of Object.entries(record.last)) raiseNumber(cnpj, number);
      droppedDocuments += record.documents;
      droppedEntries += record.entries ?? record.documents;
      return true;
    }
    oldEntries += 1;
    droppedEntries += 1;
    if (record.kind === 'note') {
      raiseNumber(record.cnpj, record.number);
      droppedDocuments += 1;
    }
    return true;
  };

  const file = await openAppendFile(path, (line, span) => {
    const record = recordOf(line);
    if (!isLine(record) || (record.kind === 'numbers' && span.offset > 0)) {
      throw new LedgerDamaged(
        `${path} is damaged at byte ${span.offset}: put a good copy back, or begin anew without it`,
      );
    }
    if (!isOver(record, span) && record.kind !== 'numbers') remember(record, span);
  });

  const eventOf = (accessKey: string, type: string) =>
    events.get(accessKey)?.findLast(({ event }) => event.type === type);
  const add = (record: Entry, document: string): void => {
    forgetOld();
    remember(record, file.append(ledgerLine(record, document)));
  };
  function* registeredAfter(nsu: number, isWanted: (note: Note) => boolean): Iterable<Numbered> {
    for (let at = Math.max(0, nsu - droppedEntries); at < order.length; at += 1) {
      const entry = order[at];
      const note = entry && byKey.get(entry.accessKey)?.note;
      if (note === undefined || !isWanted(note)) continue;
      const numbered = { nsu: droppedEntries + at + 1, note };
      yield entry?.kind === 'event' ? { ...numbered, event: entry } : numbered;
    }
  }
  const last = Object.fromEntries(lastNumber);
  const numbers: Numbers = { kind: 'numbers', last, documents: droppedDocuments, entries: droppedEntries };
  return {
    old: oldEntries === 0 ? undefined : { end: oldEnd, numbers },
    ledger: {
      noteByDps: (dpsId) => byDps.get(dpsId),
      noteByKey: (accessKey) => byKey.get(accessKey)?.note,
      event: (accessKey, type) => eventOf(accessKey, type)?.event,
      events: (accessKey) => events.get(accessKey)?.map(({ event }) => event) ?? [],
      notes: () => byDps.values(),
      registeredAfter,
      nextNumber: (cnpj) => (lastNumber.get(cnpj) ?? 0) + 1,
      nextDocument: () => droppedDocuments + byKey.size + 1,
      addNote: (note, document) => add({ kind: 'note', ...note }, document),
      addEvent: (event, document) => add({ kind: 'event', ...event }, document),
      durable: () => file.durable(),
      noteDocument: (accessKey) => documentAt(file, byKey.get(accessKey)?.span),
      eventDocument: (accessKey, type) => documentAt(file, eventOf(accessKey, type)?.span),
      close: () => file.close(),
    },
  };
};

const documentAt = async (file: AppendFile, span: Span | undefined): Promise<string | undefined> => {
  if (span === undefined) return undefined;
  await file.durable();
  return documentOf(await file.read(span));
};

const timeOf = (record: Entry): Instant => (record.kind === 'note' ? record.authorizedAt : record.registeredAt);

const KINDS: readonly unknown[] = ['note', 'event', 'numbers'] satisfies readonly Line['kind'][];

const isLine = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && 'kind' in value && KINDS.includes(value.kind);

/** The document is the last member of a line, so that loading parses only what is before it. */
const DOCUMENT = ',"document":"';

const END = '"}';

const SUM = ',"sum":"';

const SUM_LENGTH = 16;

/** One line of the ledger: the record, a checksum over record and document, and the document (base64 of the gzipped XML). */
const ledgerLine = (record: object, document: string): string => {
  const head = JSON.stringify(record).slice(0, -1);
  return `${head}${SUM}${sumOf(head, document)}"${DOCUMENT}${document}${END}`;
};

/** The record of a line; undefined for a damaged line. Lines of earlier versions have no checksum. */
const recordOf = (line: Buffer): unknown => {
  const at = line.indexOf(DOCUMENT);
  if (at === -1 || line.toString('latin1', line.length - END.length) !== END) return undefined;
  const { head, sum } = withoutSum(line.toString('utf8', 0, at));
  const document = line.subarray(at + DOCUMENT.length, line.length - END.length);
  if (sum !== undefined && sum !== sumOf(head, document)) return undefined;
  try {
    return JSON.parse(`${head}}`);
  } catch {
    return undefined;
  }
};

/** The document of a line. */
const documentOf = (line: string): string => line.slice(line.lastIndexOf(DOCUMENT) + DOCUMENT.length, -END.length);

const withoutSum = (text: string): { head: string; sum?: string } => {
  const at = text.length - SUM.length - SUM_LENGTH - 1;
  if (!text.startsWith(SUM, at)) return { head: text };
  return { head: text.slice(0, at), sum: text.slice(at + SUM.length, -1) };
};

const sumOf = (head: string, document: string | Buffer): string =>
  createHash('sha256').update(head).update(document).digest('hex').slice(0, SUM_LENGTH);
