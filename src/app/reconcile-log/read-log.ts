import type { DpsNumberEvent } from '../../domain/dps-number/dps-number.js';
import {
  type CompanyId,
  type InvoiceId,
  invoicePrefix,
  type Mode,
  parseInvoiceStream,
  type StreamName,
} from '../../domain/shared/ids.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../ports/event-log.js';

/** A series of DPS numbers as the log knows it. */
export type KnownSeries = {
  mode: Mode;
  companyId: CompanyId;
  series: string;
  nextNumber: number;
  /** Numbers that were taken for invoices of which the log has neither an attempt nor an outcome: they may have been sent since. */
  taken: readonly number[];
};

/** What a log says of work that may have gone on after its last event. */
export type KnownWork = {
  companies: readonly CompanyId[];
  series: readonly KnownSeries[];
  /** Streams of invoices without an outcome. */
  open: readonly StreamName[];
};

const PAGE = 500;
const PREFIXES = [invoicePrefix.live, invoicePrefix.test, 'dpsLive-', 'dpsTest-', 'company-'];

/** After each of them no note of the invoice is looked for any more; what an indeterminate one left is for support. */
const OUTCOMES: readonly string[] = [
  ...['Authorized', 'IssuanceRejected', 'IssuanceFailed', 'NotProcessed', 'IssuanceInterrupted'],
  ...['IndeterminateResolved', 'TestInvoiceDeleted'],
];

type Series = Omit<KnownSeries, 'taken'>;

type Taken = { stream: StreamName; number: number };

type Pass = {
  companies: Set<CompanyId>;
  series: Map<StreamName, Series>;
  open: Map<InvoiceId, StreamName>;
  /** Since the last attempt of their invoice. */
  taken: Map<InvoiceId, readonly Taken[]>;
};

/** One pass over the log, sealed as it is; holds no more than what is open. */
export const readKnownWork = async (log: Pick<EventLog, 'readAll'>): Promise<KnownWork> => {
  const pass: Pass = { companies: new Set(), series: new Map(), open: new Map(), taken: new Map() };
  await eachEvent(log, PREFIXES, (event) => note(event, pass));
  const taken = [...pass.taken].filter(([invoiceId]) => pass.open.has(invoiceId)).flatMap(([, all]) => all);
  return {
    companies: [...pass.companies],
    open: [...pass.open.values()],
    series: [...pass.series].map(([stream, one]) => ({
      ...one,
      taken: taken.filter((number) => number.stream === stream).map(({ number }) => number),
    })),
  };
};

/** Those of the access keys that an invoice of the log holds: issued, settled or taken over. */
export const keysInLog = async (
  log: Pick<EventLog, 'readAll'>,
  accessKeys: readonly string[],
): Promise<ReadonlySet<string>> => {
  const wanted = new Set(accessKeys);
  const held = new Set<string>();
  if (wanted.size === 0) return held;
  await eachEvent(log, [invoicePrefix.live, invoicePrefix.test], ({ type, data: { accessKey } }) => {
    const holds = type === 'Authorized' || type === 'IndeterminateResolved' || type === 'InvoiceImported';
    if (holds && typeof accessKey === 'string' && wanted.has(accessKey)) held.add(accessKey);
  });
  return held;
};

const eachEvent = async (
  log: Pick<EventLog, 'readAll'>,
  prefixes: readonly string[],
  look: (event: RecordedEvent) => void,
): Promise<void> => {
  let after: LogPosition | null = null;
  for (;;) {
    const page: readonly RecordedEvent[] = await log.readAll({ prefixes, after, limit: PAGE });
    const last = page[page.length - 1];
    if (last === undefined) return;
    for (const event of page) look(event);
    after = last.position;
  }
};

const note = (event: RecordedEvent, pass: Pass): void => {
  const company = /^company-(.*)$/.exec(event.stream)?.[1];
  if (company !== undefined) pass.companies.add(company);
  else if (event.stream.startsWith('dps')) noteNumber(event, pass);
  else noteInvoice(event, pass);
};

const noteNumber = ({ stream, type, data }: RecordedEvent, { series: all, taken }: Pass): void => {
  const [, mode, companyId, series] = /^dps(Live|Test)-([0-9A-Z]{14})_(.+)$/.exec(stream) ?? [];
  if (companyId === undefined || series === undefined) return;
  const { data: numbers, ...event } = { type, data } as unknown as DpsNumberEvent;
  if (event.type === 'DpsNumberAllocated' && 'invoiceId' in numbers && 'number' in numbers) {
    const { invoiceId, number } = numbers;
    taken.set(invoiceId, [...(taken.get(invoiceId) ?? []), { stream, number }]);
  }
  const { nextNumber } = numbers;
  all.set(stream, { mode: mode === 'Live' ? 'live' : 'test', companyId, series, nextNumber });
};

const noteInvoice = ({ stream, type }: RecordedEvent, { open, taken }: Pass): void => {
  const invoiceId = parseInvoiceStream(stream)?.invoiceId;
  if (invoiceId === undefined) return;
  if (type === 'InvoiceAccepted') open.set(invoiceId, stream);
  if (type === 'IssuanceAttempted' || OUTCOMES.includes(type)) taken.delete(invoiceId);
  if (OUTCOMES.includes(type)) open.delete(invoiceId);
};
