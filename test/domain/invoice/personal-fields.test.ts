import { describe, expect, it } from 'vitest';
import { invoicePersonalFields, type ReadInvoiceEvent } from '../../../src/domain/invoice/events.js';
import { evolve } from '../../../src/domain/invoice/evolve.js';
import { initialInvoice } from '../../../src/domain/invoice/state.js';
import { accepted } from '../../support/fixture/invoice.js';

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
      CancellationClosedBySupport: ['evidence'],
      NoteCanceledElsewhere: ['eventXmlGzip', 'evidence'],
      IndeterminateResolved: ['evidence', 'nfseXmlGzip'],
      InvoiceImported: ['customer', 'description', 'nfseXmlGzip'],
    });
  });

  it('may be missing in an event that is read, because their key is gone, which `npm run typecheck` shows here', () => {
    const written = accepted();
    if (written.type !== 'InvoiceAccepted') throw new Error('no acceptance');
    const { description: _erased, ...data } = written.data;
    const read: Extract<ReadInvoiceEvent, { type: 'InvoiceAccepted' }> = { type: 'InvoiceAccepted', data };
    // @ts-expect-error A reader must say what happens without it.
    const description: string = read.data.description;
    expect(description).toBeUndefined();
    expect(evolve(initialInvoice, read)).toMatchObject({ kind: 'invoice', outcome: { status: 'open' } });
  });
});
