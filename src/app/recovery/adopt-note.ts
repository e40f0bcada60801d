import { invoicePrefix, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { buildDps } from '../../domain/dps/build-dps.js';
import { isCustomerNameMissing } from '../../domain/dps/customer.js';
import { decideAuthorized } from '../../domain/invoice/decide-issuance.js';
import { allCameToNothing, hasEndedWithout, type InvoiceState } from '../../domain/invoice/state.js';
import { decideAndAppend } from '../issuing/decide-and-append.js';
import { authorizedFrom, compareNote, mayHaveSameContent } from '../issuing/found-documents.js';
import { unlessUnfit } from '../issuing/stored-documents.js';
import { reserve } from '../operator/import/reservations.js';
import { standsUnder } from '../operator/sent-under.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import type { FoundNote, RecoveryDeps, SeriesToCompare } from './ask-series.js';
import type { KnownWork, Meeting } from './known-work.js';

export type Candidate = LoadedInvoice & { stream: StreamName };

/** Those of these invoices that are of one company and mode, each read once. */
export const candidatesOf = async (
  { mode, companyId }: SeriesToCompare,
  streams: readonly StreamName[],
  { store }: Pick<RecoveryDeps, 'store'>,
): Promise<readonly Candidate[]> => {
  const own = streams.filter((stream) => stream.startsWith(`${invoicePrefix[mode]}${companyId}_`));
  const loaded: Candidate[] = [];
  for (const stream of own) loaded.push({ stream, ...(await loadInvoice(stream, store)) });
  return loaded;
};

/**
 * The invoice among the candidates that sent this note by an attempt that the log has. The number is that invoice's, so the note is of no other invoice,
 * though another sale of the same second, amount, text and customer gives the same DPS under that number.
 */
export const senderOfNote = async (
  found: FoundNote,
  wanted: SeriesToCompare,
  candidates: readonly Candidate[],
  deps: RecoveryDeps,
): Promise<Candidate | undefined> => {
  const { note } = found;
  for (const candidate of candidates) {
    const { state } = candidate;
    if (state.kind !== 'invoice' || state.attempts.every(({ dpsId }) => dpsId !== note.dpsId)) continue;
    if (compareNote(state, note) === 'ours' || (await givesNote(candidate, found, wanted, deps))) return candidate;
  }
  return undefined;
};

/**
 * Whether the invoice was sent as this note. The DPS is a pure function of the acceptance and its number (ADR 2), so an invoice that gives the same
 * digest under the note's number was sent under that number, by events that the log has lost; or another sale with the same DPS was. Without this an open
 * invoice would be sent again under the next number.
 */
export const givesNote = async (
  { events }: Candidate,
  { number, note }: FoundNote,
  { mode, companyId, series }: SeriesToCompare,
  deps: RecoveryDeps,
): Promise<boolean> => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  if (accepted === undefined || !mayHaveSameContent(note, events)) return false;
  const { description, customer } = accepted.data;
  // Without a description, whose key is gone, no DPS can be built, and the invoice cannot be sent either.
  if (description === undefined || isCustomerNameMissing(customer)) return false;
  const identity = await deps.identityOf({ mode, companyId });
  if (identity === undefined) return false;
  const content = { ...accepted.data, description };
  const dps = buildDps({ mode, series, number, accepted: content, currencyCode: deps.currencyCode });
  if (dps.id !== note.dpsId) return false;
  const signed = await deps.signer.signDps(dps.xml, identity).catch(unlessUnfit);
  return signed?.digest === note.digest;
};

/** Notes of one series that no invoice of the log holds. */
type SeriesNotes = { wanted: SeriesToCompare; notes: readonly FoundNote[] };

/** A note that no open invoice took. */
export type LeftNote = {
  wanted: SeriesToCompare;
  found: FoundNote;
  /** The invoice that the note belongs to. Another outcome was recorded on it. */
  owner?: StreamName;
  /** An open invoice gives the same DPS, and has an attempt that may have left another note. */
  mayBeSent?: true;
  /** The invoice that met the note under its number, with its own content. */
  metBy?: StreamName;
  /** The invoice that met the note under its number, with other content. */
  metOtherBy?: StreamName;
  /** `metOtherBy` is indeterminate, the note has its number, and no look-up of that invoice has shown the note. */
  unseen?: true;
};

/** `withNote`: the invoices that one of the notes belongs to. */
type Adopted = { adopted: ReadonlyMap<SeriesToCompare, number>; left: readonly LeftNote[]; withNote: Set<StreamName> };

/**
 * Records each note on the open invoice that it belongs to. The senders of all notes are found first, because equal sales of one second give the same DPS
 * under each number: an invoice that has its own note takes no other one.
 */
export const adoptNotes = async (
  all: readonly SeriesNotes[],
  { open, takers, metBy }: Pick<KnownWork, 'open' | 'takers' | 'metBy'>,
  deps: RecoveryDeps,
): Promise<Adopted> => {
  const withNote = new Set<StreamName>();
  const left: LeftNote[] = [];
  const unsent: SeriesNotes[] = [];
  for (const { wanted, notes } of all) {
    const candidates = notes.length === 0 ? [] : await candidatesOf(wanted, [...new Set([...open, ...takers])], deps);
    const others: FoundNote[] = [];
    for (const found of notes) {
      const sender = await senderOfNote(found, wanted, candidates, deps);
      if (sender === undefined) {
        others.push(found);
        continue;
      }
      withNote.add(sender.stream);
      // The issuing protocol finds the note of an attempt that the log has, unless the invoice has ended as failed or with another note.
      if (hasEndedWithout(found.note.accessKey, sender.state)) left.push({ wanted, found, owner: sender.stream });
    }
    unsent.push({ wanted, notes: others });
  }
  const adopted = new Map<SeriesToCompare, number>();
  for (const { wanted, notes } of unsent) {
    const candidates = notes.length === 0 ? [] : await candidatesOf(wanted, open, deps);
    for (const found of notes) {
      const free = candidates.filter(({ stream }) => !withNote.has(stream));
      const { stream, mayBeSent } = await takerOf(found, wanted, free, deps);
      if (stream !== undefined && (await keepNote(stream, found, deps)) && (await adoptNote(stream, found, deps))) {
        withNote.add(stream);
        adopted.set(wanted, (adopted.get(wanted) ?? 0) + 1);
        continue;
      }
      const { mode, companyId } = wanted;
      const { accessKey } = found.note;
      const met = metBy({ mode, companyId, accessKey }) ?? (await unseenBy(found, wanted, deps));
      const meeting = met && { [met.sameContent ? 'metBy' : 'metOtherBy']: met.stream };
      left.push({ ...present({ wanted, found, owner: stream, mayBeSent, unseen: met?.unseen }), ...meeting });
    }
  }
  return { adopted, left, withNote };
};

/** An open invoice is looked up after the pause, and is named as one that may have been sent (see `Repeats`). */
const unseenBy = async (
  { note }: FoundNote,
  wanted: SeriesToCompare,
  deps: RecoveryDeps,
): Promise<Meeting | undefined> => {
  const standing = await standsUnder(note, wanted, deps);
  if (standing?.invoice.outcome.status !== 'indeterminate') return undefined;
  const { stream, sameContent } = standing;
  return { stream, sameContent, unseen: true };
};

/** The first open invoice that gives the note and whose own attempts have left none. An attempt of another may still become a note. */
const takerOf = async (
  found: FoundNote,
  wanted: SeriesToCompare,
  candidates: readonly Candidate[],
  deps: RecoveryDeps,
): Promise<{ stream?: StreamName; mayBeSent?: true }> => {
  let mayBeSent = false;
  for (const candidate of candidates) {
    const { stream, state } = candidate;
    if (state.kind !== 'invoice' || state.outcome.status !== 'open') continue;
    if (!(await givesNote(candidate, found, wanted, deps))) continue;
    if (allCameToNothing(state.attempts)) return { stream };
    mayBeSent = true;
  }
  return mayBeSent ? { mayBeSent } : {};
};

/**
 * Reserves a live note for the invoice, as an import and a settlement do: another operator may give the note to another invoice at the same time. False
 * when it is reserved for another invoice.
 */
const keepNote = async (stream: StreamName, { note }: FoundNote, deps: RecoveryDeps): Promise<boolean> => {
  const invoice = parseInvoiceStream(stream);
  if (invoice === undefined || invoice.mode === 'test') return true;
  return (await reserve({ data: invoice, liveKey: note.accessKey }, deps.clock.now(), deps)) === undefined;
};

/** Records the found note as the outcome of the invoice; false when the invoice has another outcome meanwhile. Throws `StreamContended`. */
export const adoptNote = (
  stream: StreamName,
  { note }: Pick<FoundNote, 'note'>,
  deps: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<boolean> => {
  const at = deps.clock.now();
  return decideAndAppend(stream, 'reconcile_note', deps, (state) =>
    decideAuthorized(state, { ...authorizedFrom(note, lostAttempt(state), 'lookup', at), attemptLost: true }),
  );
};

/** The attempt after the last one in the log; its event is among those that were lost. */
const lostAttempt = (state: InvoiceState): number =>
  state.kind === 'invoice' ? (state.attempts.at(-1)?.attempt ?? 0) + 1 : 1;
