import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dpsId } from '../../src/domain/common/access-key.js';
import { dpsStream, type InvoiceId, invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds, DAY_SECONDS } from '../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { accepted, attempted, interrupted, notSent, rejected, unknown } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { noteKey, openImporter } from '../support/harness/importer.js';
import type { Operator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const AT = '2026-11-21T12:00:00.000Z';
const OWN = { amount: '1500.00', description: 'Desenvolvimento de sistema', customerDocument: '11111111000191' };
const ANOTHER_DAY = { ...OWN, description: 'Desenvolvimento de sistema, 20/11/2026' };
const SENT = [unknown(1, 60), interrupted];

const idOf = (n: number): InvoiceId => `77777777-7777-4777-8777-7777777777${n}`;
const dpsOf = (number: number) => dpsId({ municipality: '3304557', cnpj: CNPJ, series: '1', number });

describeWithPostgres('an import of a note under the number of an invoice that has not met it', () => {
  let operator: Operator;
  /** What the XML of a line holds: a file is the number of the note, and these facts. */
  const readNote = (xml: Buffer) => {
    const { n, ...facts } = JSON.parse(xml.toString()) as { n: number; content: typeof OWN; digest: string };
    return { accessKey: noteKey(CNPJ, n), authorizedAt: AT, dpsId: dpsOf(n), ...facts };
  };

  beforeAll(async () => {
    operator = await openImporter(CNPJ, AT, readNote);
  });
  afterAll(() => operator.close());

  const append = (stream: string, ...events: Parameters<typeof appendTo>[2]) =>
    appendTo(operator.session.store, stream, events, AT);
  /** Invoice `n` was sent under the number `n`, and no look-up has shown the note there. Numbers only grow. */
  const send = async (n: number, events: readonly InvoiceEvent[] = SENT) => {
    const invoiceId = idOf(n);
    const given = { invoiceId, number: n, nextNumber: n + 1, at: AT };
    await append(dpsStream('live', CNPJ, '1'), { type: 'DpsNumberAllocated', data: given });
    const { type, data } = attempted(1, 30);
    const sent: InvoiceEvent = { type, data: { ...data, number: n, dpsId: dpsOf(n) } };
    await append(invoiceStream('live', CNPJ, invoiceId), accepted({ invoiceId }), sent, ...events);
  };
  const importingLine = async (fields: object, ...flags: readonly string[]) => {
    const file = join(operator.folder, 'line.ndjson');
    const line = { cnpj: CNPJ, mode: 'live', origin: 'legacy', state: 'issued', amount_in_cents: 150_000 };
    await writeFile(file, JSON.stringify({ ...line, ...fields }));
    const { exit, out } = await operator.run('invoice', 'import', file, '--json', ...flags);
    return { exit, ...(JSON.parse(out) as { imported?: number; warnings?: string[]; problems?: string[] }) };
  };
  const writeNote = (n: number, facts: object = {}) =>
    writeFile(
      join(operator.folder, 'note.xml'),
      JSON.stringify({ n, content: OWN, digest: 'of the lost note', ...facts }),
    );
  const importing = async (n: number, facts: object, ...flags: readonly string[]) => {
    await writeNote(n, facts);
    return await importingLine({ xml_file: 'note.xml', reference: `order-${n}` }, ...flags);
  };
  const has = (n: number, equal: string): string =>
    `line 1: nfse_${idOf(n)} has this note under its number, with equal ${equal}`;
  const another = (n: number): string => `Where it is of another sale, give it with --other-sale ${noteKey(CNPJ, n)}`;
  const leave = (n: number, equal: string): string =>
    `${has(n, equal)}, and does not get the note now: where the line is of the same sale, leave nfse_${idOf(n)} indeterminate and tell its client that this note counts`;

  it('is refused where that invoice is indeterminate and can get it, unless it is said to be of another sale', async () => {
    await send(41);
    const refused = {
      exit: 1,
      problems: [
        `${has(41, 'content')}: where the line is of the same sale, nfse invoice resolve nfse_${idOf(41)} --as issued --evidence portal. ${another(41)}`,
      ],
    };
    expect(await importing(41, {})).toMatchObject(refused);
    expect(await importing(41, {}, '--other-sale', noteKey(CNPJ, 40))).toMatchObject(refused);
    expect(await importing(41, {}, '--other-sale', noteKey(CNPJ, 41))).toEqual({
      exit: 0,
      imported: 1,
      already: 0,
      warnings: [leave(41, 'content')],
    });
    expect(await importing(41, {})).toMatchObject({ exit: 0, already: 1 });
  });

  it('is taken with a warning where the description differs, because that invoice cannot get it', async () => {
    await send(42);
    expect(await importing(42, { content: ANOTHER_DAY })).toMatchObject({
      exit: 0,
      imported: 1,
      warnings: [leave(42, 'amount')],
    });
  });

  it('is refused while that invoice is open, with equal content or amount and customer', async () => {
    await send(43, [unknown(1, 60)]);
    const resolve = `nfse invoice resolve nfse_${idOf(43)} --as issued --evidence portal once that invoice is indeterminate`;
    expect((await importing(43, {})).problems).toEqual([expect.stringContaining(`the same sale, ${resolve}`)]);
    expect(await importing(43, { content: ANOTHER_DAY })).toMatchObject({
      exit: 1,
      problems: [
        `${has(43, 'amount')}, and may be sent under the next number: where the line is of the same sale, give it again when that invoice has met the note or has an outcome. ${another(43)}`,
      ],
    });
    expect(await importing(43, {}, '--other-sale', noteKey(CNPJ, 43))).toMatchObject({ exit: 0, imported: 1 });
  });

  it.each<[what: string, n: number, content: typeof OWN, events?: readonly InvoiceEvent[]]>([
    ['has another customer than that invoice', 44, { ...OWN, customerDocument: '' }],
    ['is of an invoice that has failed', 45, OWN, [rejected(1, 60)]],
  ])('is taken where it %s', async (_what, n, content, events) => {
    await send(n, events);
    expect(await importing(n, { content })).toMatchObject({ exit: 0, imported: 1, warnings: [] });
  });

  it('is refused as the note of that invoice where it holds what the invoice sent, whatever the operator says', async () => {
    for (const [n, events] of [
      [46, SENT],
      [47, [notSent(1, 60), interrupted]],
    ] as const) {
      await send(n, events);
      const owned = `line 1: xml_file is the note of nfse_${idOf(n)}: nfse invoice resolve nfse_${idOf(n)} --as issued --evidence portal`;
      for (const flags of [[], ['--other-sale', noteKey(CNPJ, n)]])
        expect(await importing(n, { digest: 'digest' }, ...flags)).toMatchObject({ exit: 1, problems: [owned] });
    }
  });

  it('is taken for the accepted invoice that the line names by its id', async () => {
    await send(48);
    const id: InvoiceId = '66666666-6666-4666-8666-666666666648';
    await append(invoiceStream('live', CNPJ, id), accepted({ invoiceId: id }));
    await writeNote(48);
    expect(await importingLine({ id: `nfse_${id}`, xml_file: 'note.xml' })).toMatchObject({
      exit: 0,
      imported: 1,
      warnings: [leave(48, 'content')],
    });
  });

  it('needs its xml_file also where it was made days before an indeterminate invoice of its amount was sent', async () => {
    await send(49);
    expect(await operator.session.projections.rebuild('invoices', () => undefined)).toHaveProperty('done');
    const doubt = expect.stringMatching(
      /^line 1: access_key may be that of nfse_\S+, whose outcome is unknown: give xml_file, or --other-sale \d{50} where /,
    );
    const byKey = (n: number, days: number, name: object, ...flags: readonly string[]) => {
      const issued_at = addSeconds(AT, -days * DAY_SECONDS);
      return importingLine({ access_key: noteKey(CNPJ, n), issued_at, ...name }, ...flags);
    };
    const taken = { exit: 0, imported: 1 };
    expect(await byKey(49, 6, { reference: 'a' })).toMatchObject({ exit: 1, problems: [doubt] });
    expect(await byKey(49, 6, { reference: 'a' }, '--other-sale', noteKey(CNPJ, 49))).toMatchObject(taken);
    expect(await byKey(50, 8, { reference: 'b' })).toMatchObject(taken);
    const id: InvoiceId = '66666666-6666-4666-8666-666666666651';
    await append(invoiceStream('live', CNPJ, id), accepted({ invoiceId: id }));
    expect(await byKey(51, 6, { id: `nfse_${id}` })).toMatchObject(taken);
    const sentSince = await byKey(52, 0, { reference: 'c' }, '--other-sale', noteKey(CNPJ, 52));
    expect(sentSince.problems).toEqual([expect.stringMatching(/whose outcome is unknown: give xml_file$/)]);
  });

  it('is refused without a command to settle that invoice where the signature of the file does not hold', async () => {
    await send(53);
    expect(await importing(53, { signatureFault: 'missing' })).toMatchObject({
      exit: 1,
      problems: [`line 1: xml_file is the note of nfse_${idOf(53)}`],
    });
  });

  it('is refused as the note of an open invoice none of whose attempts was sent, whose next send would find it too', async () => {
    await send(54, [notSent(1, 60)]);
    const owned = `line 1: xml_file is the note of nfse_${idOf(54)}`;
    const byId = `give it with "id":"nfse_${idOf(54)}", and without reference, description and idempotency_key`;
    for (const flags of [[], ['--other-sale', noteKey(CNPJ, 54)]])
      expect((await importing(54, { digest: 'digest' }, ...flags)).problems).toEqual([
        `${owned}, which waits to be sent: ${byId}`,
      ]);
    expect((await importing(54, { signatureFault: 'missing' })).problems).toEqual([owned]);
    await writeNote(54, { digest: 'digest' });
    const own = { id: `nfse_${idOf(54)}`, xml_file: 'note.xml' };
    expect(await importingLine(own)).toMatchObject({ exit: 0, imported: 1 });
  });

  it('is refused for the open invoice that the line names where it has another customer, and is taken as another sale', async () => {
    await send(55, [notSent(1, 60)]);
    const content = { ...OWN, customerDocument: '' };
    const own = { id: `nfse_${idOf(55)}`, xml_file: 'note.xml' };
    for (const facts of [{}, { digest: '', contradiction: { claimed: 'by sha1', computed: 'another' } }]) {
      await writeNote(55, { content, ...facts });
      expect(await importingLine(own)).toMatchObject({
        exit: 1,
        problems: [
          `line 1: nfse_${idOf(55)} was accepted with another customer than xml_file has, so the note is of another sale: give the line without its id, reference and idempotency_key`,
        ],
      });
    }
    expect(await importingLine({ xml_file: 'note.xml', reference: 'order-55' })).toMatchObject({
      exit: 0,
      imported: 1,
    });
    const events = (await operator.session.store.load(invoiceStream('live', CNPJ, idOf(55)))).events;
    expect(events.map(({ type }) => type)).not.toContain('Authorized');
  });

  it('is that of the open invoice where the note of another program has its amount without decimals', async () => {
    const content = { ...OWN, amount: '1500' };
    await send(56, [notSent(1, 60)]);
    await writeNote(56, { content });
    const own = { id: `nfse_${idOf(56)}`, xml_file: 'note.xml' };
    expect(await importingLine(own)).toMatchObject({ exit: 0, imported: 1 });

    await send(57, [notSent(1, 60)]);
    const doubt = { digest: '', contradiction: { claimed: 'by sha1', computed: 'another' } };
    const asAnotherSale = await importing(57, { content, ...doubt });
    expect(asAnotherSale).toMatchObject({ exit: 1, problems: [expect.stringContaining(`nfse_${idOf(57)}`)] });
  });

  it('takes keys of notes only as --other-sale', async () => {
    const { exit, err } = await operator.run('invoice', 'import', 'line.ndjson', '--other-sale', '12');
    expect({ exit, err }).toEqual({
      exit: 2,
      err: expect.stringContaining('--other-sale is the 50 characters of a note'),
    });
  });
});
