import type { DpsId } from '../../../domain/common/access-key.js';
import {
  type CompanyId,
  type InvoiceId,
  invoiceStream,
  type Mode,
  modes,
  parseInvoiceId,
  parseInvoiceStream,
  type StreamName,
} from '../../../domain/common/ids.js';
import { codePattern } from '../../../domain/common/masks.js';
import type { Customer } from '../../../domain/invoice/events.js';
import { visible } from '../../../domain/invoice/status.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { ReadModel } from '../../../ports/read-model.js';
import { SealedTextChanged, type SealingKeys } from '../../../ports/sealing-keys.js';
import type { SupportCursor, SupportReads, SupportRow } from '../../../ports/support-reads.js';
import { appendAudit } from '../../audit/audit-trail.js';
import { createUnopenedFields, type UnopenedFields } from '../../audit/opened-fields.js';
import { openCopiedField } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import { invoiceIdOfReference } from '../../event-store/hashes.js';
import { customerDocumentOf } from '../../issuing/found-documents.js';
import { loadSealedInvoice } from '../../read/read-invoice.js';
import { documentMark, isSameDocument, readDocument } from '../privacy/document.js';
import { allocatedInvoice } from '../sent-under.js';
import { bareText, withoutNfs } from './typed-text.js';

export const SEARCH_KINDS = ['id', 'reference', 'access-key', 'dps-id', 'document', 'number'] as const;

export type SearchKind = (typeof SEARCH_KINDS)[number];

type SearchQuery = {
  text: string;
  kind: SearchKind;
  /** Only invoices of this company. A search by number needs it, because notes are numbered by provider and municipality. */
  companyId?: CompanyId | undefined;
  /** The cursor at which an earlier search by document stopped. */
  before?: SupportCursor | undefined;
  /** A search by document stops once it has found as many. */
  most?: number | undefined;
};

/** The row after which a page begins, as a command or form names it; undefined when that is no row of an invoice. */
export const readCursor = (createdAt: string, stream: string): SupportCursor | undefined => {
  const isInstant = createdAt === '' || !Number.isNaN(Date.parse(createdAt));
  return isInstant && parseInvoiceStream(stream) !== undefined ? { createdAt, stream } : undefined;
};

/** A page of rows that were read with one more than its limit. `last`: the row after which older ones follow; undefined without older ones. */
export const pageOf = (
  found: readonly SupportRow[],
  limit: number,
): { rows: readonly SupportRow[]; last: SupportRow | undefined } => {
  const rows = found.slice(0, limit);
  return { rows, last: found.length > limit ? rows.at(-1) : undefined };
};

/**
 * `lookedFor`: the kind by which something was found, or all kinds by which nothing was. `next`: the cursor for older invoices, when a search by
 * document stopped at its limit.
 */
export type SearchResult = {
  lookedFor: readonly SearchKind[];
  found: readonly SupportRow[];
  lookedAt: number;
  next?: SupportCursor;
  /** Customers that cannot be opened although their key is there, a line for a person each; the invoice looked for may be among them. */
  unopened?: readonly string[];
};

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

/** What the text without surrounding blanks looks like; anything else is a reference. A foreign tax id has no recognisable form. */
const kindOf = (text: string, companyId: CompanyId | undefined): SearchKind => {
  if (typedInvoiceId(text) !== undefined) return 'id';
  if (ACCESS_KEY.test(bareText(text))) return 'access-key';
  if (DPS_ID.test(bareText(text))) return 'dps-id';
  if (looksLikeDocument(text)) return 'document';
  return companyId !== undefined && typedNumber(text) !== undefined ? 'number' : 'reference';
};

const ACCESS_KEY = /^(?:NFS)?[0-9A-Z]{50}$/;
const DPS_ID = /^DPS[0-9A-Z]{42}$/;

/** Whether the text has the form of an access key or a DPS id, which name no customer. */
export const looksLikeKey = (text: string): boolean => [ACCESS_KEY, DPS_ID].some((form) => form.test(bareText(text)));

/**
 * Whether the text has the form of a CPF or CNPJ. Digits may be in any groups. With letters only the forms of a CNPJ count: any groups would make a
 * document of many a reference, and each search by document is recorded.
 */
export const looksLikeDocument = (text: string): boolean => {
  const named = text.replace(DOCUMENT_NAME, '');
  return /^(?:\d{11}|\d{14})$/.test(bareText(named)) || codePattern('cnpj').test(named.trim());
};

/** As in `CPF 529.982.247-25` and `CNPJ: 12.345.678/0001-95`. */
const DOCUMENT_NAME = /^\s*(?:CPF|CNPJ)[\s:.]+/i;

/** The invoice that a typed id names, in any case and without its hyphens too. */
export const typedInvoiceId = (text: string): InvoiceId | undefined => {
  const [, hex = ''] = /^(?:NFSE_)?([0-9A-F]{32})$/.exec(bareText(text)) ?? [];
  return parseInvoiceId(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
};

/** The number of a note as an access key holds it; undefined for any other text. */
const typedNumber = (text: string): string | undefined => {
  const [, digits] = /^0*([1-9]\d{0,12})$/.exec(text.trim()) ?? [];
  return digits?.padStart(13, '0');
};

/**
 * The kinds to look for one after the other, until something is found. A client's reference may have the form of any other kind, so it comes first
 * where `wanted` names no kind.
 */
export const kindsToLookFor = (text: string, wanted?: SearchKind, companyId?: CompanyId): readonly SearchKind[] =>
  wanted === undefined ? [...new Set<SearchKind>(['reference', kindOf(text, companyId)])] : [wanted];

/** Who searches, by which command; a search by document is recorded under it. */
type Searcher = { command: string; actor: `support:${string}` };

/**
 * Invoices of every company and mode that the text names, by the first kind that finds any. A search by document is recorded before anything is
 * opened, because its result tells who a customer is. Expired test invoices are not found.
 */
export const searchInvoices = async (
  { kinds, ...query }: Omit<SearchQuery, 'kind'> & { kinds: readonly SearchKind[] },
  deps: SearchDeps,
  by: Searcher,
): Promise<SearchResult> => {
  let result: SearchResult = { lookedFor: [], found: [], lookedAt: 0 };
  for (const kind of kinds) {
    const next = await searchByKind({ ...query, kind }, deps, by);
    result = { ...next, lookedFor: [...result.lookedFor, kind] };
    if (result.found.length > 0) return { ...result, lookedFor: [kind] };
  }
  const stored = kinds.includes('reference') ? await storedUnderReference(query, deps) : [];
  return stored.length === 0 ? result : { found: stored, lookedFor: ['reference'], lookedAt: stored.length };
};

/** Streams that a search looks up in the log at most; beyond them the search needs the company. */
const LOOKED_UP_AT_MOST = 400;

/** The invoice of a reference whose row is not there yet. The log is asked last, because it is asked once for each company and mode. */
const storedUnderReference = async (
  query: Omit<SearchQuery, 'kind'>,
  deps: SearchDeps,
): Promise<readonly SupportRow[]> => {
  const streams = await streamsOf({ ...query, kind: 'reference' }, deps);
  const stream = streams.length > LOOKED_UP_AT_MOST ? undefined : await firstStored(streams, deps.log);
  if (stream === undefined) return [];
  const { state } = await loadSealedInvoice(stream, deps.store);
  const createdAt = state.kind === 'invoice' ? (state.facts.createdAt ?? '') : '';
  return await shownOf([{ stream, createdAt, state }], query, deps);
};

type OfKind = Omit<SearchResult, 'lookedFor'>;

const searchByKind = async (query: SearchQuery, deps: SearchDeps, by: Searcher): Promise<OfKind> => {
  if (query.kind === 'document') return await searchByDocument(query, deps, by);
  const rows = await deps.supportReads.invoices(await streamsOf(query, deps));
  return { found: await shownOf(rows, query, deps), lookedAt: rows.length };
};

/** The invoices of these rows that may be shown, the newest first. */
const shownOf = async (
  rows: readonly SupportRow[],
  { companyId }: Pick<SearchQuery, 'companyId'>,
  deps: SearchDeps,
): Promise<readonly SupportRow[]> => {
  const isOfCompany = ({ stream }: SupportRow): boolean =>
    companyId === undefined || parseInvoiceStream(stream)?.companyId === companyId;
  return (await followReferences(rows, deps))
    .filter((row) => isVisible(row, deps) && isOfCompany(row))
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
};

const streamsOf = async ({ text, kind, companyId }: SearchQuery, deps: SearchDeps): Promise<readonly StreamName[]> => {
  switch (kind) {
    case 'id': {
      const invoiceId = typedInvoiceId(text);
      return invoiceId === undefined ? [] : await streamsOfOwners(deps.readModel, companyId, () => invoiceId);
    }
    case 'access-key':
      return (await deps.readModel.byAccessKeys([withoutNfs(bareText(text))])).map(({ stream }) => stream);
    case 'dps-id': {
      const dpsId = bareText(text);
      const owner = await invoiceOfDpsId(dpsId, deps.log);
      return [...new Set([...(await deps.supportReads.byDpsId(dpsId)), ...owner])];
    }
    case 'number':
      return await streamsOfNumber(text, companyId, deps);
    default:
      // The id derives from the reference, so no index of references is needed.
      return await streamsOfOwners(deps.readModel, companyId, (mode, owner) => invoiceIdOfReference(mode, owner, text));
  }
};

/** Of an access key, what precedes the number of the note: municipality, maker and provider. */
const KEY_BEFORE_NUMBER = 23;

/** Newest invoices of a company whose keys tell how its keys begin: they differ where another municipality or system made the note. */
const KEYS_SEEN = 50;

/** Notes of the company with this number: an index finds the rest of a key whose beginning is known. */
const streamsOfNumber = async (
  text: string,
  companyId: CompanyId | undefined,
  { supportReads }: SearchDeps,
): Promise<readonly StreamName[]> => {
  const number = typedNumber(text);
  if (number === undefined || companyId === undefined) return [];
  const rows = await supportReads.newest({ companyId }, KEYS_SEEN);
  const keys = rows.flatMap(({ state }) =>
    state.kind === 'invoice' && state.outcome.status === 'issued' ? (state.outcome.accessKey ?? []) : [],
  );
  const begins = new Set(keys.map((key) => `${key.slice(0, KEY_BEFORE_NUMBER)}${number}`));
  return await supportReads.byKeyBegins([...begins]);
};

/** The stream that an invoice would have in each mode of this company, or of every company. */
const streamsOfOwners = async (
  readModel: Pick<ReadModel, 'companies'>,
  companyId: CompanyId | undefined,
  idOf: (mode: Mode, companyId: CompanyId) => string,
): Promise<readonly StreamName[]> => {
  const owners = (await readModel.companies()).map(({ registration: { cnpj } }) => cnpj);
  return owners
    .filter((owner) => companyId === undefined || owner === companyId)
    .flatMap((owner) => modes.map((mode) => invoiceStream(mode, owner, idOf(mode, owner))));
};

/** Follows the reference of an imported invoice to that invoice, whose id does not derive from the reference. */
const followReferences = async (
  rows: readonly SupportRow[],
  { supportReads }: SearchDeps,
): Promise<readonly SupportRow[]> => {
  const moved = rows.flatMap(({ stream, state }) => {
    const address = parseInvoiceStream(stream);
    if (state.kind !== 'reference_taken' || address === undefined) return [];
    return [invoiceStream(address.mode, address.companyId, state.invoiceId)];
  });
  const own = rows.filter(({ state }) => state.kind !== 'reference_taken');
  return moved.length === 0 ? own : [...own, ...(await supportReads.invoices(moved))];
};

const isVisible = ({ state }: SupportRow, { clock, testRetentionSeconds }: SearchDeps): boolean =>
  visible(state, clock.now(), testRetentionSeconds).kind === 'invoice';

const searchByDocument = async (
  { text, companyId, before, most = SCANNED_AT_ONCE }: SearchQuery,
  deps: SearchDeps,
  { command, actor }: Searcher,
): Promise<OfKind> => {
  const document = readDocument(text.replace(DOCUMENT_NAME, ''));
  if (document === undefined) return { found: [], lookedAt: 0 };
  const mark = await documentMark(document, deps.sealingKeys, deps.clock);
  const subject = `invoices of document ${mark}, ${companyId ?? 'all companies'}`;
  await appendAudit('PersonalDataRevealed', { command, subject }, { store: deps.store, clock: deps.clock, actor });
  const from = { companyId, before };
  const rows = await deps.supportReads.newest(from, SCANNED_AT_ONCE);
  const found: SupportRow[] = [];
  const unopened = createUnopenedFields();
  let lookedAt = 0;
  for (const row of rows) {
    if (found.length === most) break;
    lookedAt += 1;
    if (isVisible(row, deps) && isSameDocument(await documentOf(row, deps, unopened), document)) found.push(row);
  }
  const last = rows[lookedAt - 1];
  const more = (lookedAt < rows.length || rows.length === SCANNED_AT_ONCE) && last !== undefined;
  return {
    found,
    lookedAt,
    unopened: unopened.lines(),
    ...(more ? { next: { createdAt: last.createdAt, stream: last.stream } } : {}),
  };
};

/** Undefined when the customer cannot be opened. */
const documentOf = async (
  { stream, state }: SupportRow,
  { sealingKeys }: SearchDeps,
  unopened: UnopenedFields,
): Promise<string | undefined> => {
  if (state.kind !== 'invoice' || state.facts.customer === undefined) return undefined;
  try {
    const opened = await openCopiedField(state.facts.customer, stream, 'customer', sealingKeys);
    return customerDocumentOf(opened as Customer | undefined);
  } catch (error) {
    if (!(error instanceof SealedTextChanged)) throw error;
    // The row copies the field from the first event of the stream.
    unopened.add(error.inField('customer', `${stream}@0`));
    return undefined;
  }
};

/** The invoices, in both modes, to which the number of this DPS id was allocated. */
export const invoiceOfDpsId = async (dpsId: DpsId, log: Pick<EventLog, 'read'>): Promise<readonly StreamName[]> => {
  const owners: StreamName[] = [];
  for (const mode of modes) {
    const { companyId, invoiceId } = (await allocatedInvoice(dpsId, mode, log)) ?? {};
    if (companyId !== undefined && invoiceId !== undefined) owners.push(invoiceStream(mode, companyId, invoiceId));
  }
  return owners;
};

/** Streams whose first event is asked for at the same time, where no row tells which of them exists. */
const READ_AT_ONCE = 16;

/**
 * The stream of an invoice id or stream name; undefined when no company has the invoice. An id names no company or mode. So the streams of every
 * company are looked for: first among the rows, then in the log, because rows can be late or lost. A stream's name is taken as it is.
 */
export const findStream = async (
  wanted: string,
  { readModel, supportReads, log }: Pick<SearchDeps, 'readModel' | 'supportReads' | 'log'>,
): Promise<StreamName | undefined> => {
  const invoiceId = parseInvoiceId(wanted);
  if (invoiceId === undefined) return wanted;
  const streams = await streamsOfOwners(readModel, undefined, () => invoiceId);
  const [row] = await supportReads.invoices(streams);
  return row?.stream ?? (await firstStored(streams, log));
};

/** The first of these streams that has an event. */
const firstStored = async (
  streams: readonly StreamName[],
  log: Pick<EventLog, 'read'>,
): Promise<StreamName | undefined> => {
  for (let start = 0; start < streams.length; start += READ_AT_ONCE) {
    const batch = streams.slice(start, start + READ_AT_ONCE);
    const firsts = await Promise.all(batch.map((stream) => log.read(stream, { limit: 1 })));
    const stored = batch.find((_, index) => firsts[index]?.length === 1);
    if (stored !== undefined) return stored;
  }
  return undefined;
};
