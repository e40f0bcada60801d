import type { AccessKey } from '../common/access-key.js';
import type { InvoiceEventData, OtherSale, ReadInvoiceEvent } from './events.js';
import { allCameToNothing, type Invoice } from './state.js';

type Met = Pick<InvoiceEventData<'NumberConflictFound'>, 'dpsId' | 'accessKey' | 'sameContent'>;

/**
 * The conflict in which the invoice met this note under its number, with its own customer, amount and description. A log that had lost its end accepts
 * a repeated request again and gives the number of its note again, so the note may be that of the request (ADR 22).
 */
export const noteMet = (events: readonly ReadInvoiceEvent[], accessKey: AccessKey | undefined): Met | undefined => {
  const conflict = events.find(({ type, data }) => type === 'NumberConflictFound' && isOf(data, accessKey));
  return conflict?.type === 'NumberConflictFound' ? conflict.data : undefined;
};

const isOf = ({ accessKey, sameContent }: Met, wanted: string | undefined): boolean =>
  sameContent && accessKey === wanted;

/** The conflicts in which the invoice met notes with another customer, amount or description than its own. */
export const othersMet = (events: readonly ReadInvoiceEvent[]): readonly Met[] =>
  events.flatMap((event) => (event.type === 'NumberConflictFound' && !event.data.sameContent ? [event.data] : []));

/** Whether the invoice met this note under its number, with other content than its own. */
export const hasMetOther = (events: readonly ReadInvoiceEvent[], accessKey: AccessKey | undefined): boolean =>
  othersMet(events).some((met) => met.accessKey === accessKey);

/** The notes under DPS ids of the invoice that its settlement as failed has proven or declared to be of other sales. */
export const otherSalesSettled = (events: readonly ReadInvoiceEvent[]): readonly OtherSale[] =>
  events.flatMap(({ type, data }) =>
    type === 'IndeterminateResolved' && data.as === 'failed' ? (data.otherSales ?? []) : [],
  );

/**
 * Which notes an invoice without a known outcome has met under its numbers.
 * - `equal`: the last one has the content of the invoice, so the note may be its own.
 * - `other`: all have other contents, and no attempt has left a note, so no look-up finds a note that counts as its own.
 * - undefined: anything else, also where the last attempt was not sent, because a look-up may have shown a document of the invoice under its number.
 */
export const contentMet = ({ attempts }: Pick<Invoice, 'attempts'>): 'equal' | 'other' | undefined => {
  const last = attempts.at(-1);
  if (last?.foreignSameContent === true) return 'equal';
  return allCameToNothing(attempts) && last?.resolution === 'foreign' ? 'other' : undefined;
};

/**
 * Whether the log has lost the attempt that made the note, and so its digest. Log recovery or a kept answer gave the note to the invoice; or support did,
 * where the note has the number and content of the invoice.
 */
export const isOfLostAttempt = (events: readonly ReadInvoiceEvent[]): boolean =>
  events.some((event) => {
    if (event.type === 'Authorized') return event.data.attemptLost === true;
    return (
      event.type === 'IndeterminateResolved' &&
      event.data.as === 'issued' &&
      (event.data.attemptLost === true || noteMet(events, event.data.accessKey) !== undefined)
    );
  });
