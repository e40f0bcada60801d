import { beforeEach, describe, expect, it } from 'vitest';
import { holdersOfKeys, ownerOfDps, unsettledInvoices } from '../../../../src/app/operator/import/notes-on-record.js';
import { loadSealedInvoice } from '../../../../src/app/read/read-invoice.js';
import { dpsStream, parseInvoiceStream, type StreamName } from '../../../../src/domain/common/ids.js';
import type { Cents } from '../../../../src/domain/common/money.js';
import type { DpsNumberEvent } from '../../../../src/domain/dps-number/events.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import type { FoundDocument } from '../../../../src/domain/invoice/sent-document.js';
import { invoiceStatus } from '../../../../src/domain/invoice/status.js';
import type { LogPosition } from '../../../../src/ports/event-log.js';
import type { SupportFilter, SupportRow } from '../../../../src/ports/support-reads.js';
import { COMPANY } from '../../../support/fixture/histories.js';
import * as life from '../../../support/fixture/invoice.js';
import { type AuditHarness, emptyAuditHarness, endTestInvoice } from '../../../support/harness/audit.js';
import { appendTo } from '../../../support/harness/event-store.js';

let harness: AuditHarness;
beforeEach(() => {
  harness = emptyAuditHarness();
});

const idOf = (n: number) => parseInvoiceStream(harness.streamOf(n))?.invoiceId;

describe('the owner of a DPS id', () => {
  const dpsIdOf = (number: number, series = '00001'): string =>
    `DPS33045572${COMPANY}${series}${String(number).padStart(15, '0')}`;
  const OWN = { amount: '1500.00', description: 'Desenvolvimento de sistema', customerDocument: '11111111000191' };
  const owner = async (
    dpsId: string,
    companyId = COMPANY,
    more: Partial<FoundDocument> & { content?: typeof OWN } = {},
  ) =>
    (await ownerOfDps({ dpsId, digest: 'digest', content: OWN, ...more }, { mode: 'live', companyId }, harness))?.facts
      .invoiceId;

  it.each<[string, readonly InvoiceEvent[]]>([
    ['open, its answer unknown', [life.attempted(1, 1), life.unknown(1, 3)]],
    ['indeterminate', [life.attempted(1, 1), life.unknown(1, 3), life.interrupted]],
    ['issued', [life.attempted(1, 1), life.authorized(1, 2)]],
  ])('is the invoice that was sent under it and is %s', async (_state, events) => {
    await harness.issue(1);
    await harness.accept(2);
    await harness.record(2, events);
    await harness.issue(3);
    const found = await Promise.all([1, 2, 3].map((number) => owner(dpsIdOf(number))));
    expect(found).toEqual([idOf(1), idOf(2), idOf(3)]);
  });

  it.each<[string, readonly InvoiceEvent[]]>([
    ['failed', [life.attempted(1, 1), life.rejected(1, 2)]],
    ['has met a foreign note there', [life.attempted(1, 1), life.conflictFound(1, 4)]],
  ])('is not an invoice that %s', async (_state, events) => {
    await harness.accept(1);
    await harness.record(1, events);
    const found = await owner(dpsIdOf(1));
    expect(found).toBeUndefined();
  });

  it('is an open invoice that was never sent: the note under its number holds what the invoice gives, so the log has lost an attempt', async () => {
    await harness.accept(1);
    await harness.record(1, [life.attempted(1, 1), life.notSent(1, 2)]);
    expect(await owner(dpsIdOf(1))).toBe(idOf(1));
    expect(await owner(dpsIdOf(1), COMPANY, { digest: 'of another sale' })).toBeUndefined();
  });

  it('is no open invoice that was never sent where the note under its number has other content and a signature that is not compared', async () => {
    await harness.accept(1);
    await harness.record(1, [life.attempted(1, 1), life.notSent(1, 2)]);
    const notCompared = { digest: '', contradiction: { claimed: 'by sha1', computed: 'another' } };
    const ofNote = (content: Partial<typeof OWN>) =>
      owner(dpsIdOf(1), COMPANY, { ...notCompared, content: { ...OWN, ...content } });
    expect([await ofNote({ amount: '9.99' }), await ofNote({ customerDocument: '' })]).toEqual([undefined, undefined]);
    // A marker of a date in it has another text on another day, so a description proves nothing.
    expect([await ofNote({}), await ofNote({ description: 'de outro dia' })]).toEqual([idOf(1), idOf(1)]);
    await harness.accept(2);
    await harness.record(2, [life.attempted(1, 1), life.unknown(1, 2)]);
    const sent = await owner(dpsIdOf(2), COMPANY, { ...notCompared, content: { ...OWN, amount: '9.99' } });
    expect(sent).toBe(idOf(2));
  });

  it('is not an invoice that got the number of a lost note again, and has sent another DPS under it', async () => {
    await harness.accept(1);
    await harness.record(1, [life.attempted(1, 1), life.unknown(1, 3)]);
    const ofNote = (more: Partial<FoundDocument>) => owner(dpsIdOf(1), COMPANY, more);
    const isOther = await ofNote({ digest: 'of the lost note' });
    const mayBeOurs = [
      await ofNote({ digest: 'of the lost note', signatureFault: 'unsigned' }),
      await ofNote({ digest: '', contradiction: { claimed: 'digest', computed: 'another' } }),
    ];
    expect(isOther).toBeUndefined();
    expect(mayBeOurs).toEqual([idOf(1), idOf(1)]);
  });

  it('is nobody for a number, series, city or company of which the log knows no send', async () => {
    for (const n of [1, 2, 3]) await harness.issue(n);
    const moved: DpsNumberEvent = { type: 'DpsNumberMoved', data: { nextNumber: 900, at: life.T0 } };
    await appendTo(harness.store, dpsStream('live', COMPANY, '1'), [moved], life.T0);
    const unknown = [
      dpsIdOf(4),
      dpsIdOf(899),
      dpsIdOf(900),
      dpsIdOf(2, '00002'),
      dpsIdOf(2).replace('3304557', '3303302'),
    ];
    const found = await Promise.all(unknown.map((dpsId) => owner(dpsId)));
    expect(found).toEqual(unknown.map(() => undefined));
    expect(await owner(dpsIdOf(2), '11222333000181')).toBeUndefined();
    expect(await owner(dpsIdOf(2))).toBe(idOf(2));
  });
});

describe('the unsettled invoices of a company', () => {
  const AMOUNT = 150_000 as Cents;

  it('are those that were sent for one of the amounts and have no outcome, or an indeterminate one', async () => {
    await harness.issue(1);
    await harness.accept(2);
    const lives = [
      [life.attempted(1, 1), life.unknown(1, 3)],
      [life.attempted(1, 1), life.notSent(1, 2), life.attempted(2, 4), life.unknown(2, 6), life.interrupted],
      [life.attempted(1, 1), life.notSent(1, 2)],
      [life.attempted(1, 1), life.conflictFound(1, 4)],
      [life.attempted(1, 1), life.rejected(1, 2)],
      [life.attempted(1, 1), life.notSent(1, 2), life.interrupted],
    ];
    for (const [index, events] of lives.entries()) {
      await harness.accept(3 + index);
      await harness.record(3 + index, events);
    }
    const rows = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(rowOf));
    const supportReads = {
      newest: async ({ status }: SupportFilter) =>
        rows.filter(({ state }) => state.kind === 'invoice' && invoiceStatus(state) === status),
    };
    const unsettled = (amount: Cents) =>
      unsettledInvoices(COMPANY, new Set([amount]), { supportReads, store: harness.store });
    const found = await unsettled(AMOUNT);
    expect(found).toEqual([
      { invoiceId: idOf(3), amountInCents: AMOUNT, firstSentAt: life.at(1), isIndeterminate: false, met: [] },
      { invoiceId: idOf(4), amountInCents: AMOUNT, firstSentAt: life.at(4), isIndeterminate: true, met: [] },
      { invoiceId: idOf(8), amountInCents: AMOUNT, firstSentAt: life.at(1), isIndeterminate: true, met: [] },
    ]);
    expect(await unsettled(1 as Cents)).toEqual([]);
  });

  const rowOf = async (n: number): Promise<SupportRow> => {
    const { state } = await loadSealedInvoice(harness.streamOf(n), harness.store);
    return { stream: harness.streamOf(n), createdAt: life.T0, state };
  };
});

describe('the holders of access keys', () => {
  const keyOf = (n: number): string => String(n).padStart(50, '4');
  const holders = (rowsUpTo: LogPosition | null, rows: readonly { accessKey: string; stream: StreamName }[] = []) =>
    holdersOfKeys([keyOf(1), keyOf(2), keyOf(3)], {
      log: harness.log,
      store: harness.store,
      readModel: { byAccessKeys: async () => rows },
      invoiceRowsUpTo: async () => rowsUpTo,
    });

  it('are also those that the rows do not hold yet, and no others', async () => {
    await harness.issue(1);
    const rowsUpTo = await harness.log.head();
    await harness.issue(2);
    const found = await holders(rowsUpTo);
    expect(found).toEqual([{ accessKey: keyOf(2), stream: harness.streamOf(2) }]);
  });

  it('are read from the whole log when the rows are of another end of it', async () => {
    await harness.issue(1);
    const found = await holders(1_000n as LogPosition);
    expect(found).toEqual([{ accessKey: keyOf(1), stream: harness.streamOf(1) }]);
  });

  it('are not missed when their rows are made between the two reads', async () => {
    await harness.issue(1);
    let rowsUpTo: LogPosition | null = null;
    const byAccessKeys = async () => {
      rowsUpTo = await harness.log.head();
      return [];
    };
    const { log, store } = harness;
    const found = await holdersOfKeys([keyOf(1)], {
      log,
      store,
      readModel: { byAccessKeys },
      invoiceRowsUpTo: async () => rowsUpTo,
    });
    expect(found).toEqual([{ accessKey: keyOf(1), stream: harness.streamOf(1) }]);
  });

  it('are no invoices that only rows have, because the log has lost them', async () => {
    await harness.issue(1);
    const rows = [1, 2].map((n) => ({ accessKey: keyOf(n), stream: harness.streamOf(n) }));
    const found = await Promise.all([
      holders(await harness.log.head(), rows),
      holders(1_000n as LogPosition, rows.slice(1)),
    ]);
    expect(found).toEqual([[rows[0]], [rows[0]]]);
  });

  it('are no test invoices that have ended', async () => {
    await harness.issue(1, 'test');
    await endTestInvoice(harness, 1, 'whole');
    const found = await holders(null);
    expect(found).toEqual([]);
  });
});
