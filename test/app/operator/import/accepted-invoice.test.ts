import { describe, expect, it } from 'vitest';
import { noteOfAccepted } from '../../../../src/app/operator/import/accepted-invoice.js';
import type { PlannedImport } from '../../../../src/app/operator/import/import-line.js';
import type { LoadedInvoice } from '../../../../src/app/read/read-invoice.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import { evolve } from '../../../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../../../src/domain/invoice/state.js';
import { accepted, attempted, authorizedData, conflictFound, interrupted } from '../../../support/fixture/invoice.js';

const MET = '5'.repeat(50);
const loaded = (...events: InvoiceEvent[]): LoadedInvoice =>
  ({ state: events.reduce<InvoiceState>(evolve, initialInvoice), events }) as unknown as LoadedInvoice;
const invoice = accepted();
const { companyId, mode, invoiceId, amountInCents } = 'mode' in invoice.data ? invoice.data : ({} as never);
const line = (accessKey: string, namesId?: true): PlannedImport =>
  ({ data: { companyId, mode, invoiceId, amountInCents, accessKey, state: 'issued' }, namesId }) as PlannedImport;

const REFUSED = {
  problem: `nfse_${invoiceId} met this note under its number, with its own content: where it is the same sale, nfse invoice resolve nfse_${invoiceId} --as issued --evidence portal once that invoice is indeterminate; else give the line without its id and reference`,
};

describe('a line with the note that the accepted invoice met under its number', () => {
  it('is refused with the command that gives the note to the invoice, by its id and by its reference', () => {
    const met = [invoice, attempted(1, 1), conflictFound(1, 2, true)];
    for (const events of [met, [...met, interrupted]])
      for (const namesId of [true, undefined] as const)
        expect(noteOfAccepted(loaded(...events), line(MET, namesId))).toEqual(REFUSED);
  });

  it('is on record once support has given the note to the invoice', () => {
    const { attempt: _attempt, evidence: _evidence, ...note } = authorizedData(1, 80);
    const data = { as: 'issued', ...note, accessKey: MET, evidence: 'portal' } as const;
    const events = [invoice, attempted(1, 1), conflictFound(1, 2, true), interrupted];
    const settled = loaded(...events, { type: 'IndeterminateResolved', data });
    expect(noteOfAccepted(settled, line(MET))).toBe('attached');
    expect(noteOfAccepted(settled, line('6'.repeat(50)))).toBeUndefined();
  });

  it('is refused with the way on where the content of the note differs, or the line has another note', () => {
    const other = loaded(invoice, attempted(1, 1), conflictFound(1, 2), interrupted);
    const withoutName = 'give the line without its id, reference and idempotency_key';
    expect(noteOfAccepted(other, line(MET))).toEqual({
      problem: `nfse_${invoiceId} met this note under its number with other content, and is indeterminate: ${withoutName}. Where it is the same sale, leave nfse_${invoiceId} indeterminate and tell its client that this note counts`,
    });
    const met = loaded(invoice, attempted(1, 1), conflictFound(1, 2, true), interrupted);
    expect(noteOfAccepted(met, line('6'.repeat(50)))).toEqual({
      problem: `nfse_${invoiceId} is indeterminate: where the line is of the same sale, nfse invoice resolve nfse_${invoiceId} --as issued --evidence portal looks for its note. Else ${withoutName}`,
    });
  });
});
