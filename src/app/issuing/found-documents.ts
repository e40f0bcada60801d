import { type AccessKey, CANCELLATION_EVENT } from '../../domain/common/access-key.js';
import { withLineFeeds } from '../../domain/common/line-ends.js';
import { centsFromDecimal } from '../../domain/common/money.js';
import { present } from '../../domain/common/present.js';
import type { Instant } from '../../domain/common/time.js';
import type { Customer, Evidence, InvoiceEventData, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { noteMet } from '../../domain/invoice/note-met.js';
import { compareSent, type FoundDocument, isDoubtful, type Owner } from '../../domain/invoice/sent-document.js';
import type { Invoice } from '../../domain/invoice/state.js';
import type { AuthorizedNote, RegisteredEvent } from '../../ports/authorizer.js';
import { sha256Hex } from '../event-store/hashes.js';
import { fitsIntoEvent } from '../event-store/sealing.js';
import { packed } from './stored-documents.js';

/** Whether the note embeds a DPS that the invoice has sent. */
export const compareNote = (
  { attempts }: Pick<Invoice, 'attempts'>,
  note: Pick<AuthorizedNote, 'dpsId'> & FoundDocument,
): Owner =>
  compareSent(
    attempts.filter(({ dpsId }) => dpsId === note.dpsId),
    note,
  );

/**
 * What an event records of a note that was found. The outcome must not depend on the size of the note: one that a gateway has inflated is recorded
 * without its bytes, and without their hash, which the note of the authorizer does not have.
 */
export const noteFields = ({ accessKey, nfseNumber, authorizedAt, xml }: AuthorizedNote) => {
  const nfseXmlGzip = packedToFit(xml);
  const nfseSha256 = nfseXmlGzip === undefined ? undefined : sha256Hex(xml);
  return present({ accessKey, nfseNumber, authorizedAt, nfseXmlGzip, nfseSha256 });
};

/** Gzip in base64 as events hold a document; undefined for a document that does not fit into an event. */
const packedToFit = (xml: Buffer): string | undefined => {
  const text = packed(xml);
  return fitsIntoEvent(text) ? text : undefined;
};

/** Whether events record the document without its bytes. */
export const isInflated = ({ xml }: Pick<AuthorizedNote, 'xml'>): boolean =>
  xml.length > FITS_UNPACKED && packedToFit(xml) === undefined;

/** Up to this size a document fits into an event however little gzip makes of it, so that a genuine one is packed once only. */
const FITS_UNPACKED = 64 * 1024;

/** The note as its event records it. */
export const authorizedFrom = (
  note: AuthorizedNote,
  attempt: number,
  evidence: Evidence,
  at: Instant,
): InvoiceEventData<'Authorized'> => ({ attempt, ...noteFields(note), evidence, at });

type Content = Pick<AuthorizedNote, 'content'>;

/**
 * Whether the note has the customer, amount and description of the invoice, as far as they can be compared. It may then be our own from before a
 * restore, so no new number is tried.
 */
export const mayHaveSameContent = ({ content }: Content, events: readonly ReadInvoiceEvent[]): boolean => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  // The description is missing when its key is gone. Then nothing can be compared.
  if (accepted?.data.description === undefined) return true;
  return (
    hasSameAmountAndCustomer({ content }, events) &&
    withLineFeeds(content.description) === withLineFeeds(accepted.data.description)
  );
};

/** Whether the note has the amount and the customer's document of the invoice. The layout allows `1500` and `1500.00` for one amount. */
export const hasSameAmountAndCustomer = ({ content }: Content, events: readonly ReadInvoiceEvent[]): boolean =>
  events.some(
    (event) =>
      event.type === 'InvoiceAccepted' &&
      centsFromDecimal(content.amount) === event.data.amountInCents &&
      content.customerDocument === customerDocumentOf(event.data.customer),
  );

/**
 * Whether the note is certainly of another sale: its amount or its customer differs. Nothing is certain of a note that cannot be relied on, and where the
 * key of the content is gone. A description is no proof, because a marker of a date in it has another text on another day (POST-description).
 */
export const isOfAnotherSale = (note: Content & FoundDocument, events: readonly ReadInvoiceEvent[]): boolean =>
  !isDoubtful(note) && contradictsAcceptance(note, events);

/** Whether the document names another amount or another customer than was accepted. False where the key of the content is gone. */
export const contradictsAcceptance = (note: Content, events: readonly ReadInvoiceEvent[]): boolean =>
  isContentKept(events) && !hasSameAmountAndCustomer(note, events);

/** As `mayHaveSameContent`, but false where the key of the content is gone. */
export const hasEqualContent = (note: Content, events: readonly ReadInvoiceEvent[]): boolean =>
  isContentKept(events) && mayHaveSameContent(note, events);

const isContentKept = (events: readonly ReadInvoiceEvent[]): boolean =>
  events.some(({ type, data }) => type === 'InvoiceAccepted' && data.description !== undefined);

/**
 * Whether a number of the invoice has this very note, with the content of the invoice. The invoice met the note there; or no look-up showed a note before
 * its time was over. A note that has the number now, in place of the note that was met, is not the note of the invoice.
 */
export const isNoteMet = (
  note: Content & Pick<AuthorizedNote, 'accessKey' | 'dpsId'>,
  events: readonly ReadInvoiceEvent[],
): boolean => {
  const { dpsId } = note;
  const isMet = noteMet(events, note.accessKey)?.dpsId === dpsId;
  const wasSent = events.some(({ type, data }) => type === 'IssuanceAttempted' && data.dpsId === dpsId);
  const hasMetAnother = events.some(({ type, data }) => type === 'NumberConflictFound' && data.dpsId === dpsId);
  return (isMet || (wasSent && !hasMetAnother)) && hasEqualContent(note, events);
};

/** The text that `toma` carries as the customer's document; empty without one. */
export const customerDocumentOf = (customer: Customer | undefined): string =>
  customer?.type === 'br' ? (customer.document ?? '') : (customer?.taxId ?? '');

/**
 * Whose cancellation request an event holds. Another party may cancel the note under the same event id, so only our own request confirms our
 * cancellation. When the authorizer's signature holds, the digest of the request decides: another content is another party's. That request may have
 * no signature (the web pages send none) or an algorithm that this program does not know. Our content without our signature has an unknown owner. An
 * event of another type is never ours.
 */
export const compareRequest = (event: RegisteredEvent, sends: readonly SentRequest[]): Owner => {
  const { contradiction, signatureFault, eventType } = event;
  if (eventType !== CANCELLATION_EVENT) return signatureFault === undefined ? 'other' : 'unknown';
  const sent = sends.filter(({ requestId }) => requestId === event.requestId);
  if (signatureFault !== undefined || contradiction === undefined || contradiction.computed === '')
    return compareSent(sent, event);
  const owner = compareSent(sent, { digest: contradiction.computed });
  if (owner === 'ours') return 'unknown';
  // Ours is always signed.
  return contradiction.claimed === '' ? 'other' : owner;
};

/** What the log keeps of a request that was sent. `digest` is missing when its key is gone. */
export type SentRequest = { requestId: string; digest?: string; signatureMark?: string };

/** Every request that this invoice has sent, earlier ones included, because a late commit of one of them is our event too. */
export const sentRequests = (events: readonly ReadInvoiceEvent[]): readonly SentRequest[] =>
  events.flatMap((event) => (event.type === 'CancellationAttempted' ? [event.data] : []));

/** The event of another party as the log records it. `evidence` is what support knew. */
export const elsewhereFrom = (
  event: RegisteredEvent,
  accessKey: AccessKey,
  at: Instant,
  evidence?: string,
): InvoiceEventData<'NoteCanceledElsewhere'> => {
  const { eventType, replacedBy } = event;
  return present({ accessKey, eventType, replacedBy, ...cancellationFields(event), evidence, at });
};

/** What an event of the log records of a cancellation event that was found; of one that does not fit into an event without its bytes. */
export const cancellationFields = ({ xml, registeredAt }: RegisteredEvent) =>
  present({ eventXmlGzip: packedToFit(xml), eventSha256: sha256Hex(xml), canceledAt: registeredAt });

/** The cancellation event as its event in the log records it. */
export const confirmationFrom = (
  event: RegisteredEvent,
  request: number,
  evidence: Evidence,
  at: Instant,
): InvoiceEventData<'CancellationConfirmed'> => ({ request, ...cancellationFields(event), evidence, at });
