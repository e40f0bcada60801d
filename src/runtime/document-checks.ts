import type { DocumentAlarm, DocumentAlarms } from '../adapters/read-model-postgres/document-alarms.js';
import type { Check } from '../cli/session.js';
import { parseInvoiceStream, publicInvoiceId } from '../domain/shared/ids.js';
import { addSeconds, isBefore } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';

/** So long after the last of them doctor still finds fault; nobody has to put an alarm away by hand. */
const FRESH_SECONDS = 7 * 86_400;

/** Whether the authorizer's documents could be relied on lately: an alarm of any process is seen here. */
export const documentAlarmsCheck = async (alarms: Pick<DocumentAlarms, 'all'>, clock: Clock): Promise<Check> => {
  const name = 'received documents';
  const since = addSeconds(clock.now(), -FRESH_SECONDS);
  const fresh = (await alarms.all()).filter(({ lastAt }) => !isBefore(lastAt, since));
  if (fresh.length === 0) return { name, ok: true, detail: 'each could be relied on for 7 days' };
  const cure = 'docs/operations/monitoring.md, NfseDocumentUnreliable';
  return { name, ok: false, detail: fresh.map(textOf).join('; '), cure };
};

const textOf = ({ notice, detail, seen, lastAt, lastStream }: DocumentAlarm): string => {
  const invoice = parseInvoiceStream(lastStream);
  const where = invoice === undefined ? lastStream : publicInvoiceId(invoice.invoiceId);
  return `${notice} (${detail}) ${seen} times, last at ${lastAt} of ${where}`;
};
