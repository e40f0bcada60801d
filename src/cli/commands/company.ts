import {
  loadCompany,
  type NextNumber,
  nextNumbersOf,
  putCompanyFile,
  setCompanyEnabled,
} from '../../app/operator/company/company-commands.js';
import { type CompanyFileRead, companyFile, parseCompanyFile } from '../../app/operator/company/company-file.js';
import { companyUsage, type UsageCounts } from '../../app/operator/company-usage.js';
import { laterNumberAdvice, stoppedSeries } from '../../app/operator/support/stopped-series.js';
import { modes } from '../../domain/common/ids.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import { hasValidCertificate } from '../../domain/company/eligibility.js';
import type { IbsCbsOfCompany, Registration } from '../../domain/company/events.js';
import type { IbsCbsReport } from '../../domain/company/ibs-cbs-report.js';
import { isUsedUp } from '../../domain/dps-number/dps-number.js';
import { printableLines } from '../../lib/printable.js';
import { companyFileTables, shippedCatalogue } from '../../tables/catalogue.js';
import {
  answer,
  badUsage,
  type Command,
  done,
  type Invocation,
  type Outcome,
  refused,
  unknownCompany,
  warned,
  withProblems,
} from '../command.js';
import {
  activityWarnings,
  approximateTableWarnings,
  approximateTaxWarnings,
  catalogueOf,
  cnpjWarnings,
  emitterWarnings,
  exportClassificationWarnings,
  lineWarnings,
  municipalCodeWarnings,
  placeWarnings,
  unusedServiceWarnings,
  unusedTaxWarnings,
} from '../company-warnings.js';
import { BAD_MONTH, monthFlag, readJsonFile } from '../flags.js';
import { companyIbsCbs, ibsCbsWarnings } from '../ibs-cbs.js';
import { tellRowsBehind } from '../rows-behind.js';
import type { Session } from '../session.js';
import { jsonText } from '../terminal.js';
import { KEY_FAULTS } from './certificate.js';

const put: Command = {
  name: 'company put',
  positionals: ['[FILE.json]'],
  summary: 'create or change a company; a new one is disabled',
  options: {
    template: { help: 'print an example file; what each field means goes to stderr' },
    check: { help: 'check FILE.json and change nothing' },
  },
  changes: true,
  run: async (invocation) => {
    const {
      positionals: [file],
      flags,
      actor,
      session,
    } = invocation;
    if (flags.template === true) return file === undefined ? await template(invocation) : badUsage(NO_FILE);
    if (file === undefined) return badUsage('company put wants a FILE.json; --template prints an example');
    const read = await readCompanyFile(file);
    if ('outcome' in read) return read.outcome;
    const { registration, modesWithoutSeries } = read;
    const { cnpj } = registration;
    const misplaced = placeWarnings(registration);
    const warnings = [
      ...cnpjWarnings(registration),
      ...misplaced,
      ...approximateTaxWarnings(registration),
      ...exportClassificationWarnings(registration),
      ...unusedTaxWarnings(registration),
    ];
    if (flags.check === true) {
      if (misplaced.length > 0)
        return withProblems(`${file} names no municipality of the national table; nothing was changed:`, misplaced);
      const ofLines = [
        ...unusedServiceWarnings(registration, shippedCatalogue),
        ...lineWarnings(registration, shippedCatalogue),
      ];
      warnings.push(...ofLines.map((text) => `${text} (${BY_SHIPPED_LINES})`));
      const json = { cnpj, ok: true, warnings };
      return done(warned(`${file} is a valid company file of ${cnpj}; nothing was changed`, warnings), json);
    }
    const opened = await session();
    const result = await putCompanyFile(registration, opened.companyDeps(actor), modesWithoutSeries);
    if ('refused' in result) return refused(result.refused);
    const catalogue = await catalogueOf({ registration }, opened);
    warnings.push(
      ...unusedServiceWarnings(registration, catalogue),
      ...lineWarnings(registration, catalogue),
      ...approximateTableWarnings(registration, opened.clock.now()),
      ...(await emitterWarnings({ registration }, opened)).map(({ text }) => text),
      ...(await activityWarnings({ registration }, opened)),
      ...(await ibsCbsWarnings({ registration }, opened)),
    );
    const { state } = await loadCompany(cnpj, opened.store);
    const current = state.kind === 'company' ? state.registration : registration;
    const numbers = await nextNumbersOf(current, opened.store);
    const stopped = numbers.some(({ isStopped }) => isStopped)
      ? await stoppedSeries([{ registration: current }], opened.store)
      : [];
    warnings.push(
      ...numbers.flatMap((one) => seriesWarnings(one, stopped.find(({ mode }) => mode === one.mode)?.comparedAt)),
    );
    const dps = Object.fromEntries(
      numbers.map(({ mode, series, nextNumber, isStopped }) => {
        const isEnded = isUsedUp({ nextNumber });
        return [mode, { series, next_number: isEnded ? null : nextNumber, stopped: isStopped || isEnded }];
      }),
    );
    const text = `company ${cnpj} recorded; next DPS number: ${numbers.map(nextNumberText).join(', ')}`;
    return done(warned(text, warnings), { cnpj, dps, warnings });
  },
};

/** `--check` opens no engine. */
const BY_SHIPPED_LINES = 'by the shipped catalogue: --check does not see what nfse catalog import has changed';

const nextNumberText = ({ mode, series, nextNumber }: NextNumber): string =>
  `${mode} ${isUsedUp({ nextNumber }) ? 'none' : nextNumber} of series ${series}`;

const seriesWarnings = (
  { mode, series, nextNumber, isStopped }: NextNumber,
  comparedAt: Instant | undefined,
): readonly string[] => {
  if (isUsedUp({ nextNumber })) return [`series ${series} of ${mode} mode is used up: name another dps.${mode}.series`];
  if (!isStopped) return [];
  const put = `put a next number of ${nextNumber} or later, greater than the number of every note of the series`;
  return [`series ${series} of ${mode} mode stays stopped: ${laterNumberAdvice(put, comparedAt)}`];
};

const NO_FILE = '--template takes no file: it prints an example';

/** The example alone goes to stdout, so that it can be redirected into a file. A made-up optional value would be a wrong choice of the company. */
const template = async ({ flags, terminal }: Invocation): Promise<Outcome> => {
  const { fieldsOfFile, requiredExampleOf, schemaOfFile } = await import('../file-reference.js');
  const schema = schemaOfFile(companyFile);
  const { example, leftOut } = requiredExampleOf(schema);
  if (flags.json !== true) {
    for (const { path, required, description } of fieldsOfFile(schema))
      if (description !== '') terminal.err(`${path.padEnd(44)}${required ? 'required  ' : '          '}${description}`);
    terminal.err(`optional, and left out of the example: ${leftOut.join(', ')}`);
  }
  return done(jsonText(example, 2), example);
};

const readCompanyFile = async (file: string): Promise<CompanyFileRead | { outcome: Outcome }> => {
  const json = await readJsonFile(file);
  if ('problem' in json) return { outcome: badUsage(json.problem) };
  const invalid = (problems: readonly string[]) => ({
    outcome: withProblems(`${file} is not a valid company file:`, problems),
  });
  const parsed = parseCompanyFile(json.value, companyFileTables);
  if ('problems' in parsed) return invalid([...parsed.problems, ...ofShow(parsed.problems)]);
  const unknown = (parsed.registration.municipalCodes ?? [])
    .map(({ serviceCode }) => serviceCode)
    .filter((code) => !shippedCatalogue.isServiceCode(code))
    .map((code) => `municipal_codes.${code}: no service of the national list has this code`);
  return unknown.length > 0 ? invalid(unknown) : parsed;
};

/** The output of `company show` is no company file. */
const ofShow = (problems: readonly string[]): readonly string[] =>
  problems.some((problem) => problem.startsWith('keys is not'))
    ? ['nfse company show CNPJ --file prints the file']
    : [];

const switchCommand = (word: 'enable' | 'disable'): Command => ({
  name: `company ${word}`,
  positionals: ['CNPJ'],
  summary: word === 'enable' ? 'open the API for a company' : 'close the API for a company (403 feature_not_enabled)',
  changes: true,
  run: async ({ positionals: [cnpj = ''], actor, session }) => {
    const opened = await session();
    const result = await setCompanyEnabled(cnpj, word === 'enable', opened.companyDeps(actor));
    const warnings = word === 'enable' && 'done' in result ? await warningsOf(cnpj, opened) : [];
    return answer(result, warned(`company ${cnpj} ${word}d`, warnings), { cnpj, enabled: word === 'enable', warnings });
  },
});

const warningsOf = async (cnpj: string, opened: Session): Promise<readonly string[]> => {
  const company = await opened.readModel.company(cnpj);
  if (company === undefined) return [];
  const codes = await municipalCodeWarnings(company, opened);
  const lacks = certificateFault(company, opened.clock.now());
  const certificate =
    lacks === undefined
      ? []
      : [
          `${lacks}: the API refuses its invoices (422 company.certificate_missing), and those already accepted wait: nfse certificate put ${cnpj}`,
        ];
  return [
    ...certificate,
    ...placeWarnings(company.registration),
    ...(await emitterWarnings(company, opened)).map(({ text }) => text),
    ...codes.map(({ text }) => text),
    ...lineWarnings(company.registration, await catalogueOf(company, opened)),
    ...(await ibsCbsWarnings(company, opened)),
  ];
};

const certificateFault = (company: Company, now: Instant): string | undefined => {
  const { certificate } = company;
  if (certificate === undefined) return 'it has no certificate';
  if (hasValidCertificate(company, now)) return undefined;
  if (certificate.unusable === undefined)
    return isBefore(now, certificate.notBefore)
      ? `its certificate is valid from ${certificate.notBefore} on`
      : `its certificate expired on ${certificate.notAfter}`;
  return `its certificate cannot be used, because ${KEY_FAULTS[certificate.unusable]}`;
};

const show: Command = {
  name: 'company show',
  positionals: ['CNPJ'],
  summary: 'what is on file for a company',
  options: { file: { help: 'the company file alone, as company put takes it' } },
  changes: false,
  run: async ({ positionals: [cnpj = ''], flags, session, terminal }) => {
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies']);
    const found = await opened.readModel.company(cnpj);
    if (found === undefined) return unknownCompany(cnpj);
    if (flags.file === true) {
      const file = fileOf(found.registration);
      return done(jsonText(file, 2), file);
    }
    const shown = { ...describe(found), ibs_cbs_lines: reportBody(await companyIbsCbs(found, opened)) };
    return done(jsonText(shown, 2), shown);
  },
};

const reportBody = ({ lines, declared, withAddress, without, missing, owing, duty, toConfirm }: IbsCbsReport) => ({
  owed_from: duty?.owedFrom ?? null,
  notes_without_are_taken_until: duty?.toleratedUntil ?? null,
  source: duty?.source ?? null,
  lines,
  declared,
  declared_with_customer_address: withAddress,
  without,
  without_and_owing: owing,
  missing,
  reductions_to_confirm: toConfirm.map(({ serviceCode, classification, percent }) => ({
    service_code: serviceCode,
    class_trib: classification,
    percent,
  })),
});

const list: Command = {
  name: 'company list',
  summary: 'all companies',
  changes: false,
  run: async ({ session, terminal }) => {
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies']);
    const companies = (await opened.readModel.companies()).map(describe);
    const lines = companies.map(
      ({ cnpj, legal_name, enabled }) => `${cnpj}  ${enabled ? 'enabled ' : 'disabled'}  ${legal_name}`,
    );
    return done(lines.length === 0 ? 'no companies' : printableLines(lines), { companies });
  },
};

/** The company file that gives this registration. */
const fileOf = (registration: Registration) => ({
  cnpj: registration.cnpj,
  legal_name: registration.legalName,
  city: registration.city,
  state: registration.state,
  tax_regime: registration.taxRegime,
  simples_assessment: registration.simplesAssessment,
  special_regime: registration.specialRegime,
  approximate_tax_percent: registration.approximateTaxPercent,
  approximate_taxes: registration.approximateTaxes?.map(({ serviceCode, ...row }) => ({
    ...row,
    service_code: serviceCode,
  })),
  municipal_registration: {
    live: registration.municipalRegistration.live ?? null,
    test: registration.municipalRegistration.test ?? null,
  },
  dps: {
    live: { series: registration.dps.live.series, next_number: registration.dps.live.nextNumber },
    test: { series: registration.dps.test.series, next_number: registration.dps.test.nextNumber },
  },
  municipal_codes: registration.municipalCodes && codesOf(registration.municipalCodes),
  activities: registration.activities.map(({ cnae, isMain }) => ({ cnae, is_main: isMain })),
  ibs_cbs: registration.ibsCbs && describeIbsCbs(registration.ibsCbs),
  automatic_issuance: registration.automaticIssuance,
  issuer_configured: registration.issuerConfigured,
  issuer_approved: registration.issuerApproved,
});

const codesOf = (codes: NonNullable<Registration['municipalCodes']>) =>
  Object.fromEntries(codes.map(({ serviceCode, municipalCode }) => [serviceCode, municipalCode]));

const describe = ({ registration, enabled, certificate, keys }: Company) => ({
  ...fileOf(registration),
  municipal_codes: codesOf(registration.municipalCodes ?? []),
  enabled,
  certificate:
    certificate === undefined
      ? null
      : {
          not_before: certificate.notBefore,
          not_after: certificate.notAfter,
          unusable: certificate.unusable && KEY_FAULTS[certificate.unusable],
        },
  keys: keys.filter((key) => !key.revoked).length,
});

const describeIbsCbs = ({ declare, exportClassTrib, services }: IbsCbsOfCompany) => ({
  declare,
  export_class_trib: exportClassTrib,
  ...Object.fromEntries(
    services.map(({ serviceCode, indOp, classTrib, classTribRegular }) => [
      serviceCode,
      { ind_op: indOp, class_trib: classTrib, class_trib_regular: classTribRegular },
    ]),
  ),
});

const usage: Command = {
  name: 'company usage',
  positionals: ['CNPJ'],
  summary: 'invoices accepted, issued, failed and canceled in a month, by mode; live is what is billed',
  options: { month: { value: 'YYYY-MM', help: 'YYYY-MM, as the calendar of Brasília has it', required: true } },
  changes: false,
  run: async ({ positionals: [cnpj = ''], flags, session, terminal }) => {
    const month = monthFlag(flags) ?? 'bad';
    if (month === 'bad') return badUsage(BAD_MONTH);
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['companies']);
    const { readModel, log } = opened;
    if ((await readModel.company(cnpj)) === undefined) return unknownCompany(cnpj);
    const counts = await companyUsage(log, cnpj, month);
    const lines = [
      `${cnpj}  ${month}`,
      `      ${COLUMNS.map((column) => column.padStart(10)).join('')}`,
      ...modes.map(
        (mode) => `${mode.padEnd(6)}${COLUMNS.map((column) => String(counts[mode][column]).padStart(10)).join('')}`,
      ),
    ];
    return done(lines.join('\n'), { cnpj, month, ...counts });
  },
};

const COLUMNS = ['accepted', 'issued', 'failed', 'canceled'] as const satisfies readonly (keyof UsageCounts)[];

export const companyCommands: readonly Command[] = [
  put,
  show,
  list,
  switchCommand('enable'),
  switchCommand('disable'),
  usage,
];
