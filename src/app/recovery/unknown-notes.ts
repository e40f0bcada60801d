import { type AccessKey, SUBSTITUTION_EVENT } from '../../domain/common/access-key.js';
import {
  type CompanyId,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { DAY_SECONDS, type Instant, isBefore } from '../../domain/common/time.js';
import { isDoubtful } from '../../domain/invoice/sent-document.js';
import { type InvoiceStatus, invoiceStatus } from '../../domain/invoice/status.js';
import type { Caller } from '../../ports/authorizer.js';
import { missingKeeper } from '../operator/import/reservations.js';
import { loadInvoice, loadSealedInvoice } from '../read/read-invoice.js';
import type { Repeats } from './accepted-again.js';
import { candidatesOf, givesNote, type LeftNote, senderOfNote } from './adopt-note.js';
import type { RecoveryDeps } from './ask-series.js';
import { acceptedLike, type HeldNotes } from './known-work.js';
import { type Acceptance, acceptedNotes } from './recorded-recoveries.js';

/** A note at the authorizer that no invoice of the log accounts for. It may have repeats only without an `owner`. */
export type UnknownNote = Repeats & {
  mode: Mode;
  companyId: CompanyId;
  series: string;
  number: number;
  accessKey: AccessKey;
  authorizedAt: Instant;
  amount: string;
  /** The id of its invoice, where the read model still has that. */
  once?: string;
  /** The invoice of the log that the note belongs to. It has another note or outcome, so it cannot take this note. */
  owner?: NoteOwner;
  /** The invoice without an outcome that met the note under its number, with its own content: support gives it the note (see `noteMet`). */
  metBy?: NoteOwner;
  /** The indeterminate invoice that met the note with other content, as a repeat on another day does. */
  metOther?: string;
  /** The note is under the number of `metOther`, whose look-ups have not shown it. */
  unseen?: true;
  /** Who has accepted the note in an earlier recovery of this log. Nothing new became known of the note since. */
  accepted?: Acceptance;
  /** The import that holds the note with another amount. */
  importedAs?: { id: string; amount: string };
  /** The invoice for which an import has reserved the note, and which is not on record (see `missingKeeper`). */
  keptFor?: string;
  /** When an event canceled the note. Absent where that was not asked or the answer proves nothing, and of a note that another one replaces. */
  canceledAt?: Instant;
};

/** Whether the note keeps issuing paused. One of test mode is no fiscal document; one that may be issued a second time holds the pause in any case. */
export const holdsPause = (
  { mode, accepted, sendableUntil }: Pick<UnknownNote, 'mode' | 'accepted' | 'sendableUntil'>,
  acceptUnknown: boolean,
): boolean => mode === 'live' && (sendableUntil !== undefined || !(acceptUnknown || accepted !== undefined));

/** `id` as the API shows it. */
type NoteOwner = { id: string; status: InvoiceStatus };

/**
 * An invoice that took a note in an earlier run, or has another outcome, is not open any more. Without its name the operator would be advised to
 * import its second note as one more invoice.
 */
export const unknownNotesOf = async (
  left: readonly (LeftNote & Repeats)[],
  deps: RecoveryDeps,
): Promise<readonly UnknownNote[]> => {
  const { queuedSeconds, processingSeconds } = deps.limits;
  const contents = left.filter(hasNoKnownOwner).map(({ wanted: { mode, companyId }, found: { note } }) => {
    const { accessKey, authorizedAt, content } = note;
    return { mode, companyId, accessKey, authorizedAt, amount: content.amount };
  });
  // A send begins within these limits of its acceptance. The day is for clocks that differ.
  const seconds = queuedSeconds + processingSeconds + DAY_SECONDS;
  const streamsLike = await acceptedLike(deps.log, contents, seconds);
  const accepted = await acceptedNotes(deps.store);
  const unknown: UnknownNote[] = [];
  for (const note of left) {
    const { wanted, found, owner } = note;
    const { mode, companyId } = wanted;
    const streams = hasNoKnownOwner(note) ? streamsLike({ mode, companyId, accessKey: found.note.accessKey }) : [];
    const acceptance = accepted({ mode, companyId, accessKey: found.note.accessKey });
    unknown.push(await unknownNoteOf(note, owner ?? (await ownerAmong(streams, note, deps)), acceptance, deps));
  }
  return unknown;
};

/** Where the note may be that of an open invoice, a settled one with the same DPS is not named in its place: a note of the open one may still be needed. */
const hasNoKnownOwner = ({ owner, mayBeSent }: LeftNote): boolean => owner === undefined && mayBeSent === undefined;

const ownerAmong = async (
  streams: readonly StreamName[],
  { wanted, found }: LeftNote,
  deps: RecoveryDeps,
): Promise<StreamName | undefined> => {
  const candidates = await candidatesOf(wanted, streams, deps);
  const sender = await senderOfNote(found, wanted, candidates, deps);
  if (sender !== undefined) return sender.stream;
  for (const candidate of candidates) if (await givesNote(candidate, found, wanted, deps)) return candidate.stream;
  return undefined;
};

const unknownNoteOf = async (
  {
    wanted: { mode, companyId, series },
    found: { number, note },
    metBy,
    metOtherBy,
    unseen,
    acceptedAgain,
    sentAgain,
    metAgain,
    sendableUntil,
  }: LeftNote & Repeats,
  owner: StreamName | undefined,
  acceptance: Acceptance | undefined,
  deps: RecoveryDeps,
): Promise<UnknownNote> => {
  const { byAccessKeys, store } = deps;
  const { accessKey, authorizedAt, content } = note;
  const [row] = await byAccessKeys([accessKey]);
  const { amount } = content;
  const keeper = mode === 'live' ? await missingKeeper(accessKey, { mode, companyId }, store) : undefined;
  const keptFor = keeper && publicInvoiceId(keeper);
  const place = { mode, companyId, series, number, accessKey, authorizedAt, amount, keptFor };
  const once = publicIdOf(row?.stream);
  // The rows are rebuilt when a recovery ends, so a row of the note is of an invoice that the log has lost since.
  const accepted = once === undefined ? acceptance : undefined;
  if (owner === undefined) {
    const canceledAt = accepted === undefined ? await canceledAtOf({ mode, companyId }, accessKey, deps) : undefined;
    const met = metBy && (await ownerOf(metBy, store));
    const repeats = { canceledAt, acceptedAgain, sentAgain, metAgain, sendableUntil };
    // The note is still to be given to that invoice, also where the operator had to accept it before the invoice could end.
    if (met && TAKES_NOTE.has(met.status)) return present({ ...place, once, metBy: met, unseen, ...repeats });
    const other = metOtherBy && (await ownerOf(metOtherBy, store));
    const metOther = other?.status === 'indeterminate' ? other.id : undefined;
    const isUnseen = metOther === undefined ? undefined : unseen;
    return present({ ...place, once, accepted, metOther, unseen: isUnseen, ...repeats });
  }
  const isDecided = accepted !== undefined && !(await hasChangedSince(owner, accepted.at, store));
  const owned = { owner: await ownerOf(owner, store), accepted: isDecided ? accepted : undefined };
  return present({ ...place, once, ...owned });
};

/**
 * The notes that an import holds with another amount. A client that cancels such an invoice may cancel the note of another sale, so an operator has to
 * know before the API answers again.
 */
export const importedOtherwise = async (
  notes: readonly Pick<LeftNote, 'wanted' | 'found'>[],
  held: HeldNotes,
  store: RecoveryDeps['store'],
): Promise<readonly UnknownNote[]> => {
  const acceptanceOf = await acceptedNotes(store);
  const others: UnknownNote[] = [];
  for (const { wanted, found } of notes) {
    const { mode, companyId, series } = wanted;
    const { accessKey, authorizedAt, content } = found.note;
    const note = { mode, companyId, accessKey, amount: content.amount };
    const one = held.importOfOtherAmount(note);
    const id = publicIdOf(one?.stream);
    if (one === undefined || id === undefined) continue;
    const acceptance = acceptanceOf(note);
    const isDecided = acceptance !== undefined && !(await hasChangedSince(one.stream, acceptance.at, store));
    const place = { series, number: found.number, authorizedAt, importedAs: { id, amount: one.amount } };
    others.push(present({ ...note, ...place, accepted: isDecided ? acceptance : undefined }));
  }
  return others;
};

/** A note that another one replaces stays `issued` for an import (CANCEL-3), and a later comparison finds the event (TRANS-9). */
const canceledAtOf = async (
  caller: Caller,
  accessKey: AccessKey,
  { authorizer }: RecoveryDeps,
): Promise<Instant | undefined> => {
  const answer = await authorizer.findCancellation(caller, accessKey);
  if (answer.kind !== 'found' || answer.found.eventType === SUBSTITUTION_EVENT) return undefined;
  return isDoubtful(answer.found) ? undefined : answer.found.registeredAt;
};

/** Whether the owner of a note has got events since the note was accepted: the operator knew nothing of these. */
const hasChangedSince = async (owner: StreamName, at: Instant, store: RecoveryDeps['store']): Promise<boolean> => {
  const { events } = await loadSealedInvoice(owner, store);
  return events.some(({ metadata: { recordedAt } }) => recordedAt === undefined || isBefore(at, recordedAt));
};

/** With another outcome the invoice does not get the note. */
const TAKES_NOTE: ReadonlySet<InvoiceStatus> = new Set<InvoiceStatus>(['processing', 'indeterminate']);

const ownerOf = async (stream: StreamName, store: RecoveryDeps['store']): Promise<NoteOwner | undefined> => {
  const { state } = await loadInvoice(stream, store);
  const id = publicIdOf(stream);
  return state.kind === 'invoice' && id !== undefined ? { id, status: invoiceStatus(state) } : undefined;
};

/** The id of the invoice with this stream, as the API shows it. */
const publicIdOf = (stream: StreamName | undefined): string | undefined => {
  const address = stream === undefined ? undefined : parseInvoiceStream(stream);
  return address && publicInvoiceId(address.invoiceId);
};
