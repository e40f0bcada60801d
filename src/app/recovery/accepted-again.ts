import { publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { type Instant, laterOf } from '../../domain/common/time.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { hasMetOther } from '../../domain/invoice/note-met.js';
import { allCameToNothing, type Invoice } from '../../domain/invoice/state.js';
import { hasSameAmountAndCustomer } from '../issuing/found-documents.js';
import { type Candidate, candidatesOf } from './adopt-note.js';
import type { FoundNote, RecoveryDeps, SeriesToCompare } from './ask-series.js';
import { sendableUntil, slowerNow } from './end-of-sends.js';

type Ownerless = { found: FoundNote; owner?: StreamName; metBy?: StreamName };

/** Open invoices that a repeated request may have made of a note that the log has lost, by public ids. */
export type Repeats = {
  /** Those that have no note and cannot have one, so they may take this note. */
  acceptedAgain?: readonly string[];
  /** Those of which an attempt may have left a note. */
  sentAgain?: readonly string[];
  /** Those of `acceptedAgain` that met the note under their number. An import takes it as another sale's only once they have an outcome. */
  metAgain?: readonly string[];
  /** Until when one of the invoices may be sent, as a second note. Absent when none will be sent. */
  sendableUntil?: Instant;
};

/**
 * Adds to each of these notes without an invoice the open invoices that have its amount and customer. A client may repeat a request whose acceptance
 * the log has lost, and a process that has not seen the loss accepts the request again. The acceptance then has another instant, and so its DPS
 * another digest, and its description another text where a date marker was expanded on another day. That process may also have begun to send the
 * invoice. `open` leaves out the invoices whose own note was found; the invoice that met the note under its number is named apart from these.
 */
export const withRepeats = async <Note extends Ownerless>(
  notes: readonly Note[],
  wanted: SeriesToCompare,
  open: readonly StreamName[],
  deps: Pick<RecoveryDeps, 'store' | 'clock' | 'databaseNow' | 'limits'>,
): Promise<readonly (Note & Repeats)[]> => {
  if (notes.length === 0) return [];
  const candidates = await candidatesOf(wanted, open, deps);
  const now = await slowerNow(deps);
  return notes.map((left) => {
    if (left.owner !== undefined) return left;
    const equal = candidates.filter(
      ({ stream, events }) => stream !== left.metBy && hasSameAmountAndCustomer(left.found.note, events),
    );
    const met = equal.filter(({ events }) => hasMetOther(events, left.found.note.accessKey)).flatMap(openInvoiceOf);
    return { ...left, ...repeatsAmong(equal.flatMap(openInvoiceOf), met, deps.limits, now) };
  });
};

const repeatsAmong = (invoices: readonly Invoice[], met: readonly Invoice[], limits: Limits, now: Instant): Repeats => {
  const idsOf = (mayHaveNote: boolean, among = invoices): readonly string[] | undefined => {
    const own = among.filter(({ attempts }) => allCameToNothing(attempts) !== mayHaveNote);
    return own.length === 0 ? undefined : own.map(({ facts }) => publicInvoiceId(facts.invoiceId));
  };
  const [first, ...others] = invoices.flatMap((invoice) => sendableUntil(invoice, limits, now) ?? []);
  const until = first && others.reduce(laterOf, first);
  const metAgain = idsOf(false, met);
  return present({ acceptedAgain: idsOf(false), sentAgain: idsOf(true), metAgain, sendableUntil: until });
};

/** Without a description, whose key is gone, an invoice without an attempt cannot be sent. */
const openInvoiceOf = ({ state, events }: Candidate): readonly Invoice[] => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'open') return [];
  const hasContent = events.some((event) => event.type === 'InvoiceAccepted' && event.data.description !== undefined);
  return hasContent || state.attempts.length > 0 ? [state] : [];
};
