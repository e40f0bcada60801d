import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { invoiceIdOfAccessKey } from '../../src/app/event-store/hashes.js';
import { type InvoiceId, invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { accepted, attempted, authorized, conflictFound, interrupted, unknown } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { noteKey, openImporter } from '../support/harness/importer.js';
import type { Operator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const AT = '2026-11-21T12:00:00.000Z';

const idOf = (n: number): InvoiceId => `77777777-7777-4777-8777-7777777777${n}`;

/** The amount of the invoice that met note `n`: without an `xml_file` an import is refused beside each unsettled invoice of its amount. */
const amountOf = (n: number): number => 150_000 + n;

describeWithPostgres('an import of a note that an accepted invoice met under its number', () => {
  let operator: Operator;

  beforeAll(async () => {
    operator = await openImporter(CNPJ, AT);
  });
  afterAll(() => operator.close());

  const append = (stream: string, ...events: Parameters<typeof appendTo>[2]) =>
    appendTo(operator.session.store, stream, events, AT);
  const eventsOf = (id: InvoiceId) => operator.session.log.read(invoiceStream('live', CNPJ, id));
  const rebuildRows = async () =>
    expect(await operator.session.projections.rebuild('invoices', () => undefined)).toHaveProperty('done');
  /** The invoice, its first attempt and the conflict in which it met note `n`. */
  const meet = async (n: number, { sameContent = false }, ...more: readonly InvoiceEvent[]) => {
    const invoiceId = idOf(n);
    const { data } = conflictFound(1, 4, sameContent) as InvoiceEvent & { type: 'NumberConflictFound' };
    const met: InvoiceEvent = { type: 'NumberConflictFound', data: { ...data, accessKey: noteKey(CNPJ, n) } };
    const acceptance = accepted({ invoiceId, amountInCents: amountOf(n) });
    await append(invoiceStream('live', CNPJ, invoiceId), acceptance, attempted(1, 3), met, ...more);
  };
  const importing = async (n: number, fields: object = {}) => {
    const file = join(operator.folder, 'note.ndjson');
    const facts = { cnpj: CNPJ, mode: 'live', origin: 'legacy', state: 'issued', issued_at: AT };
    const line = {
      ...facts,
      amount_in_cents: amountOf(n),
      access_key: noteKey(CNPJ, n),
      reference: `order-${n}`,
      ...fields,
    };
    await writeFile(file, JSON.stringify(line));
    const { exit, out } = await operator.run('invoice', 'import', file, '--json');
    return { exit, ...(JSON.parse(out) as { imported?: number; already?: number; problems?: string[] }) };
  };
  const done = { exit: 0, imported: 1, already: 0, warnings: [] };
  const again = { exit: 0, imported: 0, already: 1, warnings: [] };
  const refused = (problem: unknown) => ({ exit: 1, problems: [problem] });
  const waits = (id: string): string =>
    `line 1: nfse_${id} met this note under its number, with equal amount, and is sent under the next number once its series goes on: where the line is of the same sale, give it with "id":"nfse_${id}", and without reference, description and idempotency_key. Where it is of another sale, give it again when that invoice has an outcome`;
  const leave = (id: string, equal: string): string =>
    `line 1: nfse_${id} met this note under its number, with equal ${equal}, and does not get the note now: where the line is of the same sale, leave nfse_${id} indeterminate and tell its client that this note counts`;

  it.each([
    ['with equal content', 81, true, {}, 'content'],
    ['with equal amount, as a repeat on another day does', 82, false, {}, 'amount'],
    ['with another amount', 83, false, { amount_in_cents: 9_900 }, undefined],
  ])('warns where that invoice is indeterminate, %s', async (_what, n, sameContent, fields, equal) => {
    await meet(n, { sameContent }, interrupted);
    await rebuildRows();
    const warnings = equal === undefined ? [] : [leave(idOf(n), equal)];
    expect(await importing(n, fields)).toEqual({ ...done, warnings });
    expect(await importing(n, fields)).toEqual({ ...again, warnings });
  });

  it('is refused while that invoice waits to be sent, and taken as its own note by its id', async () => {
    await meet(84, {});
    await rebuildRows();
    expect(await importing(84)).toMatchObject(refused(waits(idOf(84))));
    expect(await eventsOf(invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, 84)))).toEqual([]);
    const own = { id: idOf(84), reference: undefined };
    expect(await importing(84, own)).toEqual(done);
    expect((await eventsOf(idOf(84))).at(-1)).toMatchObject({
      type: 'Authorized',
      data: { accessKey: noteKey(CNPJ, 84) },
    });
    expect(await importing(84, own)).toEqual(again);
  });

  it.each([
    ['indeterminate', 85, [interrupted], [leave(idOf(85), 'amount')]],
    ['issued', 86, [attempted(2, 80), authorized(2, 90)], []],
  ])('is refused while that invoice waits to be sent, and taken as another sale once it is %s', async (...row) => {
    const [, n, end, warnings] = row;
    await meet(n, {});
    await rebuildRows();
    expect(await importing(n)).toMatchObject(refused(waits(idOf(n))));
    await append(invoiceStream('live', CNPJ, idOf(n)), ...end);
    expect(await importing(n)).toEqual({ ...done, warnings });
  });

  it('is refused where that invoice has met it since its row was made', async () => {
    await rebuildRows();
    await meet(87, {});
    expect(await importing(87)).toMatchObject(refused(waits(idOf(87))));
  });

  it('is refused where that invoice met it with equal content and is not indeterminate yet', async () => {
    const id = `nfse_${idOf(88)}`;
    await meet(88, { sameContent: true });
    await rebuildRows();
    const fields = { amount_in_cents: 9_900 };
    expect(await importing(88, fields)).toMatchObject(
      refused(
        `line 1: ${id} met this note under its number, with equal content: where the line is of the same sale, nfse invoice resolve ${id} --as issued --evidence portal once that invoice is indeterminate. Where it is of another sale, give the line again then`,
      ),
    );
    await append(invoiceStream('live', CNPJ, idOf(88)), interrupted);
    expect(await importing(88, fields)).toEqual({ ...done, warnings: [leave(idOf(88), 'content')] });
  });

  it('warns of an open invoice that may have got its own note since, and of a line that was there before', async () => {
    const warningOf = (id: string): string =>
      `line 1: nfse_${id} met this note under its number, with equal amount, and has no outcome yet: where the line is of the same sale and nfse_${id} is issued too, one of the two notes is too many`;
    expect(await importing(89)).toEqual(done);
    await meet(89, {});
    await rebuildRows();
    expect(await importing(89)).toEqual({ ...again, warnings: [warningOf(idOf(89))] });
    await meet(90, {}, attempted(2, 80));
    await rebuildRows();
    const before = { issued_at: '2026-11-21T10:00:00.000Z' };
    expect(await importing(90, before)).toEqual({ ...done, warnings: [warningOf(idOf(90))] });
  });

  it('needs no xml_file beside that invoice where a later attempt is in doubt, because the note it met is not its own', async () => {
    await meet(91, {}, attempted(2, 80), unknown(2, 90), interrupted);
    await rebuildRows();
    expect(await importing(91)).toEqual({ ...done, warnings: [leave(idOf(91), 'amount')] });
    const another = { access_key: noteKey(CNPJ, 92), reference: 'order-92' };
    expect(await importing(91, another)).toMatchObject(refused(expect.stringContaining('give xml_file')));
  });

  it('says what to do with the line where it leads to that invoice, which is indeterminate', async () => {
    const id = `nfse_${idOf(92)}`;
    await meet(92, {}, interrupted);
    const own = { id: idOf(92), reference: undefined };
    expect(await importing(92, own)).toMatchObject(
      refused(
        `line 1: ${id} met this note under its number with other content, and is indeterminate: give the line without its id, reference and idempotency_key. Where it is the same sale, leave ${id} indeterminate and tell its client that this note counts`,
      ),
    );
    expect(await importing(93, { ...own, amount_in_cents: amountOf(92) })).toMatchObject(
      refused(
        `line 1: ${id} is indeterminate: where the line is of the same sale, nfse invoice resolve ${id} --as issued --evidence portal looks for its note. Else give the line without its id, reference and idempotency_key`,
      ),
    );
    expect(await importing(92, { reference: undefined })).toMatchObject({ exit: 0, imported: 1 });
  });

  it('reads no rows for lines of test mode', async () => {
    const { supportReads } = operator.session;
    const newest = vi.spyOn(supportReads, 'newest');
    expect(await importing(91, { mode: 'test' })).toMatchObject({ exit: 0 });
    expect(newest).not.toHaveBeenCalled();
  });
});
