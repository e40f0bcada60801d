import { type CompanyId, type Mode, parseInvoiceStream, type StreamName } from '../../../domain/common/ids.js';
import type { Customer, InvoiceEventType, ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import type { RegistryEvent } from '../../../domain/registry/events.js';
import { registryPrefix, registryStream } from '../../../domain/registry/events.js';
import type { EventLog, RecordedEvent } from '../../../ports/event-log.js';
import type { SealingKeys } from '../../../ports/sealing-keys.js';
import { createUnopenedFields } from '../../audit/opened-fields.js';
import { decodeEvent } from '../../event-store/codec.js';
import { shareOf, type WalkProgress, walkLog } from '../../event-store/walk-log.js';
import { customerDocumentOf } from '../../issuing/found-documents.js';
import { unpacked } from '../../issuing/stored-documents.js';
import { isSameDocument, mentions, type PersonalDocument, xmlNames } from './document.js';

/** Which part of an invoice names the document. A settlement's part is the evidence that support typed. */
type FoundIn = (typeof FOUND_IN)[number];

const FOUND_IN = ['customer', 'description', 'reference', 'xml', 'cancellation', 'settlement'] as const;

export type FoundStream = { stream: StreamName; foundIn: readonly FoundIn[] };

export type FoundHoldings = {
  /** In the order in which the log names the document, at most `limit`. */
  invoices: readonly FoundStream[];
  /** All invoices that were found, by company and mode. */
  totals: readonly { companyId: CompanyId; mode: Mode; invoices: number }[];
  /** Streams of the tax registry. */
  registry: readonly StreamName[];
  /** Invoices whose key was destroyed or given up, so that their customer cannot be known. */
  unreadable: number;
  /** What cannot be opened although its key is there, a line for a person each: the document may be there too. */
  unopened: readonly string[];
};

type FindDeps = {
  /** Looks at the invoices of this company alone. */
  companyId?: CompanyId | undefined;
  log: Pick<EventLog, 'readAll' | 'head'>;
  keys: SealingKeys;
  onProgress?(progress: WalkProgress): void;
};

/**
 * Every invoice and registry entry that names the document, found by opening the sealed fields of each event that holds what a person typed. Memory
 * holds two pages of the log and the name of each stream that was found.
 */
export const findInvoices = async (
  document: PersonalDocument,
  limit: number,
  { companyId, log, keys, onProgress }: FindDeps,
): Promise<FoundHoldings> => {
  /** By stream, the bits of the parts in the order of `FOUND_IN`. */
  const found = new Map<StreamName, number>();
  const registry = new Set<StreamName>();
  const unopened = createUnopenedFields();
  let unreadable = 0;
  let events = 0;

  const isAskedFor = ({ type, stream }: RecordedEvent): boolean =>
    LOOKED_AT.has(type) &&
    (companyId === undefined || type === 'RegistryEntryPut' || parseInvoiceStream(stream)?.companyId === companyId);

  const look = async (recorded: RecordedEvent): Promise<void> => {
    let isWhole = true;
    const opened = await decodeEvent(recorded, keys, (fault) => {
      isWhole = false;
      unopened.add(fault);
    });
    const { stream } = opened;
    if (opened.type === 'RegistryEntryPut') {
      if (entryNames(opened as RegistryEvent, stream, document)) registry.add(stream);
      return;
    }
    if (isWhole && BEGINS.has(opened.type) && isErased(recorded, opened)) unreadable += 1;
    for (const part of partsThatName(document, opened as ReadInvoiceEvent, stream))
      found.set(stream, (found.get(stream) ?? 0) | (1 << FOUND_IN.indexOf(part)));
  };

  const head = await log.head();
  for await (const page of walkLog(log, ['nfse', registryPrefix])) {
    for (const event of page) if (isAskedFor(event)) await look(event);
    events += page.length;
    onProgress?.({ events, share: shareOf(page.at(-1)?.position ?? null, head) });
  }
  const invoices = [...found]
    .slice(0, limit)
    .map(([stream, parts]) => ({ stream, foundIn: FOUND_IN.filter((_part, bit) => (parts & (1 << bit)) !== 0) }));
  return {
    invoices,
    totals: totalsOf([...found.keys()]),
    registry: [...registry],
    unreadable,
    unopened: unopened.lines(),
  };
};

const totalsOf = (streams: readonly StreamName[]): FoundHoldings['totals'] => {
  const totals = new Map<string, { companyId: CompanyId; mode: Mode; invoices: number }>();
  for (const { companyId, mode } of streams.flatMap((stream) => parseInvoiceStream(stream) ?? [])) {
    const total = totals.get(`${companyId} ${mode}`) ?? { companyId, mode, invoices: 0 };
    totals.set(`${companyId} ${mode}`, { ...total, invoices: total.invoices + 1 });
  }
  return [...totals.values()];
};

const BEGINS: ReadonlySet<string> = new Set<InvoiceEventType>(['InvoiceAccepted', 'InvoiceImported']);

/**
 * The events that hold what persons typed: clients and support here, others in imported notes and in cancellation events that were made elsewhere.
 * What is sent, and what the authorizer answers to that, repeats what was typed.
 */
const LOOKED_AT: ReadonlySet<string> = new Set<InvoiceEventType | RegistryEvent['type']>([
  'InvoiceAccepted',
  'InvoiceImported',
  'CancellationRequested',
  'CancellationSettledBySupport',
  'CancellationClosedBySupport',
  'NoteCanceledElsewhere',
  'IndeterminateResolved',
  'RegistryEntryPut',
]);

const partsThatName = (document: PersonalDocument, event: ReadInvoiceEvent, stream: StreamName): readonly FoundIn[] => {
  const ifNamed = (part: FoundIn, text: string | undefined): readonly FoundIn[] =>
    text !== undefined && mentions(text, document) ? [part] : [];
  // Every document names the company itself.
  const isCompany = document.text === parseInvoiceStream(stream)?.companyId;
  const ifXmlNames = (part: FoundIn, gzip: string | undefined): readonly FoundIn[] =>
    gzip !== undefined && !isCompany && xmlNames(unpacked(gzip).toString('utf8'), document) ? [part] : [];
  switch (event.type) {
    case 'InvoiceAccepted':
    case 'InvoiceImported': {
      const { customer, description, reference } = event.data;
      return [
        ...(isCustomer(customer, document) ? (['customer'] as const) : []),
        ...ifNamed('description', description),
        ...ifNamed('reference', reference),
        ...(event.type === 'InvoiceImported' ? ifXmlNames('xml', event.data.nfseXmlGzip) : []),
      ];
    }
    case 'CancellationRequested':
      return ifNamed('cancellation', event.data.description);
    case 'CancellationSettledBySupport':
    case 'NoteCanceledElsewhere':
      return [...ifNamed('settlement', event.data.evidence), ...ifXmlNames('cancellation', event.data.eventXmlGzip)];
    case 'CancellationClosedBySupport':
    case 'IndeterminateResolved':
      return ifNamed('settlement', event.data.evidence);
    default:
      return [];
  }
};

const isCustomer = (customer: Customer | undefined, document: PersonalDocument): boolean =>
  customer !== undefined &&
  (isSameDocument(customerDocumentOf(customer), document) ||
    [customer.name, ...Object.values(customer.address ?? {})].some(
      (text) => typeof text === 'string' && mentions(text, document),
    ));

/** The legal name of a MEI often has the CPF in it. */
const entryNames = ({ data }: RegistryEvent, stream: StreamName, document: PersonalDocument): boolean =>
  stream === registryStream(document.text) || (data.legalName !== undefined && mentions(data.legalName, document));

const isErased = (recorded: RecordedEvent, opened: { data: object }): boolean =>
  Object.keys(opened.data).length < Object.keys(recorded.data).length;
