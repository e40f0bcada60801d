import type { AccessKey, DpsId } from '../src/domain/common/access-key.js';
import type { InvoiceId } from '../src/domain/common/ids.js';
import type { Cents } from '../src/domain/common/money.js';
import type { FiscalDate, Instant } from '../src/domain/common/time.js';
import { unreachable } from '../src/domain/common/unreachable.js';
import { type InvoiceEvent, invoiceEventTypes } from '../src/domain/invoice/events.js';
import { evolve } from '../src/domain/invoice/evolve.js';
import {
  type Cancellation,
  type ImportedFrom,
  type Invoice,
  type InvoiceState,
  initialInvoice,
  type Outcome,
} from '../src/domain/invoice/state.js';
import { canceledAt, type InvoiceStatus, invoiceStatus } from '../src/domain/invoice/status.js';
import { perInvoiceStream, streamColumns, streamFields } from './invoice-streams.js';
import { bigint, defineProjection, everyType, type OneOrMore, type Recorded, type RowOf, text } from './types.js';

const columns = {
  ...streamColumns,
  invoice_id: text<InvoiceId>(),
  /** As the API shows it. All columns from here to `canceled_at` are null in a row whose stream holds no invoice: deleted, or a taken reference. */
  status: text<InvoiceStatus | null>(),
  amount_in_cents: bigint<Cents | null>(),
  competence: text<FiscalDate | null>(),
  service_code: text<string | null>(),
  reference: text<string | null>(),
  /** Where the invoice was made; `api` unless it was imported. */
  origin: text<'api' | ImportedFrom | null>(),
  created_at: text<Instant | null>(),
  /** `issued_at` or `failed_at`; null while the invoice is open. */
  outcome_at: text<Instant | null>(),
  access_key: text<AccessKey | null>(),
  /** DPS id of the last attempt. */
  dps_id: text<DpsId | null>(),
  cancellation_status: text<Cancellation['status'] | null>(),
  canceled_at: text<Instant | null>(),
  /** JSON of the domain's folded state, personal fields sealed as in the log. */
  state: text(),
};

/** One invoice stream. */
export type InvoiceRow = RowOf<typeof columns>;

/**
 * The domain's own fold. A deleted test invoice keeps an empty row, equal to the row that a rebuild makes from the stream's last
 * event. A late event then meets the state `deleted` and changes nothing.
 */
const foldAll = (row: InvoiceRow | undefined, events: OneOrMore<Recorded<InvoiceEvent>>): InvoiceRow => {
  const before = row === undefined ? initialInvoice : (JSON.parse(row.state) as InvoiceState);
  const state = events.reduce(evolve, before);
  const { fields, invoiceId } = streamFields(events.at(-1) ?? events[0]);
  return {
    ...fields,
    invoice_id: invoiceId,
    ...(state.kind === 'invoice' ? shown(state) : NOTHING),
    state: JSON.stringify(state),
  };
};

type Shown = Omit<InvoiceRow, keyof typeof streamColumns | 'invoice_id' | 'state'>;

const shown = (invoice: Invoice): Shown => {
  const { facts, origin, outcome, cancellation, attempts } = invoice;
  return {
    status: invoiceStatus(invoice),
    amount_in_cents: facts.amountInCents,
    competence: facts.competence ?? null,
    service_code: facts.serviceCode ?? null,
    reference: facts.reference ?? null,
    origin: origin.kind === 'imported' ? origin.from : origin.kind,
    created_at: facts.createdAt ?? null,
    outcome_at: outcomeAt(outcome) ?? null,
    access_key: outcome.status === 'issued' ? (outcome.accessKey ?? null) : null,
    dps_id: attempts.at(-1)?.dpsId ?? null,
    cancellation_status: cancellation?.status ?? null,
    canceled_at: canceledAt(invoice) ?? null,
  };
};

const outcomeAt = (outcome: Outcome): Instant | undefined => {
  switch (outcome.status) {
    case 'open':
      return undefined;
    case 'issued':
      return outcome.issuedAt;
    case 'failed':
    case 'indeterminate':
      return outcome.failedAt;
    default:
      return unreachable(outcome);
  }
};

const NOTHING: Shown = {
  status: null,
  amount_in_cents: null,
  competence: null,
  service_code: null,
  reference: null,
  origin: null,
  created_at: null,
  outcome_at: null,
  access_key: null,
  dps_id: null,
  cancellation_status: null,
  canceled_at: null,
};

/** The rows that `GET /v1/nfse/{id}` answers from, and what operators search by. */
export const invoices = defineProjection<InvoiceRow, InvoiceEvent>({
  name: 'invoices',
  version: 6,
  compatibleFrom: 5,
  ...perInvoiceStream,
  columns,
  indexes: [
    { columns: ['access_key'], sparse: true },
    { columns: ['dps_id'], sparse: true },
    { columns: ['cancellation_status'], sparse: true },
    { columns: ['status', 'created_at'] },
    { columns: ['company_id', 'created_at'] },
    { columns: ['created_at'] },
  ],
  // Also an event that changes no field: readers compare the row's revision with the stream's.
  handlers: everyType(invoiceEventTypes, (row: InvoiceRow | undefined, event: Recorded<InvoiceEvent>) =>
    foldAll(row, [event]),
  ),
  foldAll,
});
