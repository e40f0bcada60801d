import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendAudit } from '../../src/app/audit/audit-trail.js';
import { operatorContext } from '../../src/app/event-store/command-context.js';
import type { Command } from '../../src/cli/command.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import type { Session } from '../../src/cli/session.js';
import { dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { accepted, attempted } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres, type FreshDatabase } from '../support/postgres.js';

const commands: readonly Command[] = [
  ...companyCommands,
  ...certificateCommands,
  ...keyCommands,
  ...eventCommands,
  ...invoiceCommands,
  ...auditCommands(),
  doctorCommand,
];

const CNPJ = '12345678000195';
const file = {
  cnpj: CNPJ,
  legal_name: 'ESTUDIO EXEMPLO LTDA',
  city: 'Rio de Janeiro',
  state: 'RJ',
  tax_regime: 'simples',
  dps: { test: { series: '7', next_number: 20 } },
  activities: [{ cnae: '6201501', is_main: true }],
  automatic_issuance: true,
  issuer_configured: true,
  issuer_approved: true,
};

describeWithPostgres('the operator command', () => {
  let operator: Operator;
  let folder: string;
  let database: FreshDatabase;
  let session: Session;

  beforeAll(async () => {
    operator = await openOperator(commands);
    ({ folder, database, session } = operator);
    await writeFile(join(folder, 'company.json'), JSON.stringify(file));
  });
  afterAll(() => operator.close());

  const run = (...argv: string[]) => operator.run(...argv);

  const runJson = (...argv: string[]) => operator.runJson(...argv);

  const changedFile = async (changed: object): Promise<string> => {
    await writeFile(join(folder, 'changed.json'), JSON.stringify({ ...file, ...changed }));
    return join(folder, 'changed.json');
  };

  const put = async (changed: object) => await run('company', 'put', await changedFile(changed));

  it.each([
    ['key', 'create', '11222333000181', '--mode', 'test'],
    ['company', 'enable', '11222333000181'],
  ])('%s %s names the CNPJ that no company has', async (...argv) => {
    const err = 'no company 11222333000181: register it with company put first';
    expect(await run(...argv)).toMatchObject({ exit: 1, err });
  });

  it('company put registers a disabled company, and says nothing new the second time', async () => {
    expect(await run('company', 'put', join(folder, 'company.json'))).toMatchObject({ exit: 0 });
    expect(await run('company', 'put', join(folder, 'company.json'))).toMatchObject({ exit: 0 });
    const { json } = await runJson('events', 'show', `company-${CNPJ}`);
    expect(json).toMatchObject({ events: [{ type: 'CompanyRegistered', revision: 0, stream: `company-${CNPJ}` }] });
    expect((await runJson('company', 'show', CNPJ)).json).toMatchObject({
      cnpj: CNPJ,
      enabled: false,
      certificate: null,
    });
  });

  it('company put with a file without dps leaves the series where they are', async () => {
    const { out } = await put({ dps: undefined });
    expect(out).toMatch(/next DPS number: live 1 of series 1, test 20 of series 7$/m);
    const { json } = await runJson('company', 'show', CNPJ);
    expect(json.dps).toMatchObject({ test: { series: '7', next_number: 20 } });
  });

  it('company put refuses a bad file, naming everything that is wrong with it', async () => {
    const refused = await put({ cnpj: '1', surprise: true });
    expect(refused.exit).toBe(1);
    expect(refused.err).toContain('cnpj');
    expect(refused.err).toContain('surprise');
  });

  it('company put warns of a CNPJ whose check digits are wrong', async () => {
    const path = join(folder, 'typo.json');
    await writeFile(path, JSON.stringify({ ...file, cnpj: '11444777000162' }));
    const warning = 'warning: cnpj: the check digits of 11444777000162 are wrong: Sefin refuses every note';
    expect(await run('company', 'put', path, '--check')).toMatchObject({
      exit: 0,
      out: expect.stringContaining(warning),
    });
  });

  it('company put says where a file is no JSON, and where none is', async () => {
    const path = join(folder, 'comma.json');
    await writeFile(path, `{\n  "cnpj": "${CNPJ}",\n}\n`);
    expect((await run('company', 'put', path)).err).toContain(`${path} is not JSON: line 3, column 1`);
    const missing = join(folder, 'nowhere', '..', 'none.json');
    expect((await run('company', 'put', missing)).err).toContain(`there is no file ${join(folder, 'none.json')}`);
  });

  it('events search names the event type that was meant', async () => {
    expect((await run('events', 'search', '--type', 'Autorized')).err).toContain(
      'there is no event type Autorized; did you mean Authorized?',
    );
  });

  it('company put --check says what is wrong or what to know, and changes nothing', async () => {
    const changed = join(folder, 'changed.json');
    await writeFile(changed, JSON.stringify({ ...file, cnpj: '98765432000198', city: 'Rio de Janero' }));
    const checked = await run('company', 'put', changed, '--check');
    expect(checked).toMatchObject({ exit: 1, err: expect.stringContaining('nothing was changed') });
    expect(checked.err).toContain(
      'city and state: no municipality is called Rio de Janero/RJ; the nearest is Rio de Janeiro/RJ',
    );
    expect((await run('company', 'show', '98765432000198')).exit).toBe(1);
    await writeFile(changed, JSON.stringify({ ...file, state: 'Rio' }));
    expect(await run('company', 'put', changed, '--check')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('state must be a state in two capital letters'),
    });
  });

  it('company put --template prints a file that company put takes, and explains every field beside it', async () => {
    const { out, err } = await run('company', 'put', '--template');
    await writeFile(join(folder, 'template.json'), out);
    expect(await run('company', 'put', join(folder, 'template.json'), '--check')).toMatchObject({ exit: 0 });
    for (const field of ['cnpj', 'dps.live.next_number', 'activities[].cnae', 'ibs_cbs{}.ind_op'])
      expect(err).toMatch(new RegExp(`^${field.replaceAll(/[.[\]]/g, '\\$&')} +\\S.{15,}`, 'm'));
    expect((await runJson('company', 'put', '--template')).json).toEqual(JSON.parse(out));
    expect((await run('company', 'put', 'x.json', '--template')).exit).toBe(2);
  });

  it('company put says the next number of each series, and which one stays stopped', async () => {
    const first = { dps: { live: { series: '31', next_number: 40 }, test: { series: '7', next_number: 20 } } };
    expect((await put(first)).out).toContain('recorded; next DPS number: live 40 of series 31, test 20 of series 7');
    const stream = dpsStream('live', CNPJ, '31');
    const { version } = await session.store.load(stream);
    const stopped = {
      nextNumber: 41,
      number: 40,
      invoiceId: '00000000-0000-4000-8000-000000000001',
      at: '2026-11-21T12:00:00.000Z',
    };
    const context = operatorContext('operate_company', { actor: 'support:ana', companyId: CNPJ })(stopped.at);
    await session.store.append(stream, version, [{ type: 'DpsSeriesBlocked', data: stopped }], context);
    const same = await put(first);
    expect(same).toMatchObject({ exit: 0 });
    expect(same.out).toMatch(
      /warning: series 31 of live mode stays stopped: where a copy .* was put back: nfse restore --mark, then nfse doctor --reconcile; else put a next number of 41 or later/,
    );
    const later = { ...first.dps, live: { series: '31', next_number: 41 } };
    const { json } = await operator.runJson('company', 'put', await changedFile({ dps: later }));
    expect(json).toMatchObject({ dps: { live: { series: '31', next_number: 41, stopped: false } } });
  });

  it('company put says that a series is used up, and that another one is needed', async () => {
    const first = {
      dps: { live: { series: '1', next_number: 20 }, test: { series: '77', next_number: 999_999_999_999_999 } },
    };
    expect(await put(first)).toMatchObject({ exit: 0 });
    const stream = dpsStream('test', CNPJ, '77');
    const { version } = await session.store.load(stream);
    const last = { number: 999_999_999_999_999, nextNumber: 1_000_000_000_000_000, at: '2026-11-21T12:00:00.000Z' };
    const data = { ...last, invoiceId: '00000000-0000-4000-8000-000000000001' };
    const context = operatorContext('operate_company', { actor: 'support:ana', companyId: CNPJ })(last.at);
    await session.store.append(stream, version, [{ type: 'DpsNumberAllocated', data }], context);
    const { out } = await put(first);
    const { json } = await operator.runJson('company', 'put', await changedFile(first));
    expect(out).toContain('test none of series 77');
    expect(out).toContain('warning: series 77 of test mode is used up: name another dps.test.series');
    expect(json).toMatchObject({ dps: { test: { series: '77', next_number: null, stopped: true } } });
  });

  it('takes a CNPJ with its mask, in a file, as an argument and in a flag', async () => {
    expect(await put({ cnpj: '12.345.678/0001-95', activities: [{ cnae: '6201-5/01', is_main: true }] })).toMatchObject(
      {
        exit: 0,
        out: expect.stringContaining(`company ${CNPJ} recorded`),
      },
    );
    expect((await runJson('company', 'show', '12.345.678/0001-95')).json).toMatchObject({
      cnpj: CNPJ,
      activities: [{ cnae: '6201501' }],
    });
    const { json } = await runJson('events', 'search', '--company', '12.345.678/0001-95');
    expect((json.events as unknown[]).length).toBeGreaterThan(0);
    expect(await put({ municipal_codes: { '010101': '003', '01.01.01': '004' } })).toMatchObject({
      exit: 1,
      err: expect.stringContaining('municipal_codes names a service code twice'),
    });
  });

  it('company enable warns of a city that no municipality has', async () => {
    await put({ city: 'Rio de Janero' });
    expect((await run('company', 'enable', CNPJ)).out).toContain('the nearest is Rio de Janeiro/RJ');
    expect((await run('company', 'enable', CNPJ)).out).toContain('warning: it has no certificate');
    expect((await run('doctor')).out).toMatch(
      new RegExp(`^BAD +city ${CNPJ} .*Rio de Janeiro/RJ.* -> nfse company put`, 'm'),
    );
    await put({});
    await run('company', 'disable', CNPJ);
  });

  it('company enable and disable hold at once in the read model, with the actor on record', async () => {
    expect(await run('company', 'enable', CNPJ, '--actor', 'maria')).toMatchObject({ exit: 0 });
    expect(await session.readModel.company(CNPJ)).toMatchObject({ enabled: true });
    expect(await run('company', 'disable', CNPJ)).toMatchObject({ exit: 0 });
    expect(await session.readModel.company(CNPJ)).toMatchObject({ enabled: false });
    const { json } = await runJson('events', 'show', `company-${CNPJ}`);
    const { events } = json as { events: { type: string; meta: { actor: string } }[] };
    expect(events.slice(-2)).toMatchObject([
      { type: 'CompanyEnabled', meta: { actor: 'support:maria' } },
      { type: 'CompanyDisabled' },
    ]);
  });

  it('key create shows the key once; list and the log never do; revoke holds at once', async () => {
    const created = await runJson('key', 'create', CNPJ, '--mode', 'test', '--scope', 'nfse:read');
    expect(created.json).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^svc_sk_test_[\w-]{43}$/),
      mode: 'test',
      scopes: ['nfse:read'],
    });
    const { id, key } = created.json as { id: string; key: string };
    const listed = await run('key', 'list', CNPJ, '--json');
    const events = await run('events', 'show', `company-${CNPJ}`, '--json');
    expect(listed.out).toContain(id);
    for (const shown of [listed.out, events.out]) expect(shown).not.toContain(key);
    expect(await run('key', 'revoke', id)).toMatchObject({ exit: 0 });
    expect(await session.readModel.credentialById(id)).toMatchObject({ revoked: true });
  });

  it('key revoke finds a whole key, also from stdin, and repeats none', async () => {
    const newKey = async () =>
      (await runJson('key', 'create', CNPJ, '--mode', 'test')).json as { id: string; key: string };
    const [typed, piped, other] = [await newKey(), await newKey(), await newKey()];
    const unknown = `${other.key.slice(0, -1)}${other.key.endsWith('A') ? 'B' : 'A'}`;
    const said = [
      await run('key', 'revoke', typed.key),
      await operator.runWithInput(`${piped.key}\n`, 'key', 'revoke', '-'),
    ];
    expect(said).toMatchObject([
      { exit: 0, out: expect.stringContaining(typed.id) },
      { exit: 0, out: expect.stringContaining(piped.id) },
    ]);
    for (const { id } of [typed, piped])
      expect(await session.readModel.credentialById(id)).toMatchObject({ revoked: true });
    for (const wrong of [
      unknown,
      other.key.slice(0, 30),
      other.key.slice(1),
      // An argument that begins with a hyphen is an option.
      other.key.slice(12).replace(/^-/, 'A'),
    ]) {
      const refused = await run('key', 'revoke', wrong);
      expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('nothing was revoked') });
      said.push(refused, await run('key', 'revoke', wrong, '--json'));
    }
    const two = await operator.runWithInput(`${other.key} ${typed.key}\n`, 'key', 'revoke', '-');
    expect(two).toMatchObject({ exit: 1, err: expect.stringContaining('several API keys') });
    const none = await operator.runWithInput('KEY=\n', 'key', 'revoke', '-');
    expect(none).toMatchObject({ exit: 1, err: expect.stringContaining('holds no whole API key') });
    said.push(two, none);
    expect(said.map(({ out, err }) => out + err).join('')).not.toContain(other.key.slice(12, 30));
    expect(said.map(({ out, err }) => out + err).join('')).not.toContain('svc_sk_');
    expect(await session.readModel.credentialById(other.id)).toMatchObject({ revoked: false });
    expect(await operator.runWithInput('\n', 'key', 'revoke', '-')).toMatchObject({ exit: 2 });
  });

  it.each<[where: string, line: (key: string) => string]>([
    ['a header', (key) => `Authorization: Bearer ${key}`],
    ['a settings file', (key) => `export KEY=${key}`],
    ['code', (key) => `const key = "${key}";`],
    ['a log that names it twice', (key) => `{"a":"${key}","b":"${key}"}`],
  ])('key revoke finds a key in the line of %s', async (_where, line) => {
    const { id, key } = (await runJson('key', 'create', CNPJ, '--mode', 'live')).json as { id: string; key: string };
    const revoked = await operator.runWithInput(`${line(key)}\n`, 'key', 'revoke', '-');
    expect(revoked).toMatchObject({ exit: 0, out: expect.stringContaining(id) });
    expect(await session.readModel.credentialById(id)).toMatchObject({ revoked: true });
  });

  it('certificate issue-demo stores an encrypted certificate of the company', async () => {
    expect(await run('certificate', 'issue-demo', CNPJ)).toMatchObject({ exit: 0 });
    const certificateId = (await session.readModel.company(CNPJ))?.certificate?.certificateId ?? '';
    expect(await session.vault.open(CNPJ, certificateId)).toMatchObject({ cnpj: CNPJ });
    const { rows } = await database.pool.query<{ sealed: string }>('select sealed from vault_certificates');
    expect(rows[0]?.sealed).not.toContain('PRIVATE KEY');
  });

  it.each([
    [['company', 'enable', '00000000000000'], 1],
    [['company', 'show', '00000000000000'], 1],
    [['key', 'create', CNPJ], 2],
    [['key', 'create', CNPJ, '--mode', 'both'], 2],
    [['key', 'create', CNPJ, '--mode', 'test', '--scope', 'all'], 2],
    [['key', 'revoke', 'key_none'], 1],
    [['events', 'show', 'nfse_00000000-0000-4000-8000-000000000000'], 1],
    [['invoice', 'timeline', '00000000-0000-4000-8000-000000000000'], 1],
    [['certificate', 'put', CNPJ], 2],
    [['company', 'put'], 2],
    [['company', 'put', '/nowhere.json'], 2],
    [['company', 'list', '--colour', 'red'], 2],
    [['dance'], 2],
    [['--help'], 0],
    [['company', 'put', '--help'], 0],
  ])('%j exits with %i and says why', async (argv, exit) => {
    const result = await run(...argv);
    expect(result.exit).toBe(exit);
    expect((exit === 0 ? result.out : result.err).length).toBeGreaterThan(10);
  });

  it('audit verify and doctor find nothing wrong, and doctor says SIMULADO', async () => {
    expect((await runJson('audit', 'verify')).json).toMatchObject({ ok: true, findings: [] });
    const { out } = await run('doctor');
    expect(out).toContain('SIMULADO');
    const { host, pathname, username, password } = new URL(database.connectionString);
    const line = out.split('\n').find((one) => one.startsWith('ok   database ')) ?? '';
    expect(line).toMatch(new RegExp(` PostgreSQL [\\d.]+.* at ${host}${pathname}$`));
    expect(line).not.toContain(username);
    expect(line).not.toContain(password);
    expect(out).toContain(`certificate ${CNPJ}`);
  });

  it('audit verify names the event that was changed behind our back', async () => {
    const change = (from: string, to: string) =>
      database.admin.query('update event_log set record = replace(record, $1, $2) where stream = $3 and revision = 0', [
        from,
        to,
        `company-${CNPJ}`,
      ]);
    await change('Rio de Janeiro', 'Rio de Fevereiro');
    const report = await runJson('audit', 'verify', '--skip-drift');
    await change('Rio de Fevereiro', 'Rio de Janeiro');
    expect(report).toMatchObject({
      exit: 1,
      json: { ok: false, findings: [{ kind: 'hash_mismatch', stream: `company-${CNPJ}`, revision: 0 }] },
    });
  });

  it('company put names the comparison that came after the stop of a series, so that it need not be repeated', async () => {
    const first = { dps: { live: { series: '32', next_number: 40 }, test: { series: '7', next_number: 20 } } };
    await put(first);
    const { store } = session;
    const invoiceId = '00000000-0000-4000-8000-000000000032';
    const { type, data } = attempted(1, 25);
    const sent = { type, data: { ...data, series: '32', number: 40, dpsId: '32' } };
    const invoice = [accepted({ mode: 'live', companyId: CNPJ, invoiceId, reference: 'pedido-32' }), sent];
    await appendTo(store, invoiceStream('live', CNPJ, invoiceId), invoice, data.attemptedAt);
    const stopped = { nextNumber: 41, number: 40, invoiceId, at: data.deadlineAt };
    await appendTo(store, dpsStream('live', CNPJ, '32'), [{ type: 'DpsSeriesBlocked', data: stopped }], stopped.at);
    const clock = { now: () => addSeconds(stopped.at, 60) };
    await appendAudit('LogRecovered', { unknownNotes: 0, accessKeys: [] }, { store, clock, actor: 'support:ana' });
    const { out } = await put(first);
    expect(out).toContain(
      `warning: series 32 of live mode stays stopped: put a next number of 41 or later, greater than the number of every note of the series. Only where a copy of the log or of DATA_DIR was put back after the comparison that ended at ${clock.now()}, first: nfse restore --mark, then nfse doctor --reconcile`,
    );
  });
});
