import type { AccessKey, DpsId } from '../../domain/common/access-key.js';
import {
  type CompanyId,
  companyPrefix,
  dpsPrefix,
  dpsStream,
  type InvoiceId,
  invoicePrefix,
  invoiceStream,
  type Mode,
  parseDpsStream,
  parseInvoiceStream,
  type StreamName,
} from '../../domain/common/ids.js';
import { centsFromDecimal, decimalFromCents } from '../../domain/common/money.js';
import { epochMs, type Instant, isBefore } from '../../domain/common/time.js';
import type { CompanyEvent, Registration } from '../../domain/company/events.js';
import type { DpsNumberEvent } from '../../domain/dps-number/events.js';
import type { InvoiceEvent, InvoiceEventType } from '../../domain/invoice/events.js';
import { groupedBy } from '../../lib/grouped-by.js';
import type { EventLog } from '../../ports/event-log.js';
import { type DecodedEvent, decodeSealed } from '../event-store/codec.js';
import { walkLog } from '../event-store/walk-log.js';

/** A series of DPS numbers as the log knows it. */
export type KnownSeries = {
  mode: Mode;
  companyId: CompanyId;
  series: string;
  nextNumber: number;
  /** Whether the log knows more than the number to which an operator moved it. Otherwise numbers before that one may be lost. */
  isBegun: boolean;
  /** Next numbers that operators have moved past since the last allocation. A move may be younger than the restore, and what was lost is before it. */
  movedPast: readonly number[];
  /**
   * Numbers that were allocated, under which the log has no note of their invoice: those of open invoices, and those that were allocated since a given
   * instant. The invoice may have been sent since; or the number is that of a note which the log has lost, and was given again after the loss.
   */
  taken: readonly number[];
  /** DPS ids of the attempts under these numbers. */
  attempted: readonly DpsId[];
};

/** What of a company file decides under which DPS ids its invoices were sent. */
export type KnownRegistration = Pick<Registration, 'city' | 'state' | 'dps'>;

/** What a log says of work that may have continued after its last event. */
export type KnownWork = {
  /** Each company with all that its company files have said; the last one is in force. */
  companies: ReadonlyMap<CompanyId, readonly KnownRegistration[]>;
  series: readonly KnownSeries[];
  /** Streams of invoices without an outcome. */
  open: readonly StreamName[];
  /** Streams of the invoices that the `taken` numbers of all series were allocated to. */
  takers: readonly StreamName[];
  /** The invoice that met this note under its number, and whether with its own content (see `noteMet`). */
  metBy(note: NoteKey): Meeting | undefined;
  /** Seconds from an attempt to its deadline, at most: what the processes over this log have allowed a send. 0 without an attempt. */
  longestSendSeconds: number;
};

/** `unseen`: no look-up of the invoice has shown the note. */
export type Meeting = { stream: StreamName; sameContent: boolean; unseen?: true };

const PREFIXES = [invoicePrefix.live, invoicePrefix.test, dpsPrefix.live, dpsPrefix.test, companyPrefix];

/** After these events no note of the invoice is searched for. An indeterminate invoice is left to support. */
const ENDS_SEARCH: ReadonlySet<string> = new Set<InvoiceEventType>([
  'Authorized',
  'IssuanceRejected',
  'IssuanceFailed',
  'NotProcessed',
  'IssuanceInterrupted',
  'IndeterminateResolved',
  'TestInvoiceDeleted',
]);

type Series = Omit<KnownSeries, 'taken' | 'attempted'>;

/** `attempts`: those that were made under the number, and `dpsIds` their DPS ids. */
type Taken = {
  stream: StreamName;
  taker: StreamName;
  number: number;
  at: Instant;
  attempts: readonly number[];
  dpsIds: readonly DpsId[];
};

type KnownWorkSoFar = {
  companies: Map<CompanyId, readonly KnownRegistration[]>;
  series: Map<StreamName, Series>;
  open: Map<InvoiceId, StreamName>;
  /** Numbers under which their invoice has no note: of open invoices all, of others those since the given instant. */
  taken: Map<InvoiceId, readonly Taken[]>;
  takenSince: Instant;
  /** By `placeOf` the note. */
  met: Map<string, Meeting>;
  longestSendSeconds: number;
};

/**
 * Reads the log once, without opening sealed fields. Memory holds what is open, and the numbers since `takenSince` that became no note.
 */
export const readKnownWork = async (log: Pick<EventLog, 'readAll'>, takenSince: Instant): Promise<KnownWork> => {
  const known: KnownWorkSoFar = {
    companies: new Map(),
    series: new Map(),
    open: new Map(),
    taken: new Map(),
    takenSince,
    met: new Map(),
    longestSendSeconds: 0,
  };
  for await (const page of walkLog(log, PREFIXES)) for (const event of page) collect(decodeSealed(event), known);
  const taken = [...known.taken].flatMap(([invoiceId, all]) =>
    known.open.has(invoiceId) ? all : takenSinceOf(all, takenSince),
  );
  const bySeries = groupedBy(taken, ({ stream }) => stream);
  return {
    companies: known.companies,
    open: [...known.open.values()],
    takers: [...new Set(taken.map(({ taker }) => taker))],
    metBy: (note) => known.met.get(placeOf(note)),
    longestSendSeconds: known.longestSendSeconds,
    series: [...known.series].map(([stream, one]) => {
      const own = bySeries.get(stream) ?? [];
      return { ...one, taken: own.map(({ number }) => number), attempted: own.flatMap(({ dpsIds }) => dpsIds) };
    }),
  };
};

const takenSinceOf = (all: readonly Taken[], since: Instant): readonly Taken[] =>
  all.filter(({ at }) => !isBefore(at, since));

/** A note at the authorizer, by the company and mode in which it was asked for. */
export type NoteKey = { mode: Mode; companyId: CompanyId; accessKey: AccessKey };

const placeOf = ({ mode, companyId, accessKey }: NoteKey): string => `${mode} ${companyId} ${accessKey}`;

/** The import that holds a note. */
type HoldingImport = { stream: StreamName; amount: string };

/** The notes that invoices of a log hold. */
export type HeldNotes = {
  has(note: NoteKey): boolean;
  /** The import that holds the live note, where that import has another amount than the note: its line had the key of another note, or a wrong amount. */
  importOfOtherAmount(note: NoteKey & { amount: string }): HoldingImport | undefined;
};

/**
 * Says of the given notes whether an invoice of the same company and mode holds them: issued, settled or imported. An import under another company or
 * mode refuses no repeated request of this one, so it accounts for no note.
 */
export const notesInLog = async (log: Pick<EventLog, 'readAll'>, notes: readonly NoteKey[]): Promise<HeldNotes> => {
  const wanted = new Set(notes.map(placeOf));
  return await heldInLog(log, wanted.size > 0, (note) => wanted.has(placeOf(note)));
};

/** Says of each note of these companies what `notesInLog` says. */
export const notesInLogOf = (log: Pick<EventLog, 'readAll'>, companies: ReadonlySet<CompanyId>): Promise<HeldNotes> =>
  heldInLog(log, companies.size > 0, ({ companyId }) => companies.has(companyId));

const heldInLog = async (
  log: Pick<EventLog, 'readAll'>,
  isAnyWanted: boolean,
  isWanted: (note: NoteKey) => boolean,
): Promise<HeldNotes> => {
  const held = new Set<string>();
  const imports = new Map<string, HoldingImport>();
  const notes: HeldNotes = {
    has: (note) => held.has(placeOf(note)),
    importOfOtherAmount: ({ amount, ...note }) => {
      const one = imports.get(placeOf(note));
      const cents = centsFromDecimal(amount);
      const isOther =
        note.mode === 'live' && cents !== undefined && one !== undefined && centsFromDecimal(one.amount) !== cents;
      return isOther ? one : undefined;
    },
  };
  if (!isAnyWanted) return notes;
  for await (const page of walkLog(log, Object.values(invoicePrefix))) {
    for (const { stream, type, data } of page) {
      const address = parseInvoiceStream(stream);
      const holds = type === 'Authorized' || type === 'IndeterminateResolved' || type === 'InvoiceImported';
      const { accessKey, amountInCents } = data;
      if (!holds || address === undefined || typeof accessKey !== 'string') continue;
      const note = { ...address, accessKey };
      if (!isWanted(note)) continue;
      held.add(placeOf(note));
      if (type === 'InvoiceImported' && typeof amountInCents === 'number')
        imports.set(placeOf(note), { stream, amount: decimalFromCents(amountInCents) });
    }
  }
  return notes;
};

/** What of a note says which acceptances it may be of. */
type NoteContent = NoteKey & { amount: string; authorizedAt: Instant };

/**
 * Says of each of the given notes which invoices of its company and mode were accepted with its amount, at most `seconds` before or after it. Sealed
 * fields stay closed, so these are few of the invoices to look at, and not yet the one that the note belongs to.
 */
export const acceptedLike = async (
  log: Pick<EventLog, 'readAll'>,
  notes: readonly NoteContent[],
  seconds: number,
): Promise<(note: NoteKey) => readonly StreamName[]> => {
  const found = new Map<string, StreamName[]>();
  const streamsOf = (note: NoteKey): readonly StreamName[] => found.get(placeOf(note)) ?? [];
  if (notes.length === 0) return streamsOf;
  for await (const page of walkLog(log, Object.values(invoicePrefix))) {
    for (const stored of page) {
      if (stored.type !== 'InvoiceAccepted') continue;
      const { stream, data } = decodeSealed(stored) as Extract<DecodedEvent<InvoiceEvent>, { type: 'InvoiceAccepted' }>;
      for (const note of notes) {
        const isNear = Math.abs(epochMs(data.acceptedAt) - epochMs(note.authorizedAt)) <= seconds * 1_000;
        const isOfCaller = data.mode === note.mode && data.companyId === note.companyId;
        if (isOfCaller && isNear && centsFromDecimal(note.amount) === data.amountInCents)
          found.set(placeOf(note), [...(found.get(placeOf(note)) ?? []), stream]);
      }
    }
  }
  return streamsOf;
};

const collect = (event: DecodedEvent, known: KnownWorkSoFar): void => {
  const { stream } = event;
  if (stream.startsWith(companyPrefix)) noteCompany(event as DecodedEvent<CompanyEvent>, known);
  else if (stream.startsWith(dpsPrefix.live) || stream.startsWith(dpsPrefix.test))
    noteNumber(event as DecodedEvent<DpsNumberEvent>, known);
  else noteInvoice(event as DecodedEvent<InvoiceEvent>, known);
};

const noteCompany = (event: DecodedEvent<CompanyEvent>, { companies }: KnownWorkSoFar): void => {
  const companyId: CompanyId = event.stream.slice(companyPrefix.length);
  const before = companies.get(companyId) ?? [];
  if (event.type !== 'CompanyRegistered' && event.type !== 'CompanyChanged') return;
  const { city, state, dps } = event.data.registration;
  companies.set(companyId, [...before, { city, state, dps }]);
};

const noteNumber = (event: DecodedEvent<DpsNumberEvent>, { series: all, taken }: KnownWorkSoFar): void => {
  const { stream } = event;
  const address = parseDpsStream(stream);
  if (address === undefined) return;
  if (event.type === 'DpsNumberAllocated') {
    const { invoiceId, number, at } = event.data;
    const taker = invoiceStream(address.mode, address.companyId, invoiceId);
    taken.set(invoiceId, [...(taken.get(invoiceId) ?? []), { stream, taker, number, at, attempts: [], dpsIds: [] }]);
  }
  const { nextNumber } = event.data;
  const known = all.get(stream);
  const isBegun = known?.isBegun === true || event.type !== 'DpsNumberMoved';
  const before = event.type === 'DpsNumberAllocated' ? undefined : known;
  const isMoved = before !== undefined && before.nextNumber < nextNumber;
  const movedPast = [...(before?.movedPast ?? []), ...(isMoved ? [before.nextNumber] : [])];
  all.set(stream, { ...address, nextNumber, isBegun, movedPast });
};

const noteInvoice = (event: DecodedEvent<InvoiceEvent>, known: KnownWorkSoFar): void => {
  const { stream, type } = event;
  const { open, taken, takenSince } = known;
  const address = parseInvoiceStream(stream);
  if (address === undefined) return;
  const { mode, companyId, invoiceId } = address;
  const change = (changed: (all: readonly Taken[]) => readonly Taken[]): void => {
    const left = changed(taken.get(invoiceId) ?? []);
    if (left.length === 0) taken.delete(invoiceId);
    else taken.set(invoiceId, left);
  };
  if (event.type === 'IssuanceAttempted') {
    const { attempt, series, number, dpsId, attemptedAt, deadlineAt } = event.data;
    known.longestSendSeconds = Math.max(known.longestSendSeconds, (epochMs(deadlineAt) - epochMs(attemptedAt)) / 1_000);
    const numbers = dpsStream(mode, companyId, series);
    change((all) =>
      all.map((one) =>
        one.stream === numbers && one.number === number
          ? { ...one, attempts: [...one.attempts, attempt], dpsIds: [...one.dpsIds, dpsId] }
          : one,
      ),
    );
  }
  if (event.type === 'NumberConflictFound') {
    const { accessKey, sameContent } = event.data;
    const place = placeOf({ mode, companyId, accessKey });
    if (sameContent || !known.met.has(place)) known.met.set(place, { stream, sameContent });
  }
  if (event.type === 'Authorized' && event.data.attemptLost !== true) {
    const { attempt } = event.data;
    change((all) => all.filter(({ attempts }) => !attempts.includes(attempt)));
  }
  if (type === 'InvoiceAccepted') open.set(invoiceId, stream);
  if (!ENDS_SEARCH.has(type)) return;
  open.delete(invoiceId);
  change((all) => takenSinceOf(all, takenSince));
};
