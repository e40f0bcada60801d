import { apiSwitchedOffBy } from '../../app/operator/reference-data/commands.js';
import { modes } from '../../domain/common/ids.js';
import { codePattern, withoutMask } from '../../domain/common/masks.js';
import type { Instant } from '../../domain/common/time.js';
import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import type { Company } from '../../domain/company/company.js';
import { counted } from '../../lib/counted.js';
import { inGroups } from '../../lib/in-groups.js';
import { printableLines } from '../../lib/printable.js';
import {
  badUsage,
  type Command,
  type Flags,
  type Outcome,
  refused,
  reported,
  textFlag,
  textFlags,
} from '../command.js';
import {
  activityWarnings,
  approximateTableWarnings,
  catalogueOf,
  cnpjWarnings,
  emitterWarnings,
  exportClassificationWarnings,
  firstChecks,
  lineWarnings,
  municipalCodeWarnings,
  placeWarnings,
  unusedServiceWarnings,
  unusedTaxWarnings,
} from '../company-warnings.js';
import { ibsCbsChecks } from '../ibs-cbs.js';
import { type Check, type LogRecoveryOptions, type Session, unlessBehind } from '../session.js';
import { readStartingPoint, STARTING_POINT } from '../starting-point.js';
import { switchedOffText } from './api.js';
import { NAME_WHAT_CHANGED } from './backup.js';
import { KEY_FAULTS, putCertificateCommand } from './certificate.js';
import { logRecoveryChecks } from './recovery-checks.js';

/** Numbers in a row after which a series counts as ended. A larger gap arises only when as many invoices failed before their attempt. */
const SPAN = 50;

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check the installation; one line for each check, with what to do',
  options: {
    reconcile: {
      help: 'after a restore: compare the log with the authorizer and let issuing resume',
    },
    'accept-unknown': {
      help: 'with --reconcile: resume although notes were found that no invoice accounts for, or attempts are in doubt',
    },
    span: { value: 'N', help: `with --reconcile: unknown numbers in a row that end a series (default ${SPAN})` },
    from: {
      value: 'POINT',
      multiple: true,
      help: `with --reconcile: ask from this number on too, ${STARTING_POINT}: for a series, next number or city that a company file got after the backup`,
    },
    'without-authorizer': {
      value: 'MODE',
      multiple: true,
      help: 'with --reconcile, in a rehearsal: compare nothing in this mode, live or test, which has no authorizer here, and resume',
    },
    'without-company': {
      value: 'CNPJ',
      multiple: true,
      help: 'with --reconcile: leave out this disabled company, which cannot be compared, and resume; notes that it made after the backup stay unknown, and it cannot be enabled before a later comparison',
    },
  },
  changes: true,
  run: async ({ flags, actor, session, terminal }) => {
    const asked = comparisonIn(flags);
    if ('problem' in asked) return badUsage(asked.problem);
    if (flags.reconcile !== true && OF_COMPARISON.some((name) => flags[name] !== undefined))
      return badUsage(
        '--accept-unknown, --span, --from, --without-authorizer and --without-company go with --reconcile',
      );
    const opened = await session();
    if (flags.reconcile !== true) return await diagnosis(opened, actor);
    const result = await opened.recoverLog(actor, {
      ...asked,
      onPaused: () => {
        terminal.err(NAME_WHAT_CHANGED);
        terminal.err('To name one now, end this command (Ctrl-C) before it is done: issuing resumes at its end.');
      },
      onProgress: terminal.err,
    });
    if (result.kind === 'refused') return refused(result.why);
    const { acceptUnknown, from, withoutCompanies } = asked;
    const isForOne = acceptUnknown || flags.span !== undefined || from.length > 0 || withoutCompanies.length > 0;
    if (result.kind === 'not_paused' && isForOne) return refused(NOTHING_ASKED);
    return report(logRecoveryChecks(result));
  },
};

const OF_COMPARISON = ['accept-unknown', 'span', 'without-authorizer', 'without-company', 'from'] as const;

/** What the options say of the comparison that `--reconcile` makes; `problem` is one line for a person. */
const comparisonIn = (flags: Flags): Omit<LogRecoveryOptions, 'onPaused' | 'onProgress'> | { problem: string } => {
  const span = Number(textFlag(flags, 'span') ?? SPAN);
  if (!Number.isInteger(span) || span < 1 || span > 10_000)
    return { problem: '--span must be a number from 1 to 10000' };
  const named = textFlags(flags, 'from').map(readStartingPoint);
  const wrong = named.find((one) => 'problem' in one);
  if (wrong !== undefined) return wrong;
  const from = named.flatMap((one) => ('point' in one ? [one.point] : []));
  const leftOut = textFlags(flags, 'without-authorizer');
  const withoutAuthorizer = modes.filter((mode) => leftOut.includes(mode));
  if (leftOut.some((text) => !modes.some((mode) => mode === text)))
    return { problem: '--without-authorizer must be live or test' };
  const companies = textFlags(flags, 'without-company');
  if (!companies.every((text) => codePattern('cnpj').test(text)))
    return { problem: '--without-company must be a CNPJ' };
  const withoutCompanies = companies.map((text) => withoutMask(text, 'cnpj'));
  return { acceptUnknown: flags['accept-unknown'] === true, span, from, withoutAuthorizer, withoutCompanies };
};

const diagnosis = async (opened: Session, actor: string): Promise<Outcome> => {
  const behind = await opened.projectionsBehind();
  const checks = [
    ...(await opened.checks(actor, behind)),
    ...(await unlessBehind(behind, 'api', ['system'], async () => [await apiCheck(opened)])),
    simulatorCheck(opened),
    ...(await unlessBehind(behind, 'companies', ['companies'], async () => [
      ...(await certificateChecks(opened)),
      ...(await companyChecks(opened)),
      ...(await ibsCbsChecks(opened)),
    ])),
  ];
  return report(checks, onOneScreen(checks));
};

/** `shown`: the checks as a person reads them, in their order. */
const report = (checks: readonly Check[], shown: readonly Check[] = checks): Outcome => {
  const ok = checks.every((check) => check.ok);
  const width = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(
    ({ name, ok: good, detail, cure }) =>
      `${good ? 'ok  ' : 'BAD '} ${name.padEnd(width)} ${detail}${cure === undefined ? '' : ` -> ${cure}`}`,
  );
  return reported(ok, printableLines(lines), { ok, checks });
};

/** The checks of certificates as few lines, and the faults of all checks at the end, where a terminal shows them. */
const onOneScreen = (checks: readonly Check[]): readonly Check[] => {
  const isOfCertificate = ({ name }: Check): boolean => CERTIFICATE.test(name);
  const lines = [...checks.filter((check) => !isOfCertificate(check)), ...inFewLines(checks.filter(isOfCertificate))];
  return [...lines.filter(({ ok }) => ok), ...lines.filter(({ ok }) => !ok)];
};

/** Not the certificates that the authorizer refuses: their names end in a mode. */
const CERTIFICATE = /^certificate \S+$/;

/** The good ones are sorted by their ends. */
const inFewLines = (checks: readonly Check[]): readonly Check[] => {
  const good = checks.filter(({ ok }) => ok);
  const [first, second] = good;
  const bad = firstChecks(
    'certificate',
    checks.filter(({ ok }) => !ok),
  );
  if (first === undefined || second === undefined) return [...good, ...bad];
  const detail = `${counted(good.length, 'certificate')}; the first to end is ${first.name}, with ${first.detail}`;
  return [{ name: 'certificates', ok: true, detail }, ...bad];
};

/** A forgotten switch would refuse every request. */
const apiCheck = async ({ readModel, store }: Session): Promise<Check> => {
  if (!(await readModel.apiSwitchedOff())) return { name: 'api', ok: true, detail: 'not switched off' };
  const by = await apiSwitchedOffBy({ store });
  const detail = `switched off${by === undefined ? '' : ` ${switchedOffText(by)}`}; every request is answered 503`;
  return { name: 'api', ok: false, detail, cure: 'nfse api on' };
};

/** Not a fault, but always shown: what the simulator authorizes is no fiscal document. */
const simulatorCheck = ({ simulatedModes }: Session): Check => ({
  name: 'authorizer',
  ok: true,
  detail:
    simulatedModes.length === 0
      ? 'both modes use the configured national system'
      : `SIMULADO: the simulator serves ${simulatedModes.join(' and ')} mode, its notes are no fiscal documents`,
});

/** What an enabled company has to choose or correct. Codes of the restricted environment, activities and lines that are no default are no fault. */
const companyChecks = async (session: Session): Promise<readonly Check[]> => {
  const enabled = (await session.readModel.companies()).filter((company) => company.enabled);
  const found = (await inGroups(AT_ONCE, enabled, (company) => checksOf(company, session))).flat();
  return COMPANY_AREAS.flatMap((area) =>
    firstChecks(
      area,
      found.filter((one) => one.area === area).map(({ check }) => check),
    ),
  );
};

/** Companies whose rows are read at once, because such reads share statements. */
const AT_ONCE = 256;

const checksOf = async (company: Company, session: Session): Promise<readonly CompanyCheck[]> => {
  const found: CompanyCheck[] = [];
  const { cnpj } = company.registration;
  const add = (area: CompanyArea, check: Omit<Check, 'name'>): unknown =>
    found.push({ area, check: { name: `${area} ${cnpj}`, ...check } });
  const cure = 'nfse company put FILE.json';
  const otherCnpj = `nfse company disable ${cnpj}, then register the right CNPJ`;
  for (const detail of cnpjWarnings(company.registration)) add('CNPJ', { ok: false, detail, cure: otherCnpj });
  for (const detail of placeWarnings(company.registration)) add('city', { ok: false, detail, cure });
  for (const { mode, text } of await emitterWarnings(company, session))
    add('municipality', { ok: mode === 'test', detail: `CNPJ ${cnpj}, ${text}`, cure: `nfse company disable ${cnpj}` });
  for (const { isFault, text } of await municipalCodeWarnings(company, session))
    add('municipal code', { ok: !isFault, detail: `CNPJ ${cnpj}, ${text}`, cure });
  for (const detail of approximateTableWarnings(company.registration, session.clock.now()))
    add('approximate taxes', { ok: true, detail, cure });
  for (const detail of exportClassificationWarnings(company.registration))
    add('export classification', { ok: true, detail, cure });
  const catalogue = await catalogueOf(company, session);
  for (const detail of [
    ...unusedTaxWarnings(company.registration),
    ...unusedServiceWarnings(company.registration, catalogue),
  ])
    add('company file', { ok: true, detail, cure });
  for (const detail of lineWarnings(company.registration, catalogue)) add('activity', { ok: true, detail });
  for (const detail of await activityWarnings(company, session)) add('activity', { ok: true, detail });
  return found;
};

/** In the order of the report. */
const COMPANY_AREAS = [
  'CNPJ',
  'city',
  'municipality',
  'municipal code',
  'approximate taxes',
  'export classification',
  'company file',
  'activity',
] as const;

type CompanyArea = (typeof COMPANY_AREAS)[number];

type CompanyCheck = { area: CompanyArea; check: Check };

const certificateChecks = async ({ readModel, vault, clock }: Session): Promise<readonly Check[]> => {
  const now = clock.now();
  const companies = await readModel.companies();
  const byEnd = companies.toSorted((a, b) => (endOf(a) < endOf(b) ? -1 : 1));
  const checks = await inGroups(AT_ONCE, byEnd, async (company): Promise<readonly Check[]> => {
    const { cnpj } = company.registration;
    const [name, cure] = [`certificate ${cnpj}`, putCertificateCommand(cnpj)];
    if (company.certificate === undefined) {
      const detail = 'none: the company is enabled, and its requests are refused';
      return company.enabled ? [{ name, ok: false, detail, cure }] : [];
    }
    const { certificateId, notAfter, unusable } = company.certificate;
    const obstacle = (await vault.holds(cnpj, certificateId))
      ? unusable && `cannot be used, because ${KEY_FAULTS[unusable]}`
      : 'not in the database any more';
    const ok = obstacle === undefined && expiryWarning(notAfter, now) === undefined;
    const detail = obstacle === undefined ? validityText(notAfter, now) : `${obstacle}: its invoices cannot be issued`;
    return [{ name, ok, detail, cure: ok ? undefined : cure }];
  });
  return checks.flat();
};

const endOf = ({ certificate }: Company): Instant => certificate?.notAfter ?? '';

const validityText = (notAfter: Instant, now: Instant): string => {
  const warning = expiryWarning(notAfter, now);
  const days = daysLeft(notAfter, now);
  if (warning?.kind === 'expired') return `expired on ${notAfter}: its invoices cannot be issued`;
  if (warning === undefined) return `${counted(days, 'day')} left`;
  const left = days === 0 ? 'less than a day left' : `${counted(days, 'day')} left, fewer than ${warning.withinDays}`;
  return `ends on ${notAfter}: ${left}`;
};

const NOTHING_ASKED =
  'issuing is not paused, so nothing was asked for: stop the processes of the service, nfse restore --mark, start them, and run this again';
