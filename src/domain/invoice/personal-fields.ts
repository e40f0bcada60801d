import type { InvoiceEventType } from './events.js';

/**
 * The fields that hold personal data, sealed in storage one by one (design section 4). `evolve` carries such values
 * and never looks inside them, so that the read model can fold events that are still sealed.
 */
export const invoicePersonalFields = {
  InvoiceAccepted: ['customer', 'description'],
  IssuanceAttempted: ['signedDpsGzip'],
  IssuanceNotSent: [],
  IssuanceOutcomeUnknown: ['texts'],
  IssuanceProvenAbsent: [],
  Authorized: ['nfseXmlGzip'],
  IssuanceRejected: ['texts'],
  IssuanceFailed: [],
  NotProcessed: [],
  IssuanceInterrupted: [],
  NumberConflictFound: [],
  CancellationRequested: ['description'],
  CancellationAttempted: ['signedRequestGzip'],
  CancellationNotSent: [],
  CancellationOutcomeUnknown: ['texts'],
  CancellationProvenAbsent: [],
  CancellationConfirmed: ['eventXmlGzip'],
  CancellationNotConfirmed: ['texts'],
  CancellationSettledBySupport: ['evidence', 'eventXmlGzip'],
  IndeterminateResolved: ['evidence', 'nfseXmlGzip'],
  ReconciliationDifferenceFound: [],
  InvoiceImported: ['customer', 'description', 'nfseXmlGzip'],
  ReferenceTaken: [],
  TestInvoiceDeleted: [],
} as const satisfies Record<InvoiceEventType, readonly string[]>;

export const invoiceEventTypes = Object.keys(invoicePersonalFields) as InvoiceEventType[];
