import type { Customer } from '../../domain/invoice/facts.js';
import { visible } from '../../domain/invoice/view.js';
import { type CompanyId, invoiceStream, type Mode, parseInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import type { SupportCursor, SupportReads, SupportRow } from '../../ports/support-reads.js';
import { recordReveal } from '../audit/reveal.js';
import { openCarried } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import { invoiceIdOfReference } from '../hashes.js';
import { documentMark, isSameDocument, readDocument } from '../privacy/document.js';
import { invoiceOfDpsId } from './dps-owner.js';

export type SearchKind = 'id' | 'reference' | 'access-key' | 'dps-id' | 'document';

export const SEARCH_KINDS: readonly SearchKind[] = ['id', 'reference', 'access-key', 'dps-id', 'document'];

export type SearchQuery = {
  text: string;
  kind: SearchKind;
  /** Narrows a search by document; the others are as fast without it. */
  companyId?: CompanyId;
  /** Where an earlier search by document stopped. */
  before?: SupportCursor;
};

/** `next`: so many invoices were looked at, and there are older ones; search again from there. */
export type SearchResult = { found: readonly SupportRow[]; lookedAt: number; next?: SupportCursor };

export type SearchDeps = {
  store: EventStore;
  supportReads: SupportReads;
  readModel: Pick<ReadModel, 'companies' | 'byAccessKeys'>;
  log: Pick<EventLog, 'read'>;
  sealingKeys: SealingKeys;
  clock: Clock;
  testRetentionSeconds: number;
};

/** Invoices that one search by document opens: about a second of work (ADR 24). */
export const SCANNED_AT_ONCE = 5_000;

/** What the text looks like; anything else is a reference. A foreign tax id has no form of its own. */
export const kindOf = (text: string): SearchKind => {
  if (parseInvoiceId(text) !== undefined) return 'id';
  if (/^[0-9A-Z]{50}$/.test(text)) return 'access-key';
  if (/^DPS[0-9A-Z]{42}$/.test(text)) return 'dps-id';
  if (/^\d{3}\.?\d{3}\.?\d{3}-?\d{2}$|^[0-9A-Z]{2}\.?[0-9A-Z]{3}\.?[0-9A-Z]{3}\/?[0-9A-Z]{4}-?\d{2}$/.test(text))
    return 'document';
  return 'reference';
};

/** Who searches, by which command; a search by document is on record under it. */
export type Searcher = { command: string; actor: `support:${string}` };

/**
 * Invoices of every company and mode that the text names. A search by document is put on record before anything is opened, as
 * what it finds tells who a customer is. Test invoices whose life is over are not found.
 */
export const searchInvoices = async (query: SearchQuery, deps: SearchDeps, by: Searcher): Promise<SearchResult> => {
  if (query.kind === 'document') return await searchByDocument(query, deps, by);
  const streams = await streamsOf(query, deps);
  const found = await followed(await deps.supportReads.invoices(streams), deps);
  const shown = found.filter((row) => isVisible(row, deps)).sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  return { found: shown, lookedAt: found.length };
};

const streamsOf = async ({ text, kind }: SearchQuery, deps: SearchDeps): Promise<readonly StreamName[]> => {
  switch (kind) {
    case 'id': {
      const invoiceId = parseInvoiceId(text);
      return invoiceId === undefined ? [] : await ofEveryOwner(deps, () => invoiceId);
    }
    case 'access-key':
      return (await deps.readModel.byAccessKeys([text])).map(({ stream }) => stream);
    case 'dps-id': {
      const owner = await invoiceOfDpsId(text, deps.log);
      return [...new Set([...(await deps.supportReads.byDpsId(text)), ...owner])];
    }
    default:
      return await ofEveryOwner(deps, (mode, companyId) => invoiceIdOfReference(mode, companyId, text));
  }
};

/** A reference is the invoice's id, so no index of references is needed. */
const ofEveryOwner = async (
  { readModel }: SearchDeps,
  idOf: (mode: Mode, companyId: CompanyId) => string,
): Promise<readonly StreamName[]> => {
  const modes: readonly Mode[] = ['live', 'test'];
  const companies = (await readModel.companies()).flatMap((one) =>
    one.kind === 'company' ? [one.registration.cnpj] : [],
  );
  return companies.flatMap((cnpj) => modes.map((mode) => invoiceStream(mode, cnpj, idOf(mode, cnpj))));
};

/** A reference of an imported invoice leads to the invoice, which has an id of its own. */
const followed = async (rows: readonly SupportRow[], { supportReads }: SearchDeps): Promise<readonly SupportRow[]> => {
  const moved = rows.flatMap(({ stream, state }) =>
    state.kind === 'reference_taken' ? [stream.replace(/_[^_]*$/, `_${state.invoiceId}`)] : [],
  );
  const own = rows.filter(({ state }) => state.kind !== 'reference_taken');
  return moved.length === 0 ? own : [...own, ...(await supportReads.invoices(moved))];
};

const isVisible = ({ state }: SupportRow, { clock, testRetentionSeconds }: SearchDeps): boolean =>
  visible(state, clock.now(), testRetentionSeconds).kind === 'invoice';

const searchByDocument = async (
  { text, companyId, before }: SearchQuery,
  deps: SearchDeps,
  { command, actor }: Searcher,
): Promise<SearchResult> => {
  const document = readDocument(text);
  if (document === undefined) return { found: [], lookedAt: 0 };
  const mark = await documentMark(document, deps.sealingKeys, deps.clock);
  const subject = `invoices of document ${mark}, ${companyId ?? 'all companies'}`;
  await recordReveal({ command, subject }, { store: deps.store, clock: deps.clock, actor });
  const from = { ...(companyId === undefined ? {} : { companyId }), ...(before === undefined ? {} : { before }) };
  const rows = await deps.supportReads.newest(from, SCANNED_AT_ONCE);
  const found: SupportRow[] = [];
  for (const row of rows)
    if (isVisible(row, deps) && isSameDocument(await documentOf(row, deps), document)) found.push(row);
  const last = rows[rows.length - 1];
  const more = rows.length === SCANNED_AT_ONCE && last !== undefined;
  return {
    ...{ found, lookedAt: rows.length },
    ...(more ? { next: { createdAt: last.createdAt, stream: last.stream } } : {}),
  };
};

/** Of a customer whose key was destroyed, none. */
const documentOf = async ({ stream, state }: SupportRow, { sealingKeys }: SearchDeps): Promise<string | undefined> => {
  if (state.kind !== 'invoice' || state.facts.customer === undefined) return undefined;
  const customer = (await openCarried(state.facts.customer, stream, 'customer', sealingKeys)) as Customer | undefined;
  return customer?.type === 'br' ? customer.document : customer?.taxId;
};
