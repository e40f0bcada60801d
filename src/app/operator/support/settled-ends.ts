import type { InvoiceEvent } from '../../../domain/invoice/events.js';
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

/** What ended last of these entries what a settlement as `as` would end: the invoice or its cancellation, whoever ended it and however. */
export const lastEnd = (timeline: readonly TimelineEntry[], as: SettleAs): TimelineEntry | undefined => {
  const ends = as === 'issued' || as === 'failed' ? OUTCOMES : ENDS_OF_CANCELLATIONS;
  return timeline.findLast(({ event }) => ends.has(event));
};

/** Whether the last event of the invoice is a settlement by support. */
export const endsSettled = (timeline: readonly TimelineEntry[]): boolean => {
  const { event = '', who = '' } = timeline.at(-1) ?? {};
  return SETTLEMENTS.has(event) && who.startsWith('support:');
};

/** Whether the last event is a settlement by this operator with this evidence, as when one form is sent twice. */
export const isSentTwice = async (
  { stream, evidence }: Pick<SettleCommand, 'stream' | 'evidence'>,
  operator: string,
  store: Pick<EventStore, 'load'>,
): Promise<boolean> => {
  const { events } = await store.load<InvoiceEvent>(stream);
  const last = events.at(-1);
  if (last === undefined || !SETTLEMENTS.has(last.type) || last.metadata.actor !== `support:${operator}`) return false;
  return 'evidence' in last.data && last.data.evidence === evidence;
};
