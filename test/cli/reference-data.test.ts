import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCopiedField } from '../../src/app/event-store/codec.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import type { Session } from '../../src/cli/session.js';
import { referenceCommands } from '../../src/runtime/commands/main.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const commands = [...referenceCommands, ...companyCommands, ...eventCommands, doctorCommand];
const HEADER = 'cnae\tservice_code\tnbs\tdescription\tis_default';
const RIO = '3304557';
const CUSTOMER = '11222333000181';

describeWithPostgres('the operator command over reference data', () => {
  let operator: Operator;
  let folder: string;
  let session: Session;

  beforeAll(async () => {
    operator = await openOperator(commands);
    ({ folder, session } = operator);
  });
  afterAll(() => operator.close());

  const run = (...argv: string[]) => operator.run(...argv);
  const runJson = (...argv: string[]) => operator.runJson(...argv);
  const fileOf = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const importLines = async (...rows: string[]) =>
    await run('catalog', 'import', await fileOf('lines.tsv', [HEADER, ...rows].join('\n')));
  const eventsOf = async (stream: string) =>
    ((await runJson('events', 'show', stream)).json as { events: { type: string; data: object }[] }).events;

  it('catalog import replaces the lines of the CNAEs it names, and export shows them over the shipped ones', async () => {
    const before = (await run('catalog', 'export')).out.split('\n');
    const imported = await importLines(
      '6201501\t010101\t\tConfirmada\ttrue',
      '6201501\t010201\t115021000\tOutra\tfalse',
    );
    expect(imported).toMatchObject({ exit: 0, out: '2 lines of 1 CNAE on record, 1 CNAE changed' });
    const after = (await run('catalog', 'export')).out.split('\n');
    expect(after.filter((line) => line.startsWith('6201501'))).toEqual([
      '6201501\t010101\t\tConfirmada\ttrue\tfalse\t\t\t\t\t\tnbs, ind_op, class_trib\t',
      '6201501\t010201\t115021000\tOutra\tfalse\tfalse\t\t\t\t\tind_op 100301; class_trib 000001\t\t',
    ]);
    const others = (lines: string[]) => lines.filter((line) => !line.startsWith('6201501'));
    expect(others(after)).toEqual(others(before));
    expect(others(after).length).toBeGreaterThan(3_000);
  });

  it('a company’s lines say what their IBS and CBS lack, and a choice settles it for the catalogue or for the company', async () => {
    const cnpj = '11444777000161';
    const file = {
      cnpj,
      legal_name: 'OFICINA LTDA',
      city: 'Rio de Janeiro',
      state: 'RJ',
      tax_regime: 'normal',
      activities: [{ cnae: '9511800', is_main: true }],
      automatic_issuance: true,
      issuer_configured: true,
      issuer_approved: true,
    };
    const put = async (changes: object) =>
      await run('company', 'put', await fileOf('company.json', JSON.stringify({ ...file, ...changes })));
    const lines = async () =>
      ((await runJson('company', 'show', cnpj)).json as { ibs_cbs_lines: object }).ibs_cbs_lines;
    const doctor = async () =>
      (await run('doctor')).out.split('\n').filter((one) => one.includes(`IBS and CBS ${cnpj}`));
    const recorded = await put({});
    const enabled = await run('company', 'enable', cnpj);
    for (const { exit, out } of [recorded, enabled]) {
      expect(exit).toBe(0);
      expect(out).toContain('service 310101 200052 (-30 %)');
      expect(out).toContain('or 000001 without the reduction');
    }
    expect(await lines()).toMatchObject({ owed_from: '2026-10-01', lines: 7, without: 3, missing: { ind_op: 3 } });
    expect(await lines()).toMatchObject({
      reductions_to_confirm: expect.arrayContaining([{ service_code: '310101', class_trib: '200052', percent: 30 }]),
    });
    expect((await doctor()).join()).toContain('missing: ind_op in 3');

    const exported = await run('catalog', 'export', '--company', cnpj);
    expect(exported.err).toContain('3 go out without');
    const rows = exported.out.split('\n');
    const repair = rows.find((row) => row.includes('\t140101\t'))?.split('\t') ?? [];
    expect(repair.slice(-6)).toEqual(['', '000001', '', 'ind_op 050101 050102', 'ind_op', '']);
    expect(
      rows
        .find((row) => row.includes('\t310101\t'))
        ?.split('\t')
        .at(-1),
    ).toBe('class_trib 200052 (-30 %)');

    expect(await put({ ibs_cbs: { '140101': { ind_op: '050101' } } })).toMatchObject({ exit: 0 });
    expect((await runJson('company', 'show', cnpj)).json).toMatchObject({
      ibs_cbs: { '140101': { ind_op: '050101' } },
    });
    expect(await lines()).toMatchObject({ declared: 1, without: 2, missing: { ind_op: 2 } });
    expect(await put({ ibs_cbs: { declare: false } })).toMatchObject({ exit: 0 });
    expect(await lines()).toMatchObject({ without: 7, missing: { 'declare is false': 7 } });
    expect(await put({})).toMatchObject({ exit: 0 });

    const settled = rows.map((row) =>
      row.replace(/\t\t000001\t\tind_op (\d+)[^\t]*\tind_op\t$/, '\t$1\t000001\t\t\t\t'),
    );
    const file2 = await fileOf('settled.tsv', settled.join('\n'));
    expect(await run('catalog', 'import', file2)).toMatchObject({ exit: 0 });
    expect(await lines()).toMatchObject({ declared: 3, without: 0, missing: {} });
    expect(await doctor()).toEqual([]);
  });

  it('company put names what is wrong in the choices, and records nothing', async () => {
    const ibs_cbs = { '999999': { ind_op: '100302' }, '010101': {} };
    const file = {
      cnpj: '11444777000161',
      legal_name: 'X',
      city: 'Rio de Janeiro',
      state: 'RJ',
      tax_regime: 'normal',
      activities: [{ cnae: '6201501', is_main: true }],
      automatic_issuance: true,
      issuer_configured: true,
      issuer_approved: true,
      ibs_cbs,
    };
    const refused = await run('company', 'put', await fileOf('wrong.json', JSON.stringify(file)));
    expect(refused).toMatchObject({ exit: 1 });
    expect(refused.err).toContain('ibs_cbs.999999: no service of the national list has this code');
    expect(refused.err).toContain('ibs_cbs.999999: ind_op 100302 is for customers abroad');
    expect(refused.err).toContain('ibs_cbs.010101: must have ind_op or class_trib');
  });

  it('catalog import takes municipal codes of a former column over into the companies that use the lines', async () => {
    const cnpj = '98765432000198';
    const file = {
      cnpj,
      legal_name: 'X',
      city: 'Rio de Janeiro',
      state: 'RJ',
      tax_regime: 'normal',
      activities: [{ cnae: '6209100', is_main: true }],
      municipal_codes: { '010601': '002' },
      automatic_issuance: true,
      issuer_configured: true,
      issuer_approved: true,
    };
    expect(await run('company', 'put', await fileOf('former.json', JSON.stringify(file)))).toMatchObject({ exit: 0 });
    const header = 'cnae\tservice_code\tnbs\tdescription\tis_default\tmunicipal_code';
    const rows = [
      '6209100\t010701\t115021000\tA\ttrue\t003',
      '6209100\t010601\t115021000\tB\tfalse\t009',
      '9609299\t060101\t126021000\tC\ttrue\t004',
    ];
    const former = await fileOf('former.tsv', [header, ...rows].join('\n'));
    const imported = await run('catalog', 'import', former);
    expect(imported).toMatchObject({ exit: 0 });
    expect(imported.out).toContain(`municipal_code 003 of service 010701 is in municipal_codes of ${cnpj} now`);
    expect(imported.out).toContain('municipal_code 004 of CNAE 9609299, service 060101: no company has this CNAE');
    const shown = (await runJson('company', 'show', cnpj)).json;
    expect(shown).toMatchObject({ municipal_codes: { '010601': '002', '010701': '003' } });
    expect((await run('catalog', 'import', former)).out).not.toContain('now');
  });

  it('a file with wrong lines is refused with its name and no colon, and an empty registry file counts nothing as on record', async () => {
    const { exit, json } = await runJson('catalog', 'import', await fileOf('bad.tsv', `${HEADER}\n1\t1\t\t\ttrue`));
    expect([exit, json.error]).toEqual([1, expect.stringMatching(/bad\.tsv was not imported$/)]);
    expect(await run('registry', 'put', await fileOf('none.json', '[]'))).toMatchObject({
      out: '0 entries in the file, 0 changed',
    });
  });

  it('catalog import of the same file again is no news', async () => {
    const row = '6202300\t010101\t115021000\tA\ttrue';
    await importLines(row);
    expect(await importLines(row)).toMatchObject({ exit: 0, out: '1 line of 1 CNAE on record, 0 CNAEs changed' });
    expect(await eventsOf('catalog-6202300')).toHaveLength(1);
  });

  it('catalog import says which file is missing', async () => {
    expect(await operator.run('catalog', 'import', '/nowhere.tsv')).toMatchObject({
      exit: 2,
      err: '/nowhere.tsv cannot be read: there is no file /nowhere.tsv',
    });
  });

  it('catalog import names every bad row with its line number, and imports nothing', async () => {
    const refused = await importLines(
      '9602501\t060101\t\tBoa\ttrue',
      '96025\t060101\t\tCurta\ttrue',
      '9602501\t999999\t\tSem tabela\tfalse',
      '9602501\t060201\t12\t\tsim',
      '9602501\t060301\t\tSegunda\ttrue',
    );
    expect(refused.exit).toBe(1);
    expect(
      refused.err
        .split('\n')
        .slice(1)
        .map((line) => line.trim()),
    ).toEqual([
      'line 3: cnae must be 7 digits',
      'line 4: service_code 999999 is not in the national list',
      'line 5: nbs must be 9 digits or empty',
      'line 5: description must not be empty',
      'line 5: is_default must be true or false',
      'line 6: a second default line of CNAE 9602501',
    ]);
    expect(await session.readModel.catalogLines(['9602501'])).toEqual(new Map());
  });

  it('municipality set keeps what it does not name', async () => {
    expect(await run('municipality', 'set', RIO, '--requires-customer', 'on')).toMatchObject({ exit: 0 });
    expect((await runJson('municipality', 'show', RIO)).json).toEqual({
      municipal_codes: { test: [], live: [] },
      parameters: { test: [], live: [] },
      ibge: RIO,
      name: 'Rio de Janeiro',
      state: 'RJ',
      requires_customer: true,
      requires_registration: false,
      set_by_operator: ['requires_customer'],
    });
    await run('municipality', 'set', RIO, '--requires-registration', 'on');
    await run('municipality', 'set', RIO, '--requires-customer', 'off');
    expect(await session.readModel.municipalityDemands(RIO)).toEqual({
      requiresCustomer: false,
      requiresRegistration: true,
    });
    await run('municipality', 'set', RIO, '--requires-customer', 'off');
    expect(await eventsOf(`municipality-${RIO}`)).toHaveLength(3);
  });

  it('registry put seals names and addresses, in the log and in the read model', async () => {
    const address = {
      street: 'Rua A',
      number: '1',
      district: 'Centro',
      city: 'Rio de Janeiro',
      state: 'RJ',
      postal_code: '20040030',
    };
    const entry = { cnpj: CUSTOMER, legal_name: 'MARIA SEGREDO 52998224725', address };
    expect(await run('registry', 'put', await fileOf('entry.json', JSON.stringify(entry)))).toMatchObject({ exit: 0 });
    expect(JSON.stringify(await eventsOf(`registry-${CUSTOMER}`))).not.toContain('SEGREDO');
    const row = await session.readModel.registryEntry(CUSTOMER);
    expect(JSON.stringify(row)).not.toMatch(/SEGREDO|Rua A/);
    const stream = `registry-${CUSTOMER}`;
    expect(await openCopiedField(row?.legalName, stream, 'legalName', session.sealingKeys)).toBe(entry.legal_name);
    expect(await openCopiedField(row?.address, stream, 'address', session.sealingKeys)).toMatchObject({
      postalCode: '20040030',
    });
  });

  it('registry put takes a list, and refuses all of it for one bad entry without quoting it', async () => {
    const list = [
      { cnpj: '22333444000199', legal_name: 'BOA LTDA' },
      { cnpj: '1', name: 'SECRETA', address: {} },
    ];
    const refused = await run('registry', 'put', await fileOf('list.json', JSON.stringify(list)));
    expect(refused.exit).toBe(1);
    expect(refused.err).toContain('entry 2: cnpj must be');
    expect(refused.err).toContain('entry 2: legal_name is missing');
    expect(refused.err).not.toContain('SECRETA');
    expect(await session.readModel.registryEntry('22333444000199')).toBeUndefined();
    const good = await fileOf('list.json', JSON.stringify(list.slice(0, 1)));
    expect((await runJson('registry', 'put', good)).json).toEqual({
      entries: 1,
      changed: 1,
      warnings: [expect.stringContaining('entry 1: cnpj has wrong check digits')],
    });
  });

  it('registry put refuses a city that no municipality has, and names the nearest', async () => {
    const place = { city: 'Sao Paolo', state: 'SP', postal_code: '01001000' };
    const address = { street: 'Rua A', number: '1', district: 'Centro', ...place };
    const file = await fileOf('entry.json', JSON.stringify({ cnpj: '11444777000161', legal_name: 'X LTDA', address }));
    const refused = await run('registry', 'put', file);
    expect(refused).toMatchObject({ exit: 1 });
    expect(refused.err).toContain('address.city is no municipality of the state; the nearest is São Paulo/SP');
    expect(await session.readModel.registryEntry('11444777000161')).toBeUndefined();
  });

  it('api off and on hold at once in the read model, with reason and actor on record', async () => {
    await run('api', 'off', '--reason', 'manutenção', '--actor', 'maria');
    expect(await session.readModel.apiSwitchedOff()).toBe(true);
    const instant = /\d{4}-\d\d-\d\dT[\d:.]+Z/.source;
    const standing = `since ${instant}, by support:maria, for the reason: manutenção`;
    expect((await run('api', 'off', '--reason', 'outra')).out).toMatch(
      new RegExp(`^the API was off already, ${standing}; this stands, and the new reason was not recorded$`),
    );
    expect((await runJson('api', 'off')).json).toMatchObject({ changed: false, reason: 'manutenção' });
    const { checks } = (await runJson('doctor')).json;
    expect(checks).toContainEqual({
      name: 'api',
      ok: false,
      cure: 'nfse api on',
      detail: expect.stringMatching(new RegExp(`^switched off ${standing}; every request is answered 503$`)),
    });
    await run('api', 'on');
    expect((await runJson('api', 'off')).json).toMatchObject({ changed: true, reason: null });
    expect((await run('api', 'off')).out).toMatch(/, without a reason$/);
    await run('api', 'on');
    expect(await session.readModel.apiSwitchedOff()).toBe(false);
    expect(await eventsOf('system-api')).toMatchObject([
      { type: 'ApiSwitchedOff', data: { reason: 'manutenção' }, meta: { actor: 'support:maria' } },
      { type: 'ApiSwitchedOn' },
      { type: 'ApiSwitchedOff' },
      { type: 'ApiSwitchedOn' },
    ]);
  });

  it.each([
    [['municipality', 'set', '9999999', '--requires-customer', 'on'], 1],
    [['municipality', 'show', '9999999'], 1],
    [['municipality', 'set', RIO], 2],
    [['municipality', 'set', RIO, '--requires-customer', 'yes'], 2],
    [['catalog', 'import', '/nowhere.tsv'], 2],
    [['catalog', 'import'], 2],
    [['registry', 'put', '/nowhere.json'], 2],
    [['invoice', 'import', '/nowhere.ndjson'], 2],
    [['api', 'off', '--reason', 'a\nb'], 2],
    [['api', 'off', '--help'], 0],
  ])('%j exits with %i and says why', async (argv, exit) => {
    const result = await run(...argv);
    expect(result.exit).toBe(exit);
    expect((exit === 0 ? result.out : result.err).length).toBeGreaterThan(10);
  });

  it('doctor counts the lines of registered activities that no operator has confirmed, which is no problem', async () => {
    const company = {
      cnpj: '12345678000195',
      legal_name: 'A',
      city: 'Rio de Janeiro',
      state: 'RJ',
      tax_regime: 'normal',
      activities: [
        { cnae: '6201501', is_main: true },
        { cnae: '9602501', is_main: false },
      ],
      automatic_issuance: true,
      issuer_configured: true,
      issuer_approved: true,
    };
    await run('company', 'put', await fileOf('company.json', JSON.stringify(company)));
    const catalogueCheck = async () =>
      ((await runJson('doctor')).json as { checks: { name: string; ok: boolean; detail: string }[] }).checks.find(
        ({ name }) => name === 'catalogue',
      );
    expect(await catalogueCheck()).toMatchObject({ ok: true, detail: expect.stringMatching(/^[1-9]\d* shipped/) });
    await importLines('9602501\t060101\t126022000\tCabeleireiros\ttrue');
    await importLines('6201501\t010101\t115021000\tConfirmada\ttrue');
    expect(await catalogueCheck()).toMatchObject({ ok: true, detail: expect.stringMatching(/^0 shipped/) });
  });

  it('what catalog export printed can be imported', async () => {
    const exported = (await run('catalog', 'export')).out;
    expect(await run('catalog', 'import', await fileOf('again.tsv', exported))).toMatchObject({ exit: 0 });
    expect((await run('catalog', 'export')).out).toBe(exported);
  });

  it('keeps the invisible characters of a description, which a terminal shows as escapes', async () => {
    const description = 'Servi\u00adços de apoio 1\ufe0f\u20e3';
    await importLines(`6201501\t010101\t115021000\t${description}\ttrue`);
    const exported = (await run('catalog', 'export')).out;
    expect(exported).toContain(`\t${description}\t`);
    await run('catalog', 'import', await fileOf('again.tsv', exported));
    expect((await run('catalog', 'export')).out).toBe(exported);
  });
});
