import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  invoiceIdOfAccessKey,
  invoiceIdOfKey,
  invoiceIdOfReference,
  sha256Hex,
} from '../../src/app/event-store/hashes.js';
import { parseImportLine, planLine } from '../../src/app/operator/import/import-line.js';
import { deleteTestInvoice } from '../../src/app/retention/test-retention.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { importCommand } from '../../src/cli/commands/invoice-import.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import type { Session } from '../../src/cli/session.js';
import { type AccessKey, accessKeyCheckDigit } from '../../src/domain/common/access-key.js';
import { dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import type { Cents } from '../../src/domain/common/money.js';
import { accepted, attempted, DPS_ID, imported as importedBefore, unknown } from '../support/fixture/invoice.js';
import { appendTo, movableClock } from '../support/harness/event-store.js';
import { importLine } from '../support/harness/importer.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { createMemoryGuards } from '../support/memory/guards.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const noteNumbered = (digits: string): string => {
  const first = `330455722${CNPJ}000000000001426082012345670`.slice(0, -1 - digits.length) + digits;
  return first + accessKeyCheckDigit(first);
};
const KEY = noteNumbered('70');
const AT = '2026-11-21T12:00:00.000Z';
const keyEnding = noteNumbered;

/** What the note says in place of `AT`. An earlier version imported lines that say otherwise. */
let authorizedAt = AT;

/** Other tests cover the reader of notes; here every file that names an access key counts as a note. */
const readNote = (xml: Buffer) =>
  xml.toString().startsWith('<NFSe>')
    ? {
        accessKey: xml.toString().slice(6, 56),
        authorizedAt,
        content: { amount: '10.00', description: '', customerDocument: '' },
        dpsId: DPS_ID,
        digest: 'digest',
        mode: xml.toString().endsWith('test') ? ('test' as const) : undefined,
        ...(xml.toString().endsWith('altered') ? { signatureFault: 'digest' } : {}),
        ...(xml.toString().endsWith('unsigned') ? { signatureFault: 'missing' } : {}),
      }
    : undefined;

describeWithPostgres('invoice import', () => {
  let operator: Operator;
  const commands = [importCommand(async () => readNote), ...companyCommands, ...eventCommands, ...projectionCommands];
  let folder: string;
  let session: Session;

  beforeAll(async () => {
    operator = await openOperator(commands, undefined, {}, movableClock('2026-11-22T12:00:00.000Z'));
    ({ folder, session } = operator);
    const company = {
      cnpj: CNPJ,
      legal_name: 'A',
      city: 'Rio de Janeiro',
      state: 'RJ',
      tax_regime: 'normal',
      activities: [{ cnae: '6201501', is_main: true }],
      automatic_issuance: true,
      issuer_configured: true,
      issuer_approved: true,
    };
    await writeFile(join(folder, 'company.json'), JSON.stringify(company));
    expect(await run('company', 'put', join(folder, 'company.json'))).toMatchObject({ exit: 0 });
  });
  afterAll(() => operator.close());

  const run = (...argv: string[]) => operator.run(...argv);
  const line = (fields: object = {}) => importLine(CNPJ, AT, fields);
  const importing = async (...lines: readonly unknown[]) => {
    const text = lines.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n');
    await writeFile(join(folder, 'invoices.ndjson'), text);
    return await run('invoice', 'import', join(folder, 'invoices.ndjson'), '--json');
  };
  const problemsOf = ({ exit, out }: { exit: number; out: string }): readonly string[] => {
    expect(exit).toBe(1);
    return (JSON.parse(out) as { problems: string[] }).problems;
  };
  const imported = (count: number, already: number) => ({
    exit: 0,
    out: expect.stringMatching(new RegExp(`^\\{"imported":${count},"already":${already},"warnings":`)),
    err: '',
  });
  const eventsOf = async (id: string) => await session.log.read(`nfseLive-${CNPJ}_${id}`);
  const countOf = async (): Promise<number> =>
    (await session.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 })).length;

  it('takes the line that the page of log recovery shows, whose note can be canceled', async () => {
    const page = await readFile('docs/operations/backup.md', 'utf8');
    const [, example = ''] = /`(\{"cnpj":[^`]*\})`/.exec(page) ?? [];
    expect(JSON.parse(example)).toMatchObject({ origin: 'legacy', state: 'issued' });
    await writeFile(join(folder, 'note.ndjson'), example);
    expect(await run('invoice', 'import', join(folder, 'note.ndjson'))).toMatchObject({ exit: 0 });
  });

  it('says which file is missing', async () => {
    expect(await operator.run('invoice', 'import', '/nowhere.ndjson')).toMatchObject({
      exit: 2,
      err: '/nowhere.ndjson cannot be read: there is no file /nowhere.ndjson',
    });
    expect(await operator.run('invoice', 'import', '/tmp')).toMatchObject({
      exit: 2,
      err: '/tmp cannot be read: /tmp is a folder',
    });
  });

  it('is repeatable: the same lines again are already there, also when written in another order of keys', async () => {
    const one = line({ reference: 'r-1', description: 'Parcela {{mes}}' });
    const other = line({ amount_in_cents: 2_000, description: 'sem id nem reference' });
    expect(await importing(one, other, one)).toEqual(imported(2, 1));
    const turned = Object.fromEntries(Object.entries(other).reverse());
    expect(await importing(one, turned)).toEqual(imported(0, 2));
    expect(await eventsOf(invoiceIdOfReference('live', CNPJ, 'r-1'))).toMatchObject([
      { type: 'InvoiceImported', data: { reference: 'r-1', competence: '2026-11-21' } },
    ]);
  });

  it('refuses other content for the same id', async () => {
    const id = 'nfse_11111111-1111-4111-8111-111111111111';
    expect(await importing(line({ id }))).toEqual(imported(1, 0));
    expect(problemsOf(await importing(line({ id, amount_in_cents: 7 })))).toEqual([
      `line 1: ${id} is on record with other content: amount_in_cents differs. No import changes an invoice on record: leave the line out`,
    ]);
  });

  it('takes the reference for an id of its own, and sees who holds it', async () => {
    const id = '22222222-2222-4222-8222-222222222222';
    expect(await importing(line({ id, reference: 'r-2' }))).toEqual(imported(1, 0));
    expect(await eventsOf(invoiceIdOfReference('live', CNPJ, 'r-2'))).toMatchObject([
      { type: 'ReferenceTaken', data: { invoiceId: id } },
    ]);
    expect(await importing(line({ id, reference: 'r-2' }))).toEqual(imported(0, 1));
    const late = { id: '33333333-3333-4333-8333-333333333333', reference: 'r-2' };
    expect(problemsOf(await importing(line(late)))).toEqual([`line 1: reference is held by nfse_${id}`]);
  });

  it('gives an invoice the id of the Idempotency-Key that it was made with, and keeps the key nowhere', async () => {
    expect(await importing(line({ idempotency_key: 'venda-1042' }))).toEqual(imported(1, 0));
    const events = await eventsOf(invoiceIdOfKey('live', CNPJ, sha256Hex('venda-1042'), 0));
    expect(events).toMatchObject([{ type: 'InvoiceImported' }]);
    expect(JSON.stringify(events.map(({ data, metadata }) => [data, metadata]))).not.toContain('venda-1042');
    const more = [{ reference: 'r-3' }, { id: 'nfse_44444444-4444-4444-8444-444444444444' }];
    const lines = more.map((fields) => line({ idempotency_key: 'venda-1043', ...fields }));
    expect(problemsOf(await importing(...lines))).toEqual([
      'line 1: idempotency_key goes without id and reference',
      'line 2: idempotency_key goes without id and reference',
    ]);
  });

  it('finishes what a process that died between the two events left', async () => {
    const id = '44444444-4444-4444-8444-444444444444';
    const whole = line({ id, reference: 'r-4' });
    const { store, clock } = session;
    const context = { commandId: id, correlationId: id, causationId: id, actor: 'support:test' as const };
    await store.append(
      `nfseLive-${CNPJ}_${invoiceIdOfReference('live', CNPJ, 'r-4')}`,
      { kind: 'none' },
      [{ type: 'ReferenceTaken', data: { invoiceId: id, takenAt: AT } }],
      { ...context, now: clock.now(), site: 'import_invoice' },
    );
    expect(await importing(whole)).toEqual(imported(1, 0));
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('names every bad line and imports none', async () => {
    const before = await countOf();
    const secret = 'MARIA SEGREDO';
    const result = await importing(
      line({ reference: 'never' }),
      '{',
      line({ cnpj: '00000000000191' }),
      line({ state: 'canceled', replaced_by: 'x', surprise: secret }),
      '',
      line({ issued_at: undefined, created_at: AT }),
      line({ origin: 'manual', state: 'canceled', issued_at: undefined }),
      line({ amount_in_cents: 1.5, customer: { name: secret, tax_id: '1' }, access_key: '1' }),
      line({ issued_at: '2026-13-01T00:00:00Z', competence: '2026-02-30' }),
      line({ xml_file: 'nowhere.xml' }),
      line({ issued_at: '2026-02-31T10:00:00-03:00', created_at: '9999-12-31T23:59:59-03:00' }),
      line({ issued_at: '21/11/2026' }),
    );
    expect(problemsOf(result)).toEqual([
      'line 2: is not JSON',
      'line 3 (00000000000191): cnpj 00000000000191 is no registered company: nfse company put FILE.json',
      'line 4 (12345678000195): surprise is not a known field',
      'line 6 (12345678000195): issued_at is missing (state issued)',
      'line 7 (12345678000195): competence is missing (origin manual): give competence, created_at or issued_at',
      'line 8 (12345678000195): amount_in_cents must be whole cents',
      'line 8 (12345678000195): access_key must be the 50 characters of an access key',
      'line 8 (12345678000195): customer.tax_id and customer.address are for foreign ones only',
      'line 9 (12345678000195): competence is no date',
      'line 9 (12345678000195): issued_at is no instant of the years 2000 to 2199',
      'line 10 (12345678000195): xml_file cannot be read',
      'line 11 (12345678000195): created_at is no instant of the years 2000 to 2199',
      'line 11 (12345678000195): issued_at is no instant of the years 2000 to 2199',
      'line 12 (12345678000195): issued_at must be an ISO 8601 instant with its zone',
    ]);
    expect(result.out).not.toContain(secret);
    expect(await countOf()).toBe(before);
  });

  it('refuses lines that claim the same id, reference or access key', async () => {
    const claims = [{ reference: 'twice' }, { access_key: KEY }, { id: '55555555-5555-4555-8555-555555555555' }];
    const lines = claims.flatMap((claim) => [line(claim), line({ ...claim, amount_in_cents: 3 })]);
    expect(problemsOf(await importing(...lines))).toEqual(
      [1, 3, 5].map((first) => `line ${first + 1}: its id, reference or access_key is that of line ${first}`),
    );
  });

  it('reads no XML but from a file of the size of a note', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await writeFile(join(folder, 'huge.xml'), Buffer.alloc(2 * 1024 * 1024 + 1));
    const lines = ['/dev/zero', 'pipe', 'huge.xml', '.'].map((xml_file) => line({ xml_file, reference: xml_file }));
    expect(problemsOf(await importing(...lines))).toEqual(
      [1, 2, 3, 4].map((number) => `line ${number}: xml_file cannot be read`),
    );
  });

  it('finds a line of an earlier version, which says otherwise than its XML, imported already', async () => {
    await mkdir(join(folder, 'earlier'));
    await writeFile(join(folder, 'earlier', 'a.xml'), `<NFSe>${keyEnding('77')}</NFSe>`);
    await writeFile(join(folder, 'earlier', 'b.xml'), `<NFSe>${keyEnding('78')}</NFSe>`);
    const earlier = line({ xml_file: 'earlier/a.xml', reference: 'earlier', mode: 'test' });
    expect(await importing(earlier)).toMatchObject({ exit: 0 });
    authorizedAt = '2026-11-21T12:00:03.000Z';
    try {
      expect(await importing(earlier)).toMatchObject({ exit: 0 });
      const other = line({ xml_file: 'earlier/b.xml', reference: 'other', mode: 'test' });
      expect(problemsOf(await importing(earlier, other)).join()).toContain('dhProc of xml_file is');
    } finally {
      authorizedAt = AT;
    }
  });

  it('refuses a customer whose CNPJ has letters, unless an earlier version imported the line', async () => {
    const letters = line({ customer: { document: '12.ABC.345/01DE-35', name: 'Alfa' }, reference: 'letters' });
    const parsed = parseImportLine(JSON.stringify(letters));
    if (!('line' in parsed)) throw new Error('an earlier version read this line');
    const planned = await planLine(parsed.line, { readXml: async () => undefined, readNote }, AT);
    if (!('plan' in planned)) throw new Error('an earlier version planned this line');
    const { stream, data } = planned.plan;
    const refused = await importing(letters);
    await appendTo(session.store, stream, [{ type: 'InvoiceImported', data: { ...data, importedAt: AT } }], AT);
    const onRecord = await importing(letters);
    expect(problemsOf(refused)).toEqual([
      'line 1: customer.document is a CNPJ with letters, which the API does not take yet: leave document out',
    ]);
    expect(onRecord).toEqual(imported(0, 1));
  });

  it('names an unknown field without its control characters', async () => {
    expect(problemsOf(await importing(line({ '\u001b]0;x\u0007\ny': 1 })))).toEqual([
      'line 1: \ufffd]0;x\ufffd\ufffdy is not a known field',
    ]);
  });

  it('takes access key and instant from the XML, whose path is relative to the file, and keeps it sealed', async () => {
    await mkdir(join(folder, 'xml'));
    await writeFile(join(folder, 'xml', 'a.xml'), `<NFSe>${KEY}</NFSe>`);
    await writeFile(join(folder, 'xml', 'other.xml'), `<NFSe>${KEY.replace(CNPJ, '11222333000181')}</NFSe>`);
    await writeFile(join(folder, 'xml', 'bad.xml'), '<html/>');
    await writeFile(join(folder, 'xml', 'test.xml'), `<NFSe>${KEY}</NFSe>test`);
    const wrong = problemsOf(
      await importing(
        line({ xml_file: 'xml/bad.xml' }),
        line({ xml_file: 'xml/other.xml', reference: 'o' }),
        line({ xml_file: 'xml/a.xml', access_key: keyEnding('99') }),
        line({ xml_file: 'xml/test.xml' }),
        line({ xml_file: 'xml/a.xml', issued_at: '2026-11-20T12:00:00-03:00', amount_in_cents: 999_999 }),
      ),
    );
    expect(wrong).toEqual([
      'line 1: xml_file is no NFS-e of the national layout',
      'line 2: xml_file is of another company',
      'line 3: access_key is not that of xml_file',
      'line 4: xml_file is of the other mode',
      `line 5: issued_at is 2026-11-20T15:00:00.000Z, and dhProc of xml_file is ${AT}: leave issued_at out`,
      'line 5: amount_in_cents is 999999, and vServ of xml_file is 10.00: give that in cents',
    ]);
    const good = line({ xml_file: 'xml/a.xml', reference: 'with-xml', issued_at: undefined });
    expect(await importing(good)).toEqual(imported(1, 0));
    const [event] = await eventsOf(invoiceIdOfReference('live', CNPJ, 'with-xml'));
    expect(event?.data).toMatchObject({ accessKey: KEY, issuedAt: AT, nfseXmlGzip: expect.stringMatching(/^sealed:/) });
  });

  it('takes a file whose signature does not hold, and warns of its line as often as it is given', async () => {
    const files = ['altered', 'signed', 'unsigned'].map((reference, index) => ({
      xml_file: `xml/${reference}.xml`,
      reference,
      access_key: keyEnding(`9${index}`),
    }));
    for (const { xml_file, reference, access_key } of files)
      await writeFile(join(folder, xml_file), `<NFSe>${access_key}</NFSe>${reference}`);
    const warnings = [
      'line 1: the signature of xml_file does not hold, so the file may not be what the authorizer made: compare it with the note at the national portal',
      'line 3: xml_file has no signature, so nothing shows that it is what the authorizer made',
    ];
    const { exit, out } = await importing(...files.map(line));
    expect([exit, JSON.parse(out)]).toEqual([0, { imported: 3, already: 0, warnings }]);
    const again = await run('invoice', 'import', join(folder, 'invoices.ndjson'));
    expect(again.out.split('\n')).toEqual([
      '0 invoices imported, 3 were there already',
      ...warnings.map((warning) => `warning: ${warning}`),
    ]);
    const [event] = await eventsOf(invoiceIdOfReference('live', CNPJ, 'altered'));
    expect(event?.data).toMatchObject({ nfseXmlGzip: expect.stringMatching(/^sealed:/) });
  });

  it('imports no line of a file with a line that one event cannot hold', async () => {
    const text = randomBytes(105_000).toString('base64');
    await writeFile(join(folder, 'wide.xml'), `<NFSe>${keyEnding('78')}</NFSe>${text}`);
    const wide = { xml_file: 'wide.xml', reference: 'wide' };
    const long = { ...wide, description: '\u0001'.repeat(10_000) };
    expect(problemsOf(await importing(line({ reference: 'beside-wide' }), line(long)))).toEqual([
      'line 2: xml_file and description are together too large to be recorded: shorten description',
    ]);
    expect(await importing(line({ reference: 'beside-wide' }), line({ ...wide, description: 'A' }))).toEqual(
      imported(2, 0),
    );
  });

  it('takes an issued_at whose second is that of the XML', async () => {
    const key = keyEnding('79');
    await writeFile(join(folder, 'fraction.xml'), `<NFSe>${key}</NFSe>`);
    const issued_at = AT.replace('.000Z', '.4Z');
    const result = await importing(line({ xml_file: 'fraction.xml', reference: 'fraction', issued_at }));
    expect(result).toEqual(imported(1, 0));
  });

  it('refuses the note of an invoice whose outcome is unknown, by the DPS in the XML', async () => {
    const invoiceId = '77777777-7777-4777-8777-777777777777';
    const allocated = { number: 7, nextNumber: 8, invoiceId, at: AT };
    await appendTo(session.store, dpsStream('live', CNPJ, '1'), [{ type: 'DpsNumberAllocated', data: allocated }], AT);
    const stream = invoiceStream('live', CNPJ, invoiceId);
    const open = [accepted({ companyId: CNPJ, invoiceId }), attempted(1, 1), unknown(1, 3)];
    await appendTo(session.store, stream, open, AT);
    await writeFile(join(folder, 'open.xml'), `<NFSe>${keyEnding('81')}</NFSe>`);
    const result = await importing(line({ xml_file: 'open.xml', reference: 'open' }));
    expect(problemsOf(result)).toEqual([`line 1: xml_file is the note of nfse_${invoiceId}`]);
  });

  it('refuses a key without XML while the note may be that of an invoice with this amount whose outcome is unknown', async () => {
    const invoiceId = '77777777-7777-4777-8777-777777777778';
    const amount_in_cents = 98_765;
    const open = accepted({ companyId: CNPJ, invoiceId, amountInCents: amount_in_cents as Cents });
    await appendTo(session.store, invoiceStream('live', CNPJ, invoiceId), [open, attempted(1, 1), unknown(1, 3)], AT);
    expect((await run('projections', 'rebuild', 'invoices')).exit).toBe(0);
    const before = { amount_in_cents, access_key: keyEnding('85'), issued_at: '2026-11-21T10:00:00.000Z' };
    const after = { ...before, access_key: keyEnding('86'), issued_at: '2026-11-21T12:00:02.000Z' };
    const results = [
      await importing(line(before), line({ ...after, amount_in_cents: 98_766, access_key: keyEnding('87') })),
      await importing(line(before), line(after)),
      // The clock of the authorizer may be an hour behind: the invoice was sent at 12:00:01.
      await importing(line(before), line({ ...after, issued_at: '2026-11-21T11:00:01.000Z' })),
    ];
    expect(results[0]).toEqual(imported(2, 0));
    for (const result of results.slice(1))
      expect(problemsOf(result)).toEqual([
        `line 2: access_key may be that of nfse_${invoiceId}, whose outcome is unknown: give xml_file`,
      ]);
  });

  describe('of a note', () => {
    const ids = ['88888888-8888-4888-8888-888888888881', '88888888-8888-4888-8888-888888888882'] as const;

    it('refuses the key that another import brought, although no row shows it yet', async () => {
      const access_key = keyEnding('82');
      expect(await importing(line({ access_key, reference: 'first' }))).toEqual(imported(1, 0));
      const result = await importing(line({ access_key, reference: 'second' }));
      expect(problemsOf(result)).toEqual([
        'line 1: access_key is that of an invoice on record: leave the line out, or give it without access_key and xml_file to reserve its reference',
        `line 1: access_key is held by nfse_${invoiceIdOfReference('live', CNPJ, 'first')}`,
      ]);
    });

    it('lets one of two operators import it who begin at once under two ids', async () => {
      const access_key = keyEnding('83');
      const files = await Promise.all(
        ids.map(async (id) => {
          const file = join(folder, `${id}.ndjson`);
          await writeFile(file, JSON.stringify(line({ id, access_key })));
          return file;
        }),
      );
      const results = await Promise.all(files.map((file) => run('invoice', 'import', file)));
      expect(results.map(({ exit }) => exit).sort()).toEqual([0, 1]);
      expect((await Promise.all(ids.map(eventsOf))).map((events) => events.length).sort()).toEqual([0, 1]);
    });

    it('names the id of an import that died before its invoice, under which the note can be imported', async () => {
      const access_key = keyEnding('84');
      const [id, other] = ids.map((one) => one.replaceAll('8888', '9999')) as [string, string];
      const stream = invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, access_key));
      await appendTo(session.store, stream, [{ type: 'ReferenceTaken', data: { invoiceId: id, takenAt: AT } }], AT);
      const refused = await importing(line({ id: other, access_key }));
      const taken = await importing(line({ id, access_key }));
      expect(problemsOf(refused)).toEqual([
        `line 1: access_key is held by nfse_${id}, which is not on record, because an import ended early or is at work: give the line with "id": "nfse_${id}"`,
      ]);
      expect(taken).toEqual(imported(1, 0));
    });
  });

  it('refuses what would make the service act wrongly, and imports none', async () => {
    const before = await countOf();
    const canceled = { state: 'canceled', canceled_at: '2026-11-21T11:59:59.000Z' };
    const result = await importing(
      line({ reference: 'good' }),
      line({ issued_at: '2026-11-22T12:05:01Z', reference: 'to-come' }),
      line({ ...canceled, canceled_at: '2026-12-01T00:00:00Z' }),
      line(canceled),
      line({ created_at: '2036-01-01T00:00:00-03:00', mode: 'test' }),
    );
    expect(problemsOf(result)).toEqual([
      'line 2: issued_at is 2026-11-22T12:05:01.000Z, which is still to come',
      'line 3: canceled_at is 2026-12-01T00:00:00.000Z, which is still to come',
      `line 4: canceled_at is 2026-11-21T11:59:59.000Z, before the note was issued, ${AT}`,
      'line 5: created_at is 2036-01-01T03:00:00.000Z, which is still to come',
    ]);
    expect(await countOf()).toBe(before);
  });

  it('takes an instant that is a little ahead, and finds a wrong line of an earlier version imported already', async () => {
    const id = '12121212-1212-4212-8212-121212121212';
    const access_key = keyEnding('64').replace(CNPJ, '12ABC678000195');
    const ahead = line({
      reference: 'ahead',
      created_at: '2026-11-22T12:05:00Z',
      issued_at: '2026-11-22T12:05:00Z',
    });
    const stored = { companyId: CNPJ, invoiceId: id, amountInCents: 1_000 as Cents, competence: '2027-01-01' };
    const wrong = importedBefore({
      ...stored,
      accessKey: access_key as AccessKey,
      issuedAt: '2027-01-01T12:00:00.000Z',
    });
    await appendTo(session.store, invoiceStream('live', CNPJ, id), [wrong], AT);
    const result = await importing(ahead, line({ id, access_key, issued_at: '2027-01-01T12:00:00Z' }));
    expect(result).toEqual(imported(1, 1));
  });

  it('takes a note of the company also after an import under another company, which may take no key that is on record', async () => {
    const invoiceId = '13131313-1313-4313-8313-131313131313';
    const other = '98765432000198';
    const access_key = keyEnding('63');
    const mistake = importedBefore({
      companyId: other,
      invoiceId,
      amountInCents: 1_000 as Cents,
      issuedAt: AT,
      accessKey: access_key as AccessKey,
    });
    await appendTo(session.store, invoiceStream('live', other, invoiceId), [mistake], AT);
    const foreign = keyEnding('62').replace(CNPJ, other);
    const third = { companyId: other, invoiceId: invoiceIdOfReference('live', other, 'third') };
    const ofThird = importedBefore({
      ...third,
      amountInCents: 1_000 as Cents,
      issuedAt: AT,
      accessKey: foreign as AccessKey,
    });
    await appendTo(session.store, invoiceStream('live', other, third.invoiceId), [ofThird], AT);
    const taken = await importing(line({ access_key, reference: 'after-all' }));
    const refused = await importing(line({ access_key: foreign }));
    expect(taken).toEqual(imported(1, 0));
    expect(problemsOf(refused)).toEqual([
      'line 1: access_key is that of an invoice on record: leave the line out, or give it without access_key and xml_file to reserve its reference',
    ]);
  });

  it('leaves a web-made invoice without competence as it is, and a test invoice in its mode', async () => {
    const web = { id: '66666666-6666-4666-8666-666666666666', origin: 'web' };
    expect(await importing(line(web), line({ mode: 'test', reference: 'r-t' }))).toEqual(imported(2, 0));
    expect((await eventsOf(web.id))[0]?.data).not.toHaveProperty('competence');
    const id = invoiceIdOfReference('test', CNPJ, 'r-t');
    expect(await session.log.read(`nfseTest-${CNPJ}_${id}`)).toHaveLength(1);
  });

  it('is repeatable too for a test invoice whose life was over when it came, and was swept away since', async () => {
    const old = line({ mode: 'test', reference: 'r-old', created_at: '2026-01-02T12:00:00.000Z' });
    expect(await importing(old)).toEqual(imported(1, 0));
    await deleteTestInvoice(`nfseTest-${CNPJ}_${invoiceIdOfReference('test', CNPJ, 'r-old')}`, {
      store: session.store,
      log: session.log,
      clock: session.clock,
      actor: 'timer:sweeper',
      ...createMemoryGuards(),
      previousGeneration: { end: async () => undefined },
      limits: {
        queuedSeconds: 900,
        processingSeconds: 3_600,
        cancellationSeconds: 3_600,
        sendSeconds: 30,
        lookupIntervalsSeconds: [30],
        testRetentionSeconds: session.testRetentionSeconds,
      },
    });
    expect(await importing(old)).toEqual(imported(0, 1));
    expect(problemsOf(await importing({ ...old, created_at: session.clock.now() }))).toEqual([
      'line 1: its life in test mode is over',
    ]);
  });

  it('refuses an empty file', async () => {
    expect(problemsOf(await importing(''))).toEqual(['the file has no line']);
  });
});
