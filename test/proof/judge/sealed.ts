import type { Finding } from './finding.js';
import type { LoggedEvent, Raw } from './raw.js';

/** Personal fields of the types that it looks at (docs/architecture.md#sealing-and-hash-chain): a copy, because the judge relies on nothing of the service. */
export const PERSONAL: Readonly<Record<string, readonly string[]>> = {
  InvoiceAccepted: ['customer', 'description'],
  IssuanceAttempted: ['digest', 'signedDpsGzip'],
  Authorized: ['nfseXmlGzip'],
  CancellationRequested: ['description'],
  CancellationAttempted: ['digest', 'signedRequestGzip'],
  CancellationConfirmed: ['eventXmlGzip'],
};

const SEALED = /^sealed:\d+:/;

/** Personal data is sealed in the log, and in no line of the service's log, where a search for what the clients sent finds nothing. */
export const judgeSealing = ({ events, run, rows, serviceLog }: Raw): readonly Finding[] => {
  const inClear = (text: string): string | undefined => run.personal.find((personal) => text.includes(personal));
  const findings: Finding[] = [];
  for (const event of events) {
    const field = openField(event);
    const leak = field ?? inClear(JSON.stringify(event.data));
    if (leak !== undefined)
      findings.push({
        name: 'sealed_field_in_clear',
        detail: `${event.stream}@${event.revision} (${event.type}) shows ${leak}`,
        evidence: `position ${event.position}`,
      });
  }
  for (const [name, lines] of Object.entries(rows.live)) {
    if (name !== 'invoices' && name !== 'deadlines') continue;
    const line = lines.findIndex((text) => inClear(text) !== undefined);
    if (line >= 0)
      findings.push({
        name: 'sealed_field_in_clear',
        detail: `a row of ${name} shows ${inClear(lines[line] ?? '')}`,
        evidence: `row ${line + 1} of ${name}`,
      });
  }
  for (const [index, line] of serviceLog.split('\n').entries()) {
    const leak = inClear(line);
    if (leak !== undefined)
      findings.push({
        name: 'sealed_field_in_clear',
        detail: `the service's log shows ${leak}`,
        evidence: `line ${index + 1}`,
      });
  }
  return findings;
};

const openField = ({ type, data }: LoggedEvent): string | undefined =>
  PERSONAL[type]?.find((field) => {
    const value = data[field];
    return value !== undefined && !(typeof value === 'string' && SEALED.test(value));
  });
