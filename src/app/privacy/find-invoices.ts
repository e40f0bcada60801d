import { gunzipSync } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { Customer } from '../../domain/invoice/facts.js';
import type { RegistryEvent } from '../../domain/registry/entry.js';
import { registryPrefix, registryStream } from '../../domain/registry/entry.js';
import { type Mode, parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { shareOf, type WalkProgress, walkLog } from '../audit/walk.js';
import { decodeEvent } from '../event-store/codec.js';
import { isSameDocument, mentions, type PersonalDocument } from './document.js';

/** In which part of its first event an invoice names the document. */
export type FoundIn = 'customer' | 'description' | 'xml';

export type FoundStream = { stream: StreamName; foundIn: readonly FoundIn[] };

export type FoundPlaces = {
  /** In order of the log, at most as many as asked for. */
  invoices: readonly FoundStream[];
  /** Of all that were found, by company and mode. */
  totals: readonly { companyId: string; mode: Mode; invoices: number }[];
  /** Streams of the tax registry. */
  registry: readonly StreamName[];
  /** Invoices whose key was destroyed or given up: nobody can say any more whose they are. */
  unreadable: number;
};

export type FindDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  onProgress?(progress: WalkProgress): void;
};

/**
 * Every invoice and registry entry that names the document, found by opening what is sealed in the first event of each. Memory
 * holds two pages of the log and what is answered, whatever the log's length.
 */
export const findInvoices = async (
  document: PersonalDocument,
  limit: number,
  { log, keys, onProgress }: FindDeps,
): Promise<FoundPlaces> => {
  const invoices: FoundStream[] = [];
  const registry = new Set<StreamName>();
  const totals = new Map<string, { companyId: string; mode: Mode; invoices: number }>();
  let unreadable = 0;
  let events = 0;

  const look = async (recorded: RecordedEvent): Promise<void> => {
    const opened = await decodeEvent(recorded, keys);
    const { stream } = opened;
    if (opened.type === 'RegistryEntryPut') {
      if (entryNames(opened as RegistryEvent, stream, document)) registry.add(stream);
      return;
    }
    if (isErased(recorded, opened)) unreadable += 1;
    const foundIn = partsOf(opened as InvoiceEvent).filter(({ names }) => names(document));
    const address = parseInvoiceStream(stream);
    if (foundIn.length === 0 || address === undefined) return;
    const { companyId, mode } = address;
    const total = totals.get(`${companyId} ${mode}`) ?? { companyId, mode, invoices: 0 };
    totals.set(`${companyId} ${mode}`, { ...total, invoices: total.invoices + 1 });
    if (invoices.length < limit) invoices.push({ stream, foundIn: foundIn.map(({ part }) => part) });
  };

  const head = await log.head();
  for await (const page of walkLog(log, ['nfse', registryPrefix])) {
    for (const event of page) if (LOOKED_AT.has(event.type)) await look(event);
    events += page.length;
    onProgress?.({ events, share: shareOf(page[page.length - 1]?.position ?? null, head) });
  }
  return { invoices, totals: [...totals.values()], registry: [...registry], unreadable };
};

/** What comes after an acceptance says nothing of the customer that it does not. */
const LOOKED_AT: ReadonlySet<string> = new Set<(InvoiceEvent | RegistryEvent)['type']>([
  ...(['InvoiceAccepted', 'InvoiceImported', 'RegistryEntryPut'] as const),
]);

type Part = { part: FoundIn; names(document: PersonalDocument): boolean };

const partsOf = (event: InvoiceEvent): readonly Part[] => {
  if (event.type !== 'InvoiceAccepted' && event.type !== 'InvoiceImported') return [];
  const { customer, description, companyId } = event.data;
  const xml = event.type === 'InvoiceImported' ? event.data.nfseXmlGzip : undefined;
  return [
    { part: 'customer', names: (document) => isCustomer(customer, document) },
    { part: 'description', names: (document) => description !== undefined && mentions(description, document) },
    {
      part: 'xml',
      names: (document) => document.text !== companyId && xml !== undefined && xmlNames(xml, document),
    },
  ];
};

const isCustomer = (customer: Customer | undefined, document: PersonalDocument): boolean =>
  customer !== undefined &&
  (isSameDocument(customer.type === 'br' ? customer.document : customer.taxId, document) ||
    (customer.name !== undefined && mentions(customer.name, document)));

/** Of a note that was made elsewhere: its customer, intermediary or whoever else it names. */
const xmlNames = (gzip: string, document: PersonalDocument): boolean => {
  const xml = gunzipSync(Buffer.from(gzip, 'base64')).toString('utf8');
  for (const [, found] of xml.matchAll(/<(?:CPF|CNPJ|NIF)>([^<]+)</g)) if (isSameDocument(found, document)) return true;
  return false;
};

/** The legal name of a MEI often has the CPF in it. */
const entryNames = ({ data }: RegistryEvent, stream: StreamName, document: PersonalDocument): boolean =>
  stream === registryStream(document.text) || (data.legalName !== undefined && mentions(data.legalName, document));

const isErased = (recorded: RecordedEvent, opened: { data: object }): boolean =>
  Object.keys(opened.data).length < Object.keys(recorded.data).length;
