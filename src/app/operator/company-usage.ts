import { type CompanyId, invoicePrefix, type Mode, modes, type StreamName } from '../../domain/common/ids.js';
import { brasiliaDate, type Instant } from '../../domain/common/time.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import type { EventLog, RecordedEvent } from '../../ports/event-log.js';
import { type DecodedEvent, decodeSealed } from '../event-store/codec.js';
import { walkLog } from '../event-store/walk-log.js';

export type UsageCounts = { accepted: number; issued: number; failed: number; canceled: number };

/** Live invoices are billed. Test invoices are counted as long as their events are kept. */
type CompanyUsage = Record<Mode, UsageCounts>;

/**
 * Counts of a month in Brasília (`YYYY-MM`), by the instants that the API shows: accepted, issued, failed, canceled. Imported invoices were
 * issued elsewhere and are not counted. Read from the log, so that the lag of the projector hides nothing.
 */
export const companyUsage = async (
  log: Pick<EventLog, 'readAll'>,
  companyId: CompanyId,
  month: string,
): Promise<CompanyUsage> => {
  const usage = { live: none(), test: none() };
  // A stream begins with its import, so the walk meets the import before everything that follows, such as a cancellation here.
  const imported = new Set<StreamName>();
  for (const mode of modes) {
    for await (const page of walkLog(log, [`${invoicePrefix[mode]}${companyId}_`])) {
      for (const event of page) {
        if (event.type === 'InvoiceImported') imported.add(event.stream);
        else if (!imported.has(event.stream)) count(event, month, usage[mode]);
      }
    }
  }
  return usage;
};

const none = (): UsageCounts => ({ accepted: 0, issued: 0, failed: 0, canceled: 0 });

const count = (recorded: RecordedEvent, month: string, counts: UsageCounts): void => {
  const counted = countedAs(decodeSealed(recorded) as DecodedEvent<InvoiceEvent>);
  if (counted !== undefined && brasiliaDate(counted.at).startsWith(month)) counts[counted.as] += 1;
};

/** The instants are no personal fields, so the events may still be sealed. */
const countedAs = ({ type, data }: DecodedEvent<InvoiceEvent>): { as: keyof UsageCounts; at: Instant } | undefined => {
  switch (type) {
    case 'InvoiceAccepted':
      return { as: 'accepted', at: data.acceptedAt };
    case 'Authorized':
      return { as: 'issued', at: data.authorizedAt };
    case 'IndeterminateResolved':
      return data.as === 'issued' ? { as: 'issued', at: data.authorizedAt } : { as: 'failed', at: data.at };
    case 'IssuanceRejected':
      return { as: 'failed', at: data.at };
    case 'IssuanceFailed':
    case 'NotProcessed':
      return { as: 'failed', at: data.failedAt };
    case 'CancellationConfirmed':
    case 'CancellationSettledBySupport':
    case 'NoteCanceledElsewhere':
      return { as: 'canceled', at: data.canceledAt };
    default:
      return undefined;
  }
};
