import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import type { StreamEvent } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import type { SettleAs, SettleCommand } from '../settlement/settle-invoice.js';
import type { TimelineEntry } from './invoice-case.js';

/** The protocol and the reconciliation record the last one too. */
const SETTLEMENTS: ReadonlySet<string> = new Set([
  'IndeterminateResolved',
  'CancellationSettledBySupport',
  'CancellationClosedBySupport',
  'NoteCanceledElsewhere',
]);

const OUTCOMES: ReadonlySet<string> = new Set([
  'Authorized',
  'IssuanceRejected',
  'IssuanceFailed',
  'NotProcessed',
  'IndeterminateResolved',
  'InvoiceImported',
]);

const ENDS_OF_CANCELLATIONS: ReadonlySet<string> = new Set([
  'CancellationConfirmed',
  'CancellationSettledBySupport',
  'CancellationClosedBySupport',
  'NoteCanceledElsewhere',
  'InvoiceImported',
]);

/** The last of these entries that ended what a settlement as `as` would end: the invoice or its cancellation. Support or the protocol has ended it. */
export const lastEnd = (timeline: readonly TimelineEntry[], as: SettleAs): TimelineEntry | undefined => {
  const ends = as === 'issued' || as === 'failed' ? OUTCOMES : ENDS_OF_CANCELLATIONS;
  return timeline.findLast(({ event }) => ends.has(event));
};

/** Whether the last event of the invoice is a settlement by support. */
export const endsSettled = (timeline: readonly TimelineEntry[]): boolean => {
  const { event = '', who = '' } = timeline.at(-1) ?? {};
  return SETTLEMENTS.has(event) && who.startsWith('support:');
};

/** Whether the last event is this settlement by this operator with this evidence, as when one form is sent twice. */
export const isSentTwice = async (
  { stream, as, evidence, otherSales = [] }: SettleCommand,
  operator: string,
  store: Pick<EventStore, 'load'>,
): Promise<boolean> => {
  const { events } = await store.load<InvoiceEvent>(stream);
  const last = events.at(-1);
  if (last === undefined || last.metadata.actor !== `support:${operator}`) return false;
  const settled = settledBy(last);
  return (
    settled?.as === as && settled.evidence === evidence && otherSales.every((key) => settled.otherSales.includes(key))
  );
};

/** What an event of a settlement says of the command behind it. */
const settledBy = (
  event: StreamEvent<InvoiceEvent>,
): { as: SettleAs; evidence: string | undefined; otherSales: readonly string[] } | undefined => {
  switch (event.type) {
    case 'IndeterminateResolved': {
      const { data } = event;
      const otherSales = data.as === 'failed' ? (data.otherSales ?? []).map(({ accessKey }) => accessKey) : [];
      return { as: data.as, evidence: data.evidence, otherSales };
    }
    case 'CancellationSettledBySupport':
    case 'NoteCanceledElsewhere':
      return { as: 'canceled', evidence: event.data.evidence, otherSales: [] };
    case 'CancellationClosedBySupport':
      return { as: 'valid', evidence: event.data.evidence, otherSales: [] };
    default:
      return undefined;
  }
};
