import type { InvoiceEventType } from './events.js';

/**
 * The fields that hold personal data, sealed in storage one by one. `evolve` carries such values and never looks inside them,
 * so that the read model can fold events that are still sealed. A digest is one, for its content can be guessed (ADR 32).
 */
export const invoicePersonalFields = {
  InvoiceAccepted: ['customer', 'description'],
  IssuanceAttempted: ['digest', 'signedDpsGzip'],
  IssuanceNotSent: [],
  IssuanceOutcomeUnknown: ['texts'],
  IssuanceProvenAbsent: [],
  Authorized: ['nfseXmlGzip'],
  IssuanceRejected: ['texts'],
  IssuanceFailed: [],
  NotProcessed: [],
  IssuanceInterrupted: [],
  NumberConflictFound: ['foundDigest'],
  CancellationRequested: ['description'],
  CancellationAttempted: ['digest', 'signedRequestGzip'],
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
