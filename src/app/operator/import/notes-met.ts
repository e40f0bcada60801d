import { type CompanyId, parseInvoiceStream, publicInvoiceId, type StreamName } from '../../../domain/common/ids.js';
import type { InvoiceEventData } from '../../../domain/invoice/events.js';
import { allCameToNothing, type InvoiceFacts } from '../../../domain/invoice/state.js';
import { loadSealedInvoice } from '../../read/read-invoice.js';
import type { PlannedImport } from './import-line.js';
import { eventsPastRows, isForeign, type KeyHoldersDeps, rowsOf, type UnsettledDeps } from './notes-on-record.js';

/**
 * A note that an invoice without a known outcome met under its number. `waitsToBeSent`: no note came of its attempts, and it gets the next number once
 * the series is released. `isOpen`: it has no outcome yet.
 */
type NoteMet = Pick<InvoiceEventData<'NumberConflictFound'>, 'accessKey' | 'sameContent'> &
  Pick<InvoiceFacts, 'invoiceId' | 'amountInCents'> & { isOpen: boolean; waitsToBeSent: boolean };

type MetDeps = UnsettledDeps & Pick<KeyHoldersDeps, 'log' | 'invoiceRowsUpTo'>;

type Line = { number: number; plan: Pick<PlannedImport, 'liveKey' | 'data'> };

/**
 * What is to be said of lines whose note another invoice met under its number, and which may be of the same sale: amount or content are equal. `refusal`:
 * that invoice is not over, so the sale might get a second note.
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
    for (const { number, plan } of live.filter(({ plan: { data } }) => data.companyId === companyId)) {
      const all = met.filter((note) => mayBeSameSale(note, plan));
      const one = all.find(({ isOpen }) => isOpen) ?? all[0];
      if (one !== undefined) found.push({ number, ...textsOf(one) });
    }
  }
  return found;
};

const mayBeSameSale = (
  { invoiceId, accessKey, amountInCents, sameContent }: NoteMet,
  { liveKey, data }: Line['plan'],
): boolean =>
  accessKey === liveKey && invoiceId !== data.invoiceId && (sameContent || amountInCents === data.amountInCents);

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

const textsOf = ({ invoiceId, sameContent, isOpen, waitsToBeSent }: NoteMet): Omit<MetLine, 'number'> => {
  const id = publicInvoiceId(invoiceId);
  const met = `${id} met this note under its number, with ${sameContent ? 'equal content' : 'equal amount'}`;
  if (!isOpen)
    return {
      warning: `${met}, and does not get the note now: where the line is of the same sale, leave ${id} indeterminate and tell its client that this note counts`,
    };
  const warning = `${met}, and has no outcome yet: where the line is of the same sale and ${id} is issued too, one of the two notes is too many`;
  if (sameContent)
    return {
      warning,
      refusal: `${met}: where the line is of the same sale, nfse invoice resolve ${id} --as issued once that invoice is indeterminate. Where it is of another sale, give the line again then`,
    };
  if (!waitsToBeSent) return { warning };
  return {
    warning,
    refusal: `${met}, and is sent under the next number once its series goes on: where the line is of the same sale, give it with "id":"${id}", and without reference, description and idempotency_key. Where it is of another sale, give it again when that invoice has an outcome`,
  };
};
