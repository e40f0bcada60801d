import { gzipSync } from 'node:zlib';
import type { Evidence, InvoiceEvent, InvoiceEventData } from '../../domain/invoice/events.js';
import { compareSent, type FoundDocument, type Owner } from '../../domain/invoice/sent-document.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { decimalFromCents } from '../../domain/shared/money.js';
import type { Instant } from '../../domain/shared/time.js';
import type { AuthorizedNote } from '../../ports/authorizer.js';
import { sha256Hex } from '../hashes.js';

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

/** Whether the note embeds a DPS that the invoice has sent. */
export const compareNote = ({ attempts }: Pick<Invoice, 'attempts'>, note: AuthorizedNote): Owner =>
  compareSent(
    attempts.filter(({ dpsId }) => dpsId === note.dpsId),
    foundNote(note),
  );

/** The embedded DPS as the comparison wants it. */
export const foundNote = ({
  dpsDigest: digest,
  signatureMark,
  contradiction,
  signatureFault,
}: AuthorizedNote): FoundDocument => ({
  digest,
  ...(signatureMark === undefined ? {} : { signatureMark }),
  ...(contradiction === undefined ? {} : { contradiction }),
  ...(signatureFault === undefined ? {} : { signatureFault }),
});

/** A note with our customer, amount and description may be our own of before a restore: then no new number is tried. */
export const sameContent = ({ content }: AuthorizedNote, events: readonly InvoiceEvent[]): boolean => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  if (accepted?.type !== 'InvoiceAccepted') return true;
  const { amountInCents, description, customer } = accepted.data;
  // Left out when its key is gone: nothing can be compared, and a second number must not be tried on a guess.
  if ((description as string | undefined) === undefined) return true;
  const document = customer?.type === 'br' ? (customer.document ?? '') : (customer?.taxId ?? '');
  return (
    content.amount === decimalFromCents(amountInCents) &&
    content.description === description &&
    content.customerDocument === document
  );
};
