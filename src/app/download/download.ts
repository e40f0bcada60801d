import { gunzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { type InvoiceAddress, invoiceStream, parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import { noteGivenBy, type ReadInvoiceEvent } from '../../domain/invoice/events.js';
import type { Invoice } from '../../domain/invoice/state.js';
import {
  type InvoiceStatus,
  invoiceStatus,
  isDownloadable,
  isReplaced,
  retentionEnds,
  visible,
} from '../../domain/invoice/status.js';
import type { FairSemaphore } from '../../lib/fair-semaphore.js';
import type { Clock } from '../../ports/clock.js';
import type { PdfRenderer } from '../../ports/pdf.js';
import type { EventStore } from '../event-store/event-store.js';
import { loadInvoice } from '../read/read-invoice.js';

export type DownloadDeps = {
  store: EventStore;
  clock: Clock;
  pdf: PdfRenderer;
  testRetentionSeconds: number;
  /** Whether a simulator signed the note; the PDF of a live one must say so (ADR 5). */
  isSimulatorsNote(nfseXml: Buffer): boolean;
};

export type Download = { bytes: Buffer } | { refused: Refusal };

const RETRY_AFTER_SECONDS = 3;

/** The authorized XML, byte for byte as received. */
export const downloadXml = async (address: InvoiceAddress, deps: DownloadDeps): Promise<Download> => {
  const found = await authorizedXml(address, deps);
  return 'refused' in found ? found : { bytes: found.xml };
};

/** Drawn from the events of its invoice up to the one with this hash. `ends`: when its test invoice ends; undefined for a live one. */
type DrawnPdf = { bytes: Buffer; hash: string; ends: Instant | undefined };

/** PDFs by the stream of their invoice. */
export type DrawnPdfs = {
  get(stream: StreamName): DrawnPdf | undefined;
  set(stream: StreamName, pdf: DrawnPdf): void;
  /** Drops the PDFs of test invoices that have ended; returns how many were dropped. */
  evictExpired(): number;
};

/** A PDF has about 70 kB, so some 400 PDFs are kept. */
const DRAWN_BYTES = 32 * 1024 * 1024;

/** Keeps the PDFs that were asked for last. No other part of the process keeps a PDF. */
export const createDrawnPdfs = (clock: Clock): DrawnPdfs => {
  const kept = new LRUCache<StreamName, DrawnPdf>({
    maxSize: DRAWN_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  const isOver = ({ ends }: DrawnPdf): boolean => ends !== undefined && !isBefore(clock.now(), ends);
  return {
    get: (stream) => kept.get(stream),
    // A test invoice may end while its PDF is drawn.
    set: (stream, pdf) => {
      if (!isOver(pdf)) kept.set(stream, pdf);
    },
    evictExpired: () => {
      const over = [...kept.entries()].filter(([, pdf]) => isOver(pdf));
      for (const [stream] of over) kept.delete(stream);
      return over.length;
    },
  };
};

type PdfDeps = DownloadDeps & { drawn: DrawnPdfs; hashOf(address: InvoiceAddress): Promise<string | undefined> };

/**
 * A PDF that was drawn before is given again while nothing was appended to its invoice, without reading the events. Any other takes a permit of the
 * renderer before reading, so that a request without a permit costs nothing.
 */
export const downloadPdf = async (address: InvoiceAddress, deps: PdfDeps): Promise<Download> => {
  const stream = invoiceStream(address.mode, address.companyId, address.invoiceId);
  const known = deps.drawn.get(stream);
  if (known !== undefined && known.hash === (await deps.hashOf(address))) return { bytes: known.bytes };
  const permit = deps.pdf.enter(address.companyId);
  try {
    const found = await authorizedXml(address, deps);
    if ('refused' in found) return found;
    const { invoice, xml, hash } = found;
    const replaced = isReplaced(invoice);
    const marks = {
      canceled: invoiceStatus(invoice) === 'canceled' && !replaced,
      replaced,
      simulated: invoice.facts.mode === 'live' && deps.isSimulatorsNote(xml),
    };
    const bytes = await permit.render(xml, marks);
    deps.drawn.set(stream, { bytes, hash, ends: retentionEnds(invoice, deps.testRetentionSeconds) });
    return { bytes };
  } finally {
    permit.leave();
  }
};

const authorizedXml = async (
  address: InvoiceAddress,
  deps: DownloadDeps,
): Promise<{ invoice: Invoice; xml: Buffer; hash: string } | { refused: Refusal }> => {
  const { mode, companyId, invoiceId } = address;
  const { state, events, version } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
  const seen = visible(state, deps.clock.now(), deps.testRetentionSeconds);
  if (seen.kind !== 'invoice' || version.kind === 'none') return { refused: { code: 'not_found' } };
  const gzip = gzipOfNote(events);
  if (!isDownloadable(seen.invoice) || gzip === undefined)
    return { refused: notIssued(seen.invoice, events.some(isRecordedNote)) };
  return { invoice: seen.invoice, xml: await unzipped(gzip), hash: version.hash };
};

/** The XML of the invoice's note, whatever became of the invoice since. Undefined where the log has no note that can be opened. */
export const noteXmlOf = async (stream: StreamName, store: EventStore): Promise<Buffer | undefined> => {
  const gzip = gzipOfNote((await loadInvoice(stream, store)).events);
  return gzip === undefined ? undefined : await unzipped(gzip);
};

const gzipOfNote = (events: readonly ReadInvoiceEvent[]): Buffer | undefined => {
  const gzip = events.map((event) => noteGivenBy(event)?.nfseXmlGzip).findLast((xml) => xml !== undefined);
  return gzip === undefined ? undefined : Buffer.from(gzip, 'base64');
};

/** Decompresses outside the main thread, which a large note would block. */
const unzipped = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: MAX_XML_BYTES }, (error, xml) => (error === null ? resolve(xml) : reject(error)));
  });

/** Twice the largest note that is accepted from the authorizer. An imported file could unpack to more. */
export const MAX_XML_BYTES = 2 * 1024 * 1024;

/** Whether the log has, or had, the bytes of the note that the event records. */
const isRecordedNote = (event: ReadInvoiceEvent): boolean =>
  'nfseSha256' in event.data && event.data.nfseSha256 !== undefined;

/** An invoice made elsewhere whose XML neither the log nor the authorizer has (docs/contract.md PDF-4, XML-3). */
const NO_DOCUMENT =
  'A nota foi emitida fora deste serviço e o seu XML não está disponível: não há PDF nem XML para baixar.';

/** A test invoice whose day key was destroyed, which is how test data is erased. */
const ERASED = 'O conteúdo desta nota de teste foi apagado: não há PDF nem XML para baixar.';

/** A live invoice whose key was lost, while the authorizer does not give its note either (ADR 26). */
const CLOSED =
  'O conteúdo desta nota não pode mais ser aberto por este serviço, e o sistema nacional não o forneceu agora: consulte a nota no portal nacional pela chave de acesso (access_key).';

/** An invoice whose note did not fit into an event, while the authorizer does not give the note either (ADR 30). */
const NOT_KEPT =
  'Este serviço não guarda o XML desta nota, e o sistema nacional não o forneceu agora: repita a requisição mais tarde, ou consulte a nota no portal nacional pela chave de acesso (access_key).';

/** A canceled test invoice, which was authorized and has no documents any more (docs/contract.md PDF-3). */
const CANCELED_TEST =
  'Esta nota de teste está cancelada: não há mais PDF nem XML para baixar. Em produção eles continuam disponíveis.';

const WAITING = 'A nota ainda espera a autorização: repita a requisição depois dos segundos de Retry-After.';

/** Statuses without a document whose next step differs from the text of the catalogue. */
const withoutDocument: Partial<Record<InvoiceStatus, string>> = {
  queued: WAITING,
  processing: WAITING,
  failed: 'A nota falhou e não tem PDF nem XML. Veja o motivo em error, na consulta da nota.',
  indeterminate:
    'Não se sabe ainda se a nota foi autorizada, por isso não há PDF nem XML. Não emita outra: fale com o suporte.',
  canceled: CANCELED_TEST,
};

const missingText = (invoice: Invoice, isRecorded: boolean): string | undefined => {
  const { origin, facts } = invoice;
  if (!isDownloadable(invoice)) return withoutDocument[invoiceStatus(invoice)];
  if (origin.kind !== 'api') return NO_DOCUMENT;
  if (!isRecorded) return NOT_KEPT;
  return facts.mode === 'test' ? ERASED : CLOSED;
};

/** Retryable only while the outcome is still to come; a rejection names the authorizer's code (docs/contract.md PDF-3, ERR-provider_code). */
const notIssued = (invoice: Invoice, isRecorded: boolean): Refusal => {
  const status = invoiceStatus(invoice);
  const waiting = status === 'queued' || status === 'processing';
  return present({
    code: 'nfse.not_issued' as const,
    retryable: waiting,
    message: missingText(invoice, isRecorded),
    retryAfterSeconds: waiting ? RETRY_AFTER_SECONDS : undefined,
    providerCode: invoice.outcome.status === 'failed' ? invoice.outcome.codes[0] : undefined,
  });
};

/** The event store as downloads read it: companies take turns. `load` rejects with `TooManyWaiting` too. */
export const fairStore = (store: EventStore, turns: FairSemaphore): EventStore => ({
  ...store,
  load: (stream, options) => turns(parseInvoiceStream(stream)?.companyId ?? '', () => store.load(stream, options)),
});
