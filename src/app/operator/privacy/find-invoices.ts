import { gunzipSync } from 'node:zlib';
import { type Mode, parseInvoiceStream, type StreamName } from '../../../domain/common/ids.js';
import type { Customer, InvoiceEvent } from '../../../domain/invoice/events.js';
import type { RegistryEvent } from '../../../domain/registry/events.js';
import { registryPrefix, registryStream } from '../../../domain/registry/events.js';
import type { EventLog, RecordedEvent } from '../../../ports/event-log.js';
import type { SealingKeys } from '../../../ports/sealing-keys.js';
import { decodeEvent } from '../../event-store/codec.js';
import { shareOf, type WalkProgress, walkLog } from '../../event-store/walk-log.js';
import { isSameDocument, mentions, type PersonalDocument } from './document.js';

/** Which part of its first event names the document. */
type FoundIn = (typeof FOUND_IN)[number];

const FOUND_IN = ['customer', 'description', 'xml'] as const;

export type FoundStream = { stream: StreamName; foundIn: readonly FoundIn[] };

export type FoundHoldings = {
  /** In the order of the log, at most `limit`. */
  invoices: readonly FoundStream[];
  /** All invoices that were found, by company and mode. */
  totals: readonly { companyId: string; mode: Mode; invoices: number }[];
  /** Streams of the tax registry. */
  registry: readonly StreamName[];
  /** Invoices whose key was destroyed or given up, so that their customer cannot be known. */
  unreadable: number;
};

type FindDeps = {
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  onProgress?(progress: WalkProgress): void;
};

/**
 * Every invoice and registry entry that names the document, found by opening the sealed fields of the first event of each. Memory holds two pages
 * of the log and the result, whatever the length of the log.
 */
export const findInvoices = async (
  document: PersonalDocument,
  limit: number,
  { log, keys, onProgress }: FindDeps,
): Promise<FoundHoldings> => {
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
    const foundIn = partsThatName(document, opened as InvoiceEvent);
    const address = parseInvoiceStream(stream);
    if (foundIn.length === 0 || address === undefined) return;
    const { companyId, mode } = address;
    const total = totals.get(`${companyId} ${mode}`) ?? { companyId, mode, invoices: 0 };
    totals.set(`${companyId} ${mode}`, { ...total, invoices: total.invoices + 1 });
    if (invoices.length < limit) invoices.push({ stream, foundIn });
  };

  const head = await log.head();
  for await (const page of walkLog(log, ['nfse', registryPrefix])) {
    for (const event of page) if (LOOKED_AT.has(event.type)) await look(event);
    events += page.length;
    onProgress?.({ events, share: shareOf(page[page.length - 1]?.position ?? null, head) });
  }
  return { invoices, totals: [...totals.values()], registry: [...registry], unreadable };
};

/** Later events say nothing of the customer that the acceptance or the import does not say. */
const LOOKED_AT: ReadonlySet<string> = new Set<(InvoiceEvent | RegistryEvent)['type']>([
  'InvoiceAccepted',
  'InvoiceImported',
  'RegistryEntryPut',
]);

const partsThatName = (document: PersonalDocument, event: InvoiceEvent): readonly FoundIn[] => {
  if (event.type !== 'InvoiceAccepted' && event.type !== 'InvoiceImported') return [];
  const { customer, description, companyId } = event.data;
  const xml = event.type === 'InvoiceImported' && document.text !== companyId ? event.data.nfseXmlGzip : undefined;
  const names: Record<FoundIn, boolean> = {
    customer: isCustomer(customer, document),
    description: description !== undefined && mentions(description, document),
    xml: xml !== undefined && xmlNames(xml, document),
  };
  return FOUND_IN.filter((part) => names[part]);
};

const isCustomer = (customer: Customer | undefined, document: PersonalDocument): boolean =>
  customer !== undefined &&
  (isSameDocument(customer.type === 'br' ? customer.document : customer.taxId, document) ||
    (customer.name !== undefined && mentions(customer.name, document)));

/** Whether an imported note names the document, as its customer, its intermediary or otherwise. */
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
