import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { type CompanyId, invoicePrefix, type Mode } from '../../domain/shared/ids.js';
import { brasiliaDate, type Instant } from '../../domain/shared/time.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../ports/event-log.js';

export type UsageCounts = { accepted: number; issued: number; failed: number; canceled: number };

/** Live is what is billed. Test invoices are counted as long as their events are kept. */
export type CompanyUsage = Record<Mode, UsageCounts>;

const PAGE = 500;

/**
 * What happened in a month of Brasília (`YYYY-MM`), by the instants that the API shows: accepted, issued, failed, canceled. What
 * was imported was issued elsewhere and is not counted. Read from the log, so a projector that is behind hides nothing.
 */
export const companyUsage = async (
  log: Pick<EventLog, 'readAll'>,
  companyId: CompanyId,
  month: string,
): Promise<CompanyUsage> => {
  const usage = { live: none(), test: none() };
  for (const mode of ['live', 'test'] as const) {
    let after: LogPosition | null = null;
    for (;;) {
      const prefixes = [`${invoicePrefix[mode]}${companyId}_`];
      const page: readonly RecordedEvent[] = await log.readAll({ prefixes, after, limit: PAGE });
      const last = page[page.length - 1];
      if (last === undefined) break;
      for (const event of page) count(event, month, usage[mode]);
      after = last.position;
    }
  }
  return usage;
};

const none = (): UsageCounts => ({ accepted: 0, issued: 0, failed: 0, canceled: 0 });

const count = (recorded: RecordedEvent, month: string, counts: UsageCounts): void => {
  const told = whatOf(recorded as unknown as InvoiceEvent);
  if (told !== undefined && brasiliaDate(told.at).startsWith(month)) counts[told.what] += 1;
};

/** The instants are no personal fields, so the events may still be sealed. */
const whatOf = ({ type, data }: InvoiceEvent): { what: keyof UsageCounts; at: Instant } | undefined => {
  switch (type) {
    case 'InvoiceAccepted':
      return { what: 'accepted', at: data.acceptedAt };
    case 'Authorized':
      return { what: 'issued', at: data.authorizedAt };
    case 'IndeterminateResolved':
      return data.as === 'issued' ? { what: 'issued', at: data.authorizedAt } : { what: 'failed', at: data.at };
    case 'IssuanceRejected':
      return { what: 'failed', at: data.at };
    case 'IssuanceFailed':
    case 'NotProcessed':
      return { what: 'failed', at: data.failedAt };
    case 'CancellationConfirmed':
    case 'CancellationSettledBySupport':
      return { what: 'canceled', at: data.canceledAt };
    default:
      return undefined;
  }
};
