import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createParametersCache } from '../../src/adapters/municipal-parameters/cache.js';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { municipalityCommands } from '../../src/cli/commands/municipality.js';
import {
  approximateTableWarnings,
  firstChecks,
  lineWarnings,
  unusedServiceWarnings,
  unusedTaxWarnings,
} from '../../src/cli/company-warnings.js';
import { modulo11Digit } from '../../src/domain/common/cnpj.js';
import type { Mode } from '../../src/domain/common/ids.js';
import { brasiliaDate } from '../../src/domain/common/time.js';
import type { ApproximateTaxes, Registration } from '../../src/domain/company/events.js';
import type { KnownParameters } from '../../src/domain/municipality/parameters.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { shippedCatalogue } from '../../src/tables/catalogue.js';
import { demoCompany } from '../support/fixture/demo.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const RIO = '3304557';

const withCheckDigits = (twelve: string): string => {
  const first = twelve + modulo11Digit(twelve, 9);
  return first + modulo11Digit(first, 9);
};

const file = {
  cnpj: CNPJ,
  legal_name: 'ESTUDIO EXEMPLO LTDA',
  city: 'Rio de Janeiro',
  state: 'RJ',
  tax_regime: 'simples',
  activities: [
    { cnae: '6201501', is_main: true },
    { cnae: '8121400', is_main: false },
    { cnae: '4120400', is_main: false },
  ],
  automatic_issuance: true,
  issuer_configured: true,
  issuer_approved: true,
};

describe('the first checks of a kind', () => {
  const check = (n: number, ok = true) => ({ name: `activity ${n}`, ok, detail: `detail ${n}` });
  const many = Array.from({ length: 30 }, (_, n) => check(n));

  it('are all of them up to 20', () => {
    expect(firstChecks('activity', many.slice(0, 20))).toEqual(many.slice(0, 20));
  });

  it('are faults before others, and a line that counts the rest', () => {
    const shown = firstChecks('activity', [...many, check(30, false)]);
    expect(shown).toHaveLength(21);
    expect(shown[0]).toEqual(check(30, false));
    expect(shown[20]).toEqual({ name: 'activity', ok: true, detail: '11 more lines' });
  });

  it('stay a fault when one of the rest is', () => {
    const faults = Array.from({ length: 21 }, (_, n) => check(n, false));
    expect(firstChecks('activity', faults)[20]).toEqual({ name: 'activity', ok: false, detail: '1 more line' });
  });
});

describe('a table of approximate taxes', () => {
  const percent = { federal: '13.45', state: '0.00', municipal: '2.90' };
  const inDecember = { ...percent, from: '2026-07-01', until: '2026-12-31' };
  const fromMidJanuary = { ...percent, from: '2027-01-15' };
  const warnedDay = (day: string, ...approximateTaxes: readonly ApproximateTaxes[]): string | undefined => {
    const registration = { ...demoCompany(CNPJ).registration, approximateTaxes };
    const [warning] = approximateTableWarnings(registration, `${day}T12:00:00.000Z`);
    return /no row of all services for (\S+):/.exec(warning ?? '')?.[1];
  };

  it.each([
    ['31 days before', '2026-12-01', undefined],
    ['30 days before', '2026-12-02', '2027-01-01'],
    ['when the day in 30 days is behind it', '2026-12-20', '2027-01-01'],
    ['on the day before', '2026-12-31', '2027-01-01'],
    ['inside', '2027-01-05', '2027-01-05'],
    ['after', '2027-01-15', undefined],
  ])('is reported with the first day of a gap of two weeks: %s', (_when, today, expected) => {
    expect(warnedDay(today, inDecember, fromMidJanuary)).toBe(expected);
  });

  it('is not reported where one row follows another', () => {
    expect(warnedDay('2026-12-20', inDecember, { ...fromMidJanuary, from: '2027-01-01' })).toBeUndefined();
  });
});

describe('activities without a line or a default', () => {
  const activities = (cnae: string) => [
    { cnae, isMain: true },
    { cnae: '6201501', isMain: false },
  ];
  const withoutDefault = shippedCatalogue.linesOf('6201501').map((line) => ({ ...line, isDefault: false }));

  it('are named with what the API refuses, and no others', () => {
    const [warning, ...others] = lineWarnings({ activities: activities('9491000') }, shippedCatalogue);
    expect(others).toEqual([]);
    expect(warning).toMatch(
      /^CNAE 9491000 \(main\): the catalogue has no service .* requests without cnae and service_code \(422 nfse\.cnae_missing_ctribnac\)/,
    );
    expect(lineWarnings({ activities: activities('6202300') }, shippedCatalogue)).toEqual([]);
  });

  it('are named where the operator’s lines have no default', () => {
    const linesOf = (cnae: string) => (cnae === '6201501' ? withoutDefault : shippedCatalogue.linesOf(cnae));
    expect(lineWarnings({ activities: activities('6202300') }, { linesOf })).toEqual([
      expect.stringMatching(
        /^CNAE 6201501: none of its services is the default, so .* that name it without service_code \(422 nfse\.cnae_without_default\)/,
      ),
    ]);
  });
});

describe('values of a company file that no note declares', () => {
  const { registration } = demoCompany(CNPJ);
  const activities = [{ cnae: '6201501', isMain: true }];

  it.each<[what: string, changes: Partial<Registration>, warnings: readonly string[]]>([
    ['a special regime of a MEI', { taxRegime: 'mei', specialRegime: 6 }, ['special_regime 6 does not count: a MEI']],
    [
      'a special regime while Simples assesses all taxes',
      { taxRegime: 'simples', simplesAssessment: 'all', specialRegime: 6 },
      ['special_regime 6 does not count: notes declare 0 while Simples assesses all taxes'],
    ],
    [
      'a special regime that counts',
      { taxRegime: 'simples', simplesAssessment: 'federal_only', specialRegime: 6, approximateTaxPercent: '6.00' },
      [],
    ],
    [
      'the percentage of a MEI',
      { taxRegime: 'mei', approximateTaxPercent: '5.00' },
      ['approximate_tax_percent does not count: a MEI'],
    ],
  ])('are named: %s', (_what, changes, warnings) => {
    expect(unusedTaxWarnings({ ...registration, ...changes })).toEqual(
      warnings.map((begins) => expect.stringMatching(new RegExp(`^${begins}`))),
    );
  });

  it('are named: choices for services that no activity has, or that do not exist', () => {
    const percent = { from: '2026-01-01', federal: '13.45', state: '0.00', municipal: '2.90' };
    const changed: Registration = {
      ...registration,
      activities,
      ibsCbs: {
        declare: true,
        services: [
          { serviceCode: '171401', classTrib: '000001' },
          { serviceCode: '010101', classTrib: '000001' },
        ],
      },
      municipalCodes: [
        { serviceCode: '010101', municipalCode: '003' },
        { serviceCode: '172001', municipalCode: '003' },
      ],
      approximateTaxes: [
        percent,
        { ...percent, serviceCode: '777777', until: '2026-06-30' },
        { ...percent, serviceCode: '777777', from: '2026-07-01' },
      ],
    };
    expect(unusedServiceWarnings(changed, shippedCatalogue)).toEqual([
      'ibs_cbs.171401 does not count: no activity of the company has this service',
      'municipal_codes.172001 does not count: no activity of the company has this service',
      'approximate_taxes of service_code 777777 does not count: no service of the national list has this code',
    ]);
  });
});

describeWithPostgres('what a company must choose, or cannot issue here', () => {
  let operator: Operator;
  const now = systemClock.now();
  beforeAll(async () => {
    const clock = { now: () => now };
    operator = await openOperator(
      [...companyCommands, ...certificateCommands, ...municipalityCommands, doctorCommand],
      undefined,
      {},
      clock,
    );
  });
  afterAll(() => operator.close());

  const put = async (changes: object = {}, words: readonly string[] = []) => {
    const path = join(operator.folder, 'company.json');
    await writeFile(path, JSON.stringify({ ...file, ...changes }));
    return await operator.run('company', 'put', path, ...words);
  };
  /** As the parameters API would tell it: the national code of 010101 is not administered, these municipal codes are. */
  const tell = (...codes: readonly string[]): Promise<void> => tellRates(codes, {});
  const tellRates = async (codes: readonly string[], more: { incidence?: boolean }): Promise<void> => {
    const cache = createParametersCache(operator.database.pool);
    for (const code of ['000', '001', '002', '003', '004', '005', '006', '007', '008', '009', '010']) {
      const rates = codes.includes(code) ? [{ percent: '5.00', from: '2023-01-01', ...more }] : [];
      const known = { kind: 'aliquota' as const, rates };
      const questionKey = `aliquota/01.01.01.${code}`;
      await cache.keep('live', RIO, { questionKey, known, knownAt: systemClock.now() });
    }
  };
  const doctorLines = async (name: string): Promise<readonly string[]> => {
    const { out, err } = await operator.run('doctor');
    return `${out}\n${err}`.split('\n').filter((line) => line.includes(name));
  };

  it('is said by company put: services that are due elsewhere, and those that demand what the API has no field for', async () => {
    const { exit, out } = await put();
    expect(exit).toBe(0);
    expect(out).toContain('warning: CNAE 8121400, service 071001: its ISSQN is due where it is performed');
    expect(out).toMatch(/warning: CNAE 4120400, service \d{6}: not issued here, because it demands the group obra/);
    expect(out).not.toContain('CNAE 6201501');
    expect(out).toContain(
      'warning: approximate_tax_percent and approximate_taxes are missing: every note and PDF declares 0.00 %',
    );
    expect((await put({ approximate_tax_percent: '6.00' })).out).not.toContain('approximate_tax_percent');
    expect((await put({ tax_regime: 'mei' })).out).not.toContain('approximate_tax_percent');
    await put();
  });

  it('is said by company put and doctor: a table of approximate taxes that ends soon, or covers some services only', async () => {
    const today = brasiliaDate(systemClock.now());
    const row = { from: '2026-01-01', federal: '13.45', state: '0.00', municipal: '2.90' };
    expect((await put({ approximate_taxes: [row] })).out).not.toContain('approximate_taxes');
    const ending = await put({ approximate_taxes: [{ ...row, until: today }] });
    expect(ending.out).toMatch(/warning: approximate_taxes has no row of all services for \d{4}-\d\d-\d\d: .* 0\.00 %/);
    await operator.run('company', 'enable', CNPJ);
    expect(await doctorLines(`approximate taxes ${CNPJ}`)).toHaveLength(1);
    expect((await put({ approximate_taxes: [{ ...row, service_code: '010101' }] })).out).toContain(
      `approximate_taxes has no row of all services for ${today}`,
    );
    await put();
  });

  it('is said by company put, also with --check, by company enable and doctor: an activity without a line', async () => {
    const activities = [{ cnae: '9999999', is_main: true }];
    const warning = 'warning: CNAE 9999999 (main): the catalogue has no service for this number';
    const checked = await put({ activities }, ['--check']);
    expect([checked.exit, checked.out]).toEqual([0, expect.stringContaining(warning)]);
    expect(checked.out).toContain('(by the shipped catalogue: --check does not see what nfse catalog import');
    const recorded = await put({ activities });
    expect([recorded.exit, recorded.out]).toEqual([0, expect.stringContaining(warning)]);
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(warning);
    expect(await doctorLines(`activity ${CNPJ}`)).toEqual([expect.stringMatching(/^ok .*CNAE 9999999 \(main\)/)]);
    await put();
  });

  it('is said by company put, also with --check, and by doctor: values that no note declares', async () => {
    const row = { from: '2026-01-01', federal: '13.45', state: '0.00', municipal: '2.90' };
    const changes = { special_regime: 6, approximate_taxes: [row, { ...row, service_code: '777777' }] };
    for (const words of [[], ['--check']]) {
      const { exit, out } = await put(changes, words);
      expect([exit, out]).toEqual([0, expect.stringContaining('warning: special_regime 6 does not count')]);
      expect(out).toContain('warning: approximate_taxes of service_code 777777 does not count: no service of the');
    }
    await operator.run('company', 'enable', CNPJ);
    expect(await doctorLines(`company file ${CNPJ}`)).toEqual([
      expect.stringMatching(/^ok .*special_regime 6 does not count.* -> nfse company put FILE\.json$/),
      expect.stringMatching(/^ok .*service_code 777777 does not count/),
    ]);
    await put();
    expect(await doctorLines(`company file ${CNPJ}`)).toEqual([]);
  });

  it('is said by company put and company enable: lines that owe the group of IBS and CBS and go out without it', async () => {
    const changes = { tax_regime: 'normal', activities: [{ cnae: '9511800', is_main: true }] };
    const owed =
      /warning: IBS and CBS: owed from 2026-10-01.*3 go out without \(3 owe it now\).* -> nfse catalog export/;
    expect((await put(changes)).out).toMatch(owed);
    expect((await operator.run('company', 'enable', CNPJ)).out).toMatch(owed);
    await put();
  });

  it('is said by company put, also with --check, and by doctor: a classification of exports for a service', async () => {
    const ofExports = { '010101': { ind_op: '100101', class_trib: '410004' }, '071001': { class_trib: '000001' } };
    const warning = 'ibs_cbs.010101: class_trib 410004 is of exports, and notes to customers in Brazil declare it too';
    for (const words of [[], ['--check']]) {
      const { exit, out } = await put({ ibs_cbs: ofExports }, words);
      expect(exit).toBe(0);
      expect(out).toContain(`warning: ${warning}: put it into export_class_trib`);
      expect(out).not.toContain('ibs_cbs.071001');
    }
    await operator.run('company', 'enable', CNPJ);
    expect(await doctorLines(`export classification ${CNPJ}`)).toEqual([expect.stringContaining(warning)]);
    for (const ibs_cbs of [{ export_class_trib: '410004' }, { declare: false, ...ofExports }])
      expect((await put({ ibs_cbs })).out).not.toContain('is of exports');
    expect(await doctorLines('export classification')).toEqual([]);
    await put();
  });

  it('is counted apart from activities by doctor: tables of approximate taxes of more than 20 companies', async () => {
    const row = { from: '2026-01-01', federal: '13.45', state: '0.00', municipal: '2.90', service_code: '010101' };
    const numbers = Array.from({ length: 21 }, (_, n) => withCheckDigits(String(n + 1).padStart(12, '0')));
    for (const cnpj of numbers) {
      const city = { city: 'São Paulo', state: 'SP' };
      await put({ cnpj, approximate_taxes: [row], ...city });
      await operator.run('company', 'enable', cnpj);
    }
    const [table] = await doctorLines(' approximate taxes  ');
    expect(table).toMatch(/^ok +approximate taxes +\d more lines?$/);
    expect(await doctorLines('no row of all services')).toHaveLength(20);
    expect(await doctorLines('is due where it is performed')).not.toHaveLength(0);
    for (const cnpj of numbers) await operator.run('company', 'disable', cnpj);
  });

  it('is said by company enable and doctor with the codes to choose from, until one is chosen', async () => {
    await tell('001', '003');
    const choice = 'service 010101: the municipality administers 001, 003 of 000 to 008: choose one in municipal_codes';
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(`warning: ${choice}`);
    const [line] = await doctorLines(`municipal code ${CNPJ}`);
    expect(line).toMatch(/^BAD /);
    expect(line).toContain(`CNPJ ${CNPJ}, ${choice}`);
    expect(await doctorLines(`activity ${CNPJ}`)).toHaveLength(2);

    await put({ municipal_codes: { '010101': '003' } });
    expect(await doctorLines(`municipal code ${CNPJ}`)).toEqual([]);
    await put({ municipal_codes: { '010101': '004' } });
    expect((await doctorLines(`municipal code ${CNPJ}`))[0]).toContain(
      'does not administer the municipal code 004: Sefin refuses the note (E0314); it administers 001, 003 of 000 to 008',
    );
  });

  it('is counted in one line, which is no fault, of lines that are no default', async () => {
    await put();
    await tell('000');
    expect(await doctorLines(`municipal code ${CNPJ}`)).toEqual([]);
    const cache = createParametersCache(operator.database.pool);
    const administered: Record<string, readonly string[]> = {
      '01.02.01': [],
      '01.04.01': ['001', '002'],
      '01.05.01': [],
    };
    for (const [service, codes] of Object.entries(administered))
      for (const code of ['000', '001', '002', '003', '004', '005', '006', '007']) {
        const rates = codes.includes(code) ? [{ percent: '5.00', from: '2023-01-01' }] : [];
        const questionKey = `aliquota/${service}.${code}`;
        await cache.keep('live', RIO, { questionKey, known: { kind: 'aliquota', rates }, knownAt: now });
      }
    const counts =
      'lines that only service_code reaches: Sefin refuses the notes of 3 services: 2 with no municipal code found, where another may exist (E0312), 1 with several codes and no choice in municipal_codes (E0312)';
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(`warning: ${counts}`);
    const lines = await doctorLines(`municipal code ${CNPJ}`);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^ok /);
    expect(lines[0]).toContain(counts);
    await operator.database.pool.query("delete from municipal_parameters where place not like 'aliquota/01.01.01%'");
  });

  it('is said by doctor where the municipality gives a service no incidence of ISS, which no note declares', async () => {
    await put();
    await tellRates(['003'], { incidence: false });
    expect((await doctorLines(`municipal code ${CNPJ}`))[0]).toContain(
      'the municipality says that 01.01.01.003 has no incidence of ISS, but notes of this service declare ISS: Sefin refuses them (E0540)',
    );
    await tellRates(['003'], { incidence: true });
    expect((await doctorLines(`municipal code ${CNPJ}`))[0]).not.toContain('E0540');
  });

  it('is said with the codes that were asked for, where a walk found one code or none, and not of a MEI', async () => {
    await put();
    const shown = async () => {
      const { json } = await operator.runJson('municipality', 'show', RIO);
      return (json as { municipal_codes: object }).municipal_codes;
    };
    await tell('001');
    const only = 'service 010101: 001 goes out: the only one of 000 to 006';
    const [line, ...others] = await doctorLines(`municipal code ${CNPJ}`);
    expect(line).toMatch(/^ok /);
    expect(line).toContain(only);
    expect(others).toEqual([]);
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(only);
    expect(await shown()).toEqual({ test: [], live: [only] });

    // 010 is administered, but no answer before it shows that.
    await tell('010');
    const none =
      'service 010101: no code of 000 to 005 was found; another may exist: ask the municipality and put its code into municipal_codes of the company file, or Sefin refuses the note (E0312)';
    const [bad] = await doctorLines(`municipal code ${CNPJ}`);
    expect(bad).toMatch(/^BAD /);
    expect(bad).toContain(none);
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(none);
    expect(await shown()).toEqual({ test: [], live: [none] });
    await put({ municipal_codes: { '010101': '004' } });
    expect((await doctorLines(`municipal code ${CNPJ}`))[0]).toContain('it administers none of 000 to 005');
    await put({ municipal_codes: { '010101': '010' } });
    expect(await doctorLines(`municipal code ${CNPJ}`)).toEqual([]);
    await put({ tax_regime: 'mei' });
    expect(await doctorLines(`municipal code ${CNPJ}`)).toEqual([]);
  });

  it('is the municipality alone where it has no national emitter: no municipal code helps there, and a MEI issues all the same', async () => {
    await put();
    await tell('010');
    const keep = (known: KnownParameters, mode: Mode = 'live') =>
      createParametersCache(operator.database.pool).keep(mode, RIO, {
        questionKey: 'convenio',
        known,
        knownAt: systemClock.now(),
      });
    const said = `its municipality ${RIO} has no active convênio or no national emitter: Sefin refuses the notes`;
    for (const known of [
      { kind: 'convenio', isActive: false },
      { kind: 'convenio', isActive: true, nationalEmitter: false },
    ] as const) {
      await keep(known);
      const [line, ...others] = await doctorLines(`municipality ${CNPJ}`);
      expect(line).toMatch(/^BAD .* -> nfse company disable/);
      expect(line).toContain(said);
      expect(others).toEqual([]);
      expect(await doctorLines(`municipal code ${CNPJ}`)).toEqual([]);
      expect((await operator.run('company', 'enable', CNPJ)).out).toContain(`warning: ${said}`);
      expect((await put()).out).toContain(`warning: ${said}`);
    }
    await put({ tax_regime: 'mei' });
    expect(await doctorLines(`municipality ${CNPJ}`)).toEqual([]);
    await put();
    await keep({ kind: 'convenio', isActive: true, nationalEmitter: true });
    expect(await doctorLines(`municipality ${CNPJ}`)).toEqual([]);
    await keep({ kind: 'convenio', isActive: false }, 'test');
    expect((await doctorLines(`municipality ${CNPJ}`))[0]).toMatch(/^ok .*\(test mode\)/);
    await keep({ kind: 'convenio', isActive: true }, 'test');
  });

  it('is refused as a municipal code of a service that no list has', async () => {
    const { exit, err } = await put({ municipal_codes: { '999999': '003' } });
    expect(exit).not.toBe(0);
    expect(err).toContain('municipal_codes.999999: no service of the national list has this code');
  });

  it('is nothing that doctor faults, in the file of company put --template as it is', async () => {
    await tell('000');
    const { out: template, err } = await operator.run('company', 'put', '--template');
    await writeFile(join(operator.folder, 'template.json'), template);
    expect((await operator.run('company', 'put', join(operator.folder, 'template.json'))).exit).toBe(0);
    await operator.run('certificate', 'issue-demo', CNPJ);
    await operator.run('company', 'enable', CNPJ);
    const lines = await doctorLines(CNPJ);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(err).toMatch(/^optional, and left out of the example: .*municipal_registration.*municipal_codes, ibs_cbs$/m);
  });
});
