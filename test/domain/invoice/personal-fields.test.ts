import { describe, expect, it } from 'vitest';
import { invoiceEventTypes, invoicePersonalFields } from '../../../src/domain/invoice/personal-fields.js';

describe('personal fields', () => {
  it('are who the customer is, what was done for them, the documents, and words from outside', () => {
    const personal = Object.entries(invoicePersonalFields).filter(([, fields]) => fields.length > 0);
    expect(Object.fromEntries(personal)).toEqual({
      InvoiceAccepted: ['customer', 'description'],
      IssuanceAttempted: ['digest', 'signedDpsGzip'],
      IssuanceOutcomeUnknown: ['texts'],
      Authorized: ['nfseXmlGzip'],
      IssuanceRejected: ['texts'],
      NumberConflictFound: ['foundDigest'],
      CancellationRequested: ['description'],
      CancellationAttempted: ['digest', 'signedRequestGzip'],
      CancellationOutcomeUnknown: ['texts'],
      CancellationConfirmed: ['eventXmlGzip'],
      CancellationNotConfirmed: ['texts'],
      CancellationSettledBySupport: ['evidence', 'eventXmlGzip'],
      IndeterminateResolved: ['evidence', 'nfseXmlGzip'],
      InvoiceImported: ['customer', 'description', 'nfseXmlGzip'],
    });
  });

  it('are decided for each of the 24 types of event', () => {
    expect(invoiceEventTypes).toHaveLength(24);
    expect(new Set(invoiceEventTypes)).toEqual(new Set(Object.keys(invoicePersonalFields)));
  });
});
