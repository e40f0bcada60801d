import { type CompanyId, parseInvoiceStream, publicInvoiceId, type StreamName } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import type { InvoiceEventData } from '../../../domain/invoice/events.js';
import { allCameToNothing, type InvoiceFacts } from '../../../domain/invoice/state.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { EventLog } from '../../../ports/event-log.js';
import { loadSealedInvoice } from '../../read/read-invoice.js';
import { standsUnder } from '../sent-under.js';
import type { PlannedImport } from './import-line.js';
import { LINES_AT_ONCE } from './import-problems.js';
import { eventsPastRows, isForeign, type KeyHoldersDeps, rowsOf, type UnsettledDeps } from './notes-on-record.js';

/** A note that an invoice without a known outcome met under its number. */
type NoteMet = Pick<InvoiceEventData<'NumberConflictFound'>, 'accessKey' | 'sameContent'> &
  Pick<InvoiceFacts, 'invoiceId' | 'amountInCents'> & {
    /** The invoice has no outcome yet. */
    isOpen: boolean;
    /** No note came of the attempts of the invoice. It gets the next number once the series is released. */
    waitsToBeSent: boolean;
    /** The note has the number of the invoice, and no look-up of the invoice has shown it. */
    isUnseen?: true;
  };

type MetDeps = UnsettledDeps & { log: KeyHoldersDeps['log'] & Pick<EventLog, 'read'> } & Pick<
    KeyHoldersDeps,
    'invoiceRowsUpTo'
  > & { otherSales: readonly string[] };

type Line = { number: number; plan: Pick<PlannedImport, 'liveKey' | 'data' | 'dps' | 'stream' | 'namesId'> };

/**
 * What is to be said of lines whose note another invoice met under its number, or has there, and which may be of the same sale: amount or content are equal.
 * `refusal`: that invoice is not over, so the sale might get a second note; or it can still get this note. None where the operator says that the note
 * (`otherSales`) is of another sale.
 */
export type MetLine = { number: number; refusal?: string; warning: string };

/** Only its client can say whether a live note is of the invoice that met it. */
export const metLines = async (lines: readonly Line[], deps: MetDeps): Promise<readonly MetLine[]> => {
  const found: MetLine[] = [];
  const live = lines.filter(({ plan }) => plan.liveKey !== undefined);
  if (live.length === 0) return found;
  const late = await metSinceRows(deps);
  for (const companyId of new Set(live.map(({ plan }) => plan.data.companyId))) {
    const met = await notesMet(companyId, late, deps);
    const own = live.filter(({ plan }) => plan.data.companyId === companyId);
    const said = await inGroups(LINES_AT_ONCE, own, async ({ number, plan }): Promise<readonly MetLine[]> => {
      const all = met.filter((note) => mayBeSameSale(note, plan));
      const one = all.find(({ isOpen }) => isOpen) ?? all[0] ?? (await unseenNote(plan, deps));
      if (one === undefined) return [];
      const { warning, refusal } = textsOf(one);
      const isDecided =
        deps.otherSales.includes(one.accessKey) || (one.isUnseen === true && (await isOnRecord(plan, deps)));
      return [present({ number, warning, refusal: isDecided ? undefined : refusal })];
    });
    found.push(...said.flat());
  }
  return found;
};

const mayBeSameSale = (
  { invoiceId, accessKey, amountInCents, sameContent }: NoteMet,
  { liveKey, data }: Line['plan'],
): boolean =>
  accessKey === liveKey && invoiceId !== data.invoiceId && (sameContent || amountInCents === data.amountInCents);

/** Whether the line gives the note to an invoice on record, by its id: the operator has said of which sale the note is. */
export const isOnRecord = async (
  { namesId, stream }: Pick<PlannedImport, 'namesId' | 'stream'>,
  { store }: Pick<UnsettledDeps, 'store'>,
): Promise<boolean> => namesId === true && (await loadSealedInvoice(stream, store)).state.kind === 'invoice';

/** Only `xml_file` names the DPS id of the note. A note that holds what the invoice sent, or may hold it, is refused as its own (`ownerOfDps`). */
const unseenNote = async (
  { liveKey, data, dps, stream }: Line['plan'],
  deps: MetDeps,
): Promise<NoteMet | undefined> => {
  if (dps === undefined || liveKey === undefined) return undefined;
  const standing = await standsUnder({ ...dps, accessKey: liveKey }, data, deps);
  if (standing === undefined || standing.owner !== 'other' || standing.stream === stream) return undefined;
  const { invoice, sameContent } = standing;
  const { invoiceId, amountInCents } = invoice.facts;
  const isOpen = invoice.outcome.status === 'open';
  const note = { accessKey: liveKey, sameContent, invoiceId, amountInCents, isOpen, waitsToBeSent: false };
  return { ...note, isUnseen: true };
};

const notesMet = async (
  companyId: CompanyId,
  late: ReadonlySet<StreamName>,
  deps: UnsettledDeps,
): Promise<readonly NoteMet[]> => {
  const streams = new Set([...late].filter((stream) => parseInvoiceStream(stream)?.companyId === companyId));
  for await (const { stream, invoice } of rowsOf({ companyId, mode: 'live' }, ['processing', 'indeterminate'], deps))
    if (invoice.attempts.some(isForeign)) streams.add(stream);
  const met: NoteMet[] = [];
  for (const stream of streams) {
    const { state, events } = await loadSealedInvoice(stream, deps.store);
    if (state.kind !== 'invoice' || !['open', 'indeterminate'].includes(state.outcome.status)) continue;
    const { invoiceId, amountInCents } = state.facts;
    const isOpen = state.outcome.status === 'open';
    const waitsToBeSent = isOpen && allCameToNothing(state.attempts);
    for (const { type, data } of events) {
      if (type !== 'NumberConflictFound') continue;
      const { accessKey, sameContent } = data;
      met.push({ accessKey, sameContent, invoiceId, amountInCents, isOpen, waitsToBeSent });
    }
  }
  return met;
};

/** The live invoices that met a note since their rows were made. The position is read before the rows, which may be further by then. */
const metSinceRows = async ({ log, invoiceRowsUpTo }: MetDeps): Promise<ReadonlySet<StreamName>> => {
  const streams = new Set<StreamName>();
  for await (const { stream, type } of eventsPastRows(await invoiceRowsUpTo(), log))
    if (type === 'NumberConflictFound' && parseInvoiceStream(stream)?.mode === 'live') streams.add(stream);
  return streams;
};

const textsOf = ({
  invoiceId,
  accessKey,
  sameContent,
  isOpen,
  waitsToBeSent,
  isUnseen,
}: NoteMet): Omit<MetLine, 'number'> => {
  const id = publicInvoiceId(invoiceId);
  const verb = isUnseen === true ? 'has' : 'met';
  const met = `${id} ${verb} this note under its number, with ${sameContent ? 'equal content' : 'equal amount'}`;
  const another = `Where it is of another sale, give it with --other-sale ${accessKey}`;
  if (!isOpen) {
    const warning = `${met}, and does not get the note now: where the line is of the same sale, leave ${id} indeterminate and tell its client that this note counts`;
    if (isUnseen !== true || !sameContent) return { warning };
    return {
      warning,
      refusal: `${met}: where the line is of the same sale, nfse invoice resolve ${id} --as issued --evidence portal. ${another}`,
    };
  }
  const warning = `${met}, and has no outcome yet: where the line is of the same sale and ${id} is issued too, one of the two notes is too many`;
  if (sameContent)
    return {
      warning,
      refusal: `${met}: where the line is of the same sale, nfse invoice resolve ${id} --as issued --evidence portal once that invoice is indeterminate. Where it is of another sale, give the line again then`,
    };
  if (isUnseen === true)
    return {
      warning,
      refusal: `${met}, and may be sent under the next number: where the line is of the same sale, give it again when that invoice has met the note or has an outcome. ${another}`,
    };
  if (!waitsToBeSent) return { warning };
  return {
    warning,
    refusal: `${met}, and is sent under the next number once its series goes on: where the line is of the same sale, give it with ${byId(id)}. Where it is of another sale, give it again when that invoice has an outcome`,
  };
};

/** How a line gives its note to an invoice that waits to be sent. */
export const byId = (id: string): string => `"id":"${id}", and without reference, description and idempotency_key`;
