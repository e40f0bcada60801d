import type { InvoiceEventData, ReadInvoiceEvent } from './events.js';

type Met = Pick<InvoiceEventData<'NumberConflictFound'>, 'dpsId' | 'accessKey' | 'sameContent'>;

/**
 * The conflict in which the invoice met this note under its number, with its own customer, amount and description. A log that had lost its end accepts
 * a repeated request again and gives the number of its note again, so the note may be that of the request (ADR 22).
 */
export const noteMet = (events: readonly ReadInvoiceEvent[], accessKey: string | undefined): Met | undefined => {
  const conflict = events.find(({ type, data }) => type === 'NumberConflictFound' && isOf(data, accessKey));
  return conflict?.type === 'NumberConflictFound' ? conflict.data : undefined;
};

const isOf = ({ accessKey, sameContent }: Met, wanted: string | undefined): boolean =>
  sameContent && accessKey === wanted;

/**
 * Whether the log has lost the attempt that made the note, and so its digest. Log recovery or a kept answer gave the note to the invoice; or support did,
 * where the invoice had met the note under its number.
 */
export const isOfLostAttempt = (events: readonly ReadInvoiceEvent[]): boolean =>
  events.some((event) => {
    if (event.type === 'Authorized') return event.data.attemptLost === true;
    return (
      event.type === 'IndeterminateResolved' &&
      event.data.as === 'issued' &&
      noteMet(events, event.data.accessKey) !== undefined
    );
  });
