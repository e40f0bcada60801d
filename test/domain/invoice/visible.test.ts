import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { visible } from '../../../src/domain/invoice/status.js';
import { accepted, at, given, imported } from '../../support/fixture/invoice.js';

describe('what a reader may see', () => {
  const WEEK = 604_800;

  it('is no test invoice from its seventh day on, swept or not', () => {
    const state = given(accepted({ mode: 'test' }));
    const end = Date.parse(at(WEEK));
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -1e9, max: 1e9 })), (offsetMs) => {
        const now = new Date(end + offsetMs).toISOString();
        expect(visible(state, now, WEEK)).toEqual(
          offsetMs < 0 ? { kind: 'invoice', invoice: state } : { kind: 'absent' },
        );
      }),
    );
  });

  it('is a live invoice permanently', () => {
    expect(visible(given(accepted()), at(100 * WEEK), WEEK)).toMatchObject({ kind: 'invoice' });
  });

  it('is an import whose day of creation nobody knows: in test mode seven days from its import on, in live mode permanently', () => {
    const of = (mode: 'live' | 'test') => given(imported({ mode, importedAt: at(0) }));
    expect(visible(of('test'), at(WEEK - 1), WEEK)).toMatchObject({ kind: 'invoice' });
    expect(visible(of('test'), at(WEEK), WEEK)).toEqual({ kind: 'absent' });
    expect(visible(of('live'), at(100 * WEEK), WEEK)).toMatchObject({ kind: 'invoice' });
  });

  it.each<[string, readonly InvoiceEvent[], object]>([
    ['nothing of an empty stream', [], { kind: 'absent' }],
    [
      'nothing of a deleted invoice',
      [{ type: 'TestInvoiceDeleted', data: { lastHash: 'h', deletedAt: at(0) } }],
      { kind: 'absent' },
    ],
    [
      'where a reference went',
      [{ type: 'ReferenceTaken', data: { invoiceId: 'other', takenAt: at(0) } }],
      { kind: 'moved', to: 'other' },
    ],
  ])('is %s', (_what, events, seen) => {
    expect(visible(given(...events), at(4000), WEEK)).toEqual(seen);
  });
});
