import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice, lastOf } from '../../src/domain/invoice/state.js';
import { parseInvoiceStream } from '../../src/domain/shared/ids.js';
import type { Handlers, Recorded } from '../types.js';
import type { InvoiceRow } from './schema.js';

/**
 * The domain's own fold. A deleted test invoice keeps an empty row, the same one that a rebuild from its last event
 * gives: an event that still comes late meets `deleted` and does no harm.
 */
const fold = (row: InvoiceRow | undefined, event: Recorded<InvoiceEvent>): InvoiceRow => {
  const before = row === undefined ? initialInvoice : (JSON.parse(row.state) as InvoiceState);
  return rowOf(evolve(before, event), event);
};

const rowOf = (state: InvoiceState, { stream, revision }: Recorded<InvoiceEvent>): InvoiceRow => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) throw new Error('the stream of an invoice event is not named as one');
  const invoice = state.kind === 'invoice' ? state : undefined;
  return {
    stream,
    revision,
    mode: address.mode,
    company_id: address.companyId,
    invoice_id: address.invoiceId,
    access_key: invoice?.outcome.status === 'issued' ? (invoice.outcome.accessKey ?? null) : null,
    dps_id: lastOf(invoice?.attempts ?? [])?.dpsId ?? null,
    reference: invoice?.facts.reference ?? null,
    created_at: invoice?.facts.createdAt ?? null,
    state: JSON.stringify(state),
  };
};

export const handlers = {
  InvoiceAccepted: fold,
  InvoiceImported: fold,
  ReferenceTaken: fold,
  IssuanceAttempted: fold,
  IssuanceNotSent: fold,
  IssuanceOutcomeUnknown: fold,
  IssuanceProvenAbsent: fold,
  NumberConflictFound: fold,
  Authorized: fold,
  IssuanceRejected: fold,
  IssuanceFailed: fold,
  NotProcessed: fold,
  IssuanceInterrupted: fold,
  IndeterminateResolved: fold,
  CancellationRequested: fold,
  CancellationAttempted: fold,
  CancellationNotSent: fold,
  CancellationOutcomeUnknown: fold,
  CancellationProvenAbsent: fold,
  CancellationConfirmed: fold,
  CancellationNotConfirmed: fold,
  CancellationSettledBySupport: fold,
  // It changes no field, but a reader compares the row's revision with the stream's.
  ReconciliationDifferenceFound: fold,
  TestInvoiceDeleted: fold,
} satisfies Handlers<InvoiceRow, InvoiceEvent>;
