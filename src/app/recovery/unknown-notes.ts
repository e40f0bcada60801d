import type { AccessKey } from '../../domain/common/access-key.js';
import {
  type CompanyId,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { DAY_SECONDS } from '../../domain/common/time.js';
import { type InvoiceStatus, invoiceStatus } from '../../domain/invoice/status.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { Repeats } from './accepted-again.js';
import { candidatesOf, givesNote, type LeftNote, senderOfNote } from './adopt-note.js';
import type { RecoveryDeps } from './ask-series.js';
import { acceptedLike } from './known-work.js';

/**
 * A note at the authorizer that no invoice of the log accounts for. `once`: the id of its invoice, where the read model still has it. `owner`: the invoice
 * of the log that it belongs to, and that cannot take it, because that invoice has another note or outcome. Without an owner it may have repeats. `metBy`:
 * the invoice that met it under its number, with its own content, and has no outcome of its own: support gives it the note (see `noteMet`).
 */
export type UnknownNote = Repeats & {
  mode: Mode;
  companyId: CompanyId;
  series: string;
  number: number;
  accessKey: AccessKey;
  authorizedAt: string;
  amount: string;
  once?: string;
  owner?: NoteOwner;
  metBy?: NoteOwner;
};

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
  const unknown: UnknownNote[] = [];
  for (const note of left) {
    const { wanted, found, owner } = note;
    const { mode, companyId } = wanted;
    const streams = hasNoKnownOwner(note) ? streamsLike({ mode, companyId, accessKey: found.note.accessKey }) : [];
    unknown.push(await unknownNoteOf(note, owner ?? (await ownerAmong(streams, note, deps)), deps));
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
    acceptedAgain,
    sentAgain,
    sendableUntil,
  }: LeftNote & Repeats,
  owner: StreamName | undefined,
  { byAccessKeys, store }: RecoveryDeps,
): Promise<UnknownNote> => {
  const { accessKey, authorizedAt, content } = note;
  const [row] = await byAccessKeys([accessKey]);
  const { amount } = content;
  const place = { mode, companyId, series, number, accessKey, authorizedAt, amount };
  const once = publicIdOf(row?.stream);
  if (owner === undefined) {
    const met = metBy && (await ownerOf(metBy, store));
    const repeats = { acceptedAgain, sentAgain, sendableUntil };
    return present({ ...place, once, metBy: met && TAKES_NOTE.has(met.status) ? met : undefined, ...repeats });
  }
  return present({ ...place, once, owner: await ownerOf(owner, store) });
};

/** With another outcome the invoice does not get the note. */
const TAKES_NOTE: ReadonlySet<InvoiceStatus> = new Set<InvoiceStatus>(['processing', 'indeterminate']);

const ownerOf = async (stream: StreamName, store: RecoveryDeps['store']): Promise<NoteOwner | undefined> => {
  const { state } = await loadInvoice(stream, store);
  const id = publicIdOf(stream);
  return state.kind === 'invoice' && id !== undefined ? { id, status: invoiceStatus(state) } : undefined;
};

const publicIdOf = (stream: string | undefined): string | undefined => {
  const address = stream === undefined ? undefined : parseInvoiceStream(stream);
  return address && publicInvoiceId(address.invoiceId);
};
