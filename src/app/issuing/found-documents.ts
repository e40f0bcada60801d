import { gzipSync } from 'node:zlib';
import type { Evidence, InvoiceEventData, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { compareSent, type Owner, sentOf } from '../../domain/invoice/sent-document.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { decimalFromCents } from '../../domain/shared/money.js';
import type { Instant } from '../../domain/shared/time.js';
import type { AuthorizedNote, RegisteredEvent } from '../../ports/authorizer.js';
import { sha256Hex } from '../event-store/hashes.js';

/** Whether the note embeds a DPS that the invoice has sent. */
export const compareNote = ({ attempts }: Pick<Invoice, 'attempts'>, note: AuthorizedNote): Owner =>
  compareSent(
    attempts.filter(({ dpsId }) => dpsId === note.dpsId),
    note,
  );

/** The note as its event records it. */
export const authorizedFrom = (
  note: AuthorizedNote,
  attempt: number,
  evidence: Evidence,
  at: Instant,
): InvoiceEventData<'Authorized'> => ({
  attempt,
  accessKey: note.accessKey,
  nfseNumber: note.nfseNumber,
  authorizedAt: note.authorizedAt,
  nfseXmlGzip: gzipSync(note.xml).toString('base64'),
  nfseSha256: sha256Hex(note.xml),
  evidence,
  at,
});

/**
 * Whether the note has the customer, amount and description of the invoice. It may then be our own from before a restore, so no new number is
 * tried.
 */
export const hasSameContent = ({ content }: AuthorizedNote, events: readonly ReadInvoiceEvent[]): boolean => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  if (accepted?.type !== 'InvoiceAccepted') return true;
  const { amountInCents, description, customer } = accepted.data;
  // The description is missing when its key is gone. Then nothing can be compared, so no second number is tried.
  if (description === undefined) return true;
  const document = customer?.type === 'br' ? (customer.document ?? '') : (customer?.taxId ?? '');
  return (
    content.amount === decimalFromCents(amountInCents) &&
    content.description === description &&
    content.customerDocument === document
  );
};

/**
 * Another party may have canceled the note under the same event id, so only our own request confirms our cancellation. The authorizer's web pages
 * register requests without a signature. Such a request inside a signed event is another's, or of unknown owner when its content is ours.
 */
export const compareRequest = (event: RegisteredEvent, sends: readonly SentRequest[]): Owner => {
  const sent = sends.filter(({ requestId }) => requestId === event.requestId).map(sentOf);
  const { contradiction, signatureFault } = event;
  if (signatureFault === undefined && contradiction?.claimed === '' && contradiction.computed !== '')
    return compareSent(sent, { digest: contradiction.computed }) === 'ours' ? 'unknown' : 'other';
  return compareSent(sent, event);
};

/** What the log keeps of a request that was sent. `digest` is missing when its key is gone. */
export type SentRequest = { requestId: string; digest?: string; signatureMark?: string };

/** Every request that this invoice has sent, earlier ones included, because a late commit of one of them is our event too. */
export const sentRequests = (events: readonly ReadInvoiceEvent[]): readonly SentRequest[] =>
  events.flatMap((event) => (event.type === 'CancellationAttempted' ? [event.data] : []));

/** The cancellation event as its event in the log records it. */
export const confirmationFrom = (
  event: RegisteredEvent,
  request: number,
  evidence: Evidence,
  at: Instant,
): InvoiceEventData<'CancellationConfirmed'> => ({
  request,
  eventXmlGzip: gzipSync(event.xml).toString('base64'),
  eventSha256: sha256Hex(event.xml),
  canceledAt: event.registeredAt,
  evidence,
  at,
});
