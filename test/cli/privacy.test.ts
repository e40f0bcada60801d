import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { privacyCommand } from '../../src/cli/commands/privacy.js';
import { registryCommand } from '../../src/cli/commands/reference-data.js';
import { invoiceStream, type Mode, publicInvoiceId } from '../../src/domain/common/ids.js';
import { addSeconds, DAY_SECONDS } from '../../src/domain/common/time.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { companyFile } from '../support/fixture/company.js';
import { accepted } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const CPF = '11144477735';
const LEGAL_NAME = 'MARIA DA SILVA';
const idOf = (mode: Mode): string => invoiceIdOfReference(mode, CNPJ, 'pedido-1');
const company = { ...companyFile, legal_name: LEGAL_NAME };

describeWithPostgres('nfse privacy report', () => {
  let operator: Operator;
  const shown: string[] = [];
  beforeAll(async () => {
    operator = await openOperator(
      [privacyCommand, ...companyCommands, registryCommand, ...eventCommands, ...auditCommands()],
      { write: (text) => shown.push(text) },
    );
    const { folder, session } = operator;
    await writeFile(join(folder, 'company.json'), JSON.stringify(company));
    await operator.run('company', 'put', join(folder, 'company.json'));
    const entry = { cnpj: '11222333000181', legal_name: `LOJA ${CPF}` };
    await writeFile(join(folder, 'registry.json'), JSON.stringify(entry));
    await operator.run('registry', 'put', join(folder, 'registry.json'));
    const customer = { type: 'br' as const, document: CPF, name: 'Maria' };
    for (const mode of ['live', 'test'] as const) {
      const acceptedAt = session.clock.now();
      await appendTo(
        session.store,
        invoiceStream(mode, CNPJ, idOf(mode)),
        [accepted({ mode, invoiceId: idOf(mode), customer, acceptedAt })],
        acceptedAt,
      );
    }
  });
  afterAll(() => operator.close());

  it('says where the document stands, why and until when, and not a word of what it opened', async () => {
    const { exit, out } = await operator.run('privacy', 'report', '111.444.777-35', '--actor', 'ana');
    expect(exit).toBe(0);
    for (const text of ['2 invoices name it', `${CNPJ} live  1`, `${CNPJ} test  1`, publicInvoiceId(idOf('live'))])
      expect(out).toContain(text);
    expect(out).toContain('tax registry: registry-11222333000181');
    expect(out).toMatch(
      /event log, live invoices: .*Until: prazo decadencial\/prescricional.*confirm with your accountant/,
    );
    for (const secret of [CPF, '111.444.777-35', 'Maria', 'Desenvolvimento']) expect(out).not.toContain(secret);
    expect(shown.join('')).not.toContain(CPF);
  });

  it('answers one JSON document, and lists as many as asked for', async () => {
    const { exit, json } = await operator.runJson('privacy', 'report', CPF, '--limit', '1');
    expect(exit).toBe(0);
    expect(json).toMatchObject({
      document: { kind: 'cpf', mark: expect.stringMatching(/^hmac-sha256:m1:/) },
      totals: [
        { company: CNPJ, mode: 'live', invoices: 1 },
        { company: CNPJ, mode: 'test', invoices: 1 },
      ],
      invoices: [{ company: CNPJ, found_in: ['customer'], in_read_model: false }],
      registry: ['registry-11222333000181'],
      holdings: expect.arrayContaining([expect.objectContaining({ place: 'backups' })]),
    });
  });

  it('is narrowed by --company, with or without the mask', async () => {
    const own = await operator.runJson('privacy', 'report', CPF, '--company', '12.345.678/0001-95');
    expect(own.json).toMatchObject({ company: CNPJ, totals: [{ mode: 'live' }, { mode: 'test' }] });
    const { out } = await operator.run('privacy', 'report', CPF, '--company', CNPJ);
    expect(out).toContain(`of the company ${CNPJ} alone:\n2 invoices name it`);
  });

  it('refuses a company that is not there, of which nothing would be found', async () => {
    const unknown = await operator.run('privacy', 'report', CPF, '--company', '11444777000161');
    expect(unknown).toMatchObject({ exit: 1, err: expect.stringContaining('no company 11444777000161') });
  });

  it('takes the document from the first line of the input for -, so that no list of processes shows it', async () => {
    const { exit, out } = await operator.runWithInput('111.444.777-35\n12345678000195\n', 'privacy', 'report', '-');
    expect([exit, out]).toEqual([0, expect.stringContaining('2 invoices name it')]);
    expect(await operator.runWithInput('', 'privacy', 'report', '-')).toMatchObject({ exit: 2 });
  });

  it('names a company of this service by its own number', async () => {
    expect((await operator.runJson('privacy', 'report', '12.345.678/0001-95')).json.companies).toEqual([CNPJ]);
  });

  it('is on record with the actor and without the document, and the log stays provable', async () => {
    const { json } = await operator.runJson('events', 'show', 'audit-reveals');
    const events = json.events as { data: object; meta: object }[];
    expect(events[0]).toMatchObject({
      data: { command: 'privacy report', subject: expect.stringMatching(/^document hmac-sha256:m1:[0-9a-f]{64}$/) },
      meta: { actor: 'support:ana' },
    });
    expect(JSON.stringify(events)).not.toContain(CPF);
    expect((await operator.run('audit', 'verify', '--skip-drift')).exit).toBe(0);
  });

  it('says of a test invoice past its end that it waits for the sweeper, and that copies open', async () => {
    const acceptedAt = addSeconds(operator.session.clock.now(), -8 * DAY_SECONDS);
    const customer = { type: 'br' as const, document: '52998224725', name: 'Ana' };
    const ended = accepted({ mode: 'test', invoiceId: idOf('live'), customer, acceptedAt });
    await appendTo(operator.session.store, invoiceStream('test', CNPJ, idOf('live')), [ended], acceptedAt);
    const { out } = await operator.run('privacy', 'report', customer.document);
    expect(out).toMatch(/until: \S+ is over, waits for the sweeper; copies open until the sweeper destroys the key/);
  });

  it.each([['...'], ['1', '--limit', 'x'], []])('refuses bad usage: %s %s %s', async (...argv) => {
    expect((await operator.run('privacy', 'report', ...argv)).exit).toBe(2);
  });

  it('is one of the commands of nfse', () => {
    const commands = allCommands({}, () => {
      throw new Error('no configuration is asked for');
    });
    expect(commands.map(({ name }) => name)).toContain('privacy report');
  });
});
