import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { Instant } from '../../domain/shared/time.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { type DecodedEvent, decodeSealed } from '../event-store/codec.js';

/** `request_id`: the Request-Id of the call that began the work. */
export type TimelineEntry = { at: Instant; event: string; who: string; request_id: string; evidence: string };

/** The story of one invoice from its recorded events, oldest first; nothing in it is personal. */
export const storyOf = (recorded: readonly RecordedEvent[]): readonly TimelineEntry[] =>
  recorded.map((one) => {
    const event = decodeSealed(one) as DecodedEvent<InvoiceEvent>;
    return {
      at: event.metadata.recordedAt ?? '',
      event: event.type,
      who: event.metadata.actor ?? '',
      request_id: event.metadata.correlationId ?? '',
      evidence: evidenceOf(event),
    };
  });

/** The first block of a key's UUID tells keys apart for a reader. */
export const shortActor = (who: string): string => who.replace(/^(apiKey:key_[0-9a-f]{8})-.*$/, '$1');

/** One short line of facts; never a personal field, which is sealed here anyway. */
const evidenceOf = (event: InvoiceEvent): string => {
  switch (event.type) {
    case 'InvoiceAccepted':
      return `${event.data.amountInCents} cents, line ${event.data.line.cnae}/${event.data.line.serviceCode}`;
    case 'InvoiceImported':
      return `from ${event.data.origin}, ${event.data.state}`;
    case 'IssuanceAttempted':
      return `attempt ${event.data.attempt}, ${event.data.dpsId}`;
    case 'CancellationAttempted':
      return `attempt ${event.data.attempt}, ${event.data.requestId}`;
    case 'IssuanceNotSent':
    case 'CancellationNotSent':
    case 'IssuanceOutcomeUnknown':
    case 'CancellationOutcomeUnknown':
      return [`attempt ${event.data.attempt}: ${event.data.reason}`, ...event.data.codes].join(' ');
    case 'IssuanceProvenAbsent':
    case 'CancellationProvenAbsent':
      return `asked ${event.data.firstAskedAt} and ${event.data.secondAskedAt}`;
    case 'Authorized':
      return `access key ${event.data.accessKey}, by ${event.data.evidence}`;
    case 'IssuanceRejected':
      return event.data.codes.join(' ');
    case 'NumberConflictFound':
      return `${event.data.dpsId} holds ${event.data.accessKey}`;
    case 'CancellationRequested':
      return `reason ${event.data.reason}`;
    case 'CancellationConfirmed':
      return `canceled ${event.data.canceledAt}, by ${event.data.evidence}`;
    case 'CancellationNotConfirmed':
      return [event.data.reason, ...event.data.codes].join(' ');
    case 'IssuanceFailed':
    case 'NotProcessed':
    case 'IssuanceInterrupted':
      return `due ${event.data.failedAt}`;
    case 'IndeterminateResolved':
      return `settled as ${event.data.as}`;
    case 'CancellationSettledBySupport':
      return `canceled ${event.data.canceledAt}`;
    case 'ReconciliationDifferenceFound':
      return event.data.kind;
    case 'ReferenceTaken':
      return `by nfse_${event.data.invoiceId}`;
    case 'TestInvoiceDeleted':
      return `chain ended at ${event.data.lastHash}`;
  }
};
