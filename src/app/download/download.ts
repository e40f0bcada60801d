import { gunzip } from 'node:zlib';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { invoiceStatus, isDownloadable, visible } from '../../domain/invoice/view.js';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { type InvoiceAddress, invoiceStream } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { PdfRenderer } from '../../ports/pdf.js';
import type { EventStore } from '../event-store/event-store.js';
import { loadInvoice } from '../read/read-invoice.js';

export type DownloadDeps = {
  store: EventStore;
  clock: Clock;
  pdf: PdfRenderer;
  testRetentionSeconds: number;
  /** The simulator stands in for the authorizer of this invoice's mode: its PDF must say so. */
  isSimulated(mode: InvoiceAddress['mode']): boolean;
};

export type Download = { bytes: Buffer } | { refused: Refusal };

const RETRY_AFTER_SECONDS = 3;

/** The authorized XML, byte for byte as received. */
export const downloadXml = async (address: InvoiceAddress, deps: DownloadDeps): Promise<Download> => {
  const found = await authorizedXml(address, deps);
  return 'refused' in found ? found : { bytes: found.xml };
};

/** The place comes before the reading: who finds none costs nothing. */
export const downloadPdf = async (address: InvoiceAddress, deps: DownloadDeps): Promise<Download> => {
  const place = deps.pdf.enter(address.companyId);
  try {
    const found = await authorizedXml(address, deps);
    if ('refused' in found) return found;
    const { invoice, xml } = found;
    const marks = {
      canceled: invoiceStatus(invoice) === 'canceled',
      replaced: invoice.origin.kind === 'imported' && invoice.origin.replaced,
      simulated: invoice.facts.mode === 'live' && deps.isSimulated('live'),
    };
    return { bytes: await place.render(xml, marks) };
  } finally {
    place.leave();
  }
};

const authorizedXml = async (
  address: InvoiceAddress,
  deps: DownloadDeps,
): Promise<{ invoice: Invoice; xml: Buffer } | { refused: Refusal }> => {
  const { mode, companyId, invoiceId } = address;
  const { state, events } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
  const seen = visible(state, deps.clock.now(), deps.testRetentionSeconds);
  if (seen.kind !== 'invoice') return { refused: { code: 'not_found' } };
  const gzip = events.map(nfseXmlGzipOf).findLast((xml) => xml !== undefined);
  if (!isDownloadable(seen.invoice) || gzip === undefined) return { refused: notIssued(seen.invoice) };
  return {
    invoice: seen.invoice,
    xml: await unzipped(Buffer.from(gzip, 'base64')),
  };
};

/** Beside the thread that answers clients, which a large note would hold up. */
const unzipped = (bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: MAX_XML_BYTES }, (error, xml) => (error === null ? resolve(xml) : reject(error)));
  });

/** Twice what is ever taken from an authorizer; an imported file could claim to be more. */
export const MAX_XML_BYTES = 2 * 1024 * 1024;

const nfseXmlGzipOf = (event: InvoiceEvent): string | undefined => {
  if (event.type === 'Authorized' || event.type === 'InvoiceImported') return event.data.nfseXmlGzip;
  return event.type === 'IndeterminateResolved' && event.data.as === 'issued' ? event.data.nfseXmlGzip : undefined;
};

/** An invoice made elsewhere whose XML nobody has (reading 57). */
const NO_DOCUMENT =
  'A nota foi emitida fora deste serviço e o seu XML não está disponível: não há PDF nem XML para baixar.';

/** A test invoice whose day's key is gone, which is how test data is erased. */
const ERASED = 'O conteúdo desta nota de teste foi apagado: não há PDF nem XML para baixar.';

/** A live invoice whose key was lost, as long as the authorizer does not give its note either (ADR 26). */
const CLOSED =
  'O conteúdo desta nota não pode mais ser aberto por este serviço, e o sistema nacional não o forneceu agora: consulte a nota no portal nacional pela chave de acesso (access_key).';

const missingText = ({ origin, facts }: Invoice): string => {
  if (origin.kind !== 'api') return NO_DOCUMENT;
  return facts.mode === 'test' ? ERASED : CLOSED;
};

/** Repeatable only while the outcome is still to come; a rejection names the authorizer's code (readings 23 and 53). */
const notIssued = (invoice: Invoice): Refusal => {
  const status = invoiceStatus(invoice);
  const waiting = status === 'queued' || status === 'processing';
  const missing = isDownloadable(invoice) ? { message: missingText(invoice) } : {};
  const providerCode = invoice.outcome.status === 'failed' ? invoice.outcome.codes[0] : undefined;
  return {
    code: 'nfse.not_issued',
    retryable: waiting,
    ...missing,
    ...(waiting ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}),
    ...(providerCode === undefined ? {} : { providerCode }),
  };
};
