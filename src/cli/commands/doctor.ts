import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import type { Instant } from '../../domain/shared/time.js';
import { badUsage, type Command, type Outcome, reported, textFlag } from '../command.js';
import type { ProgressStream } from '../progress.js';
import type { Check, Session } from '../session.js';
import { counted } from '../text.js';
import { reconcileChecks } from './reconcile.js';

/** More than this many numbers in a row are left out only when as many invoices were given up before their attempt. */
const SPAN = 50;

const doctor = (stream: ProgressStream): Command => ({
  name: 'doctor',
  positionals: [],
  summary: 'what is wrong, one line each with the cure',
  options: {
    reconcile: {
      type: 'boolean',
      help: 'after a restore: compare the log with the authorizer and let issuing resume',
    },
    'accept-unknown': {
      type: 'boolean',
      help: 'with --reconcile: resume although notes were found that no invoice accounts for',
    },
    span: { type: 'string', help: `with --reconcile: unknown numbers in a row that end a series (default ${SPAN})` },
  },
  changes: true,
  run: async ({ flags, actor, session }) => {
    const span = Number(textFlag(flags, 'span') ?? SPAN);
    if (!Number.isInteger(span) || span < 1 || span > 10_000)
      return badUsage('--span must be a number from 1 to 10000');
    const acceptUnknown = flags['accept-unknown'] === true;
    if (flags.reconcile !== true && (acceptUnknown || flags.span !== undefined))
      return badUsage('--accept-unknown and --span go with --reconcile');
    const opened = await session();
    if (flags.reconcile === true) {
      const onProgress = (text: string): void => void stream.write(`${text}\n`);
      return report(reconcileChecks(await opened.reconcile(actor, { acceptUnknown, span, onProgress })));
    }
    const checks = [...(await opened.checks(actor)), await apiCheck(opened)];
    return report([...checks, simulatorCheck(opened), ...(await certificateChecks(opened))]);
  },
});

const report = (checks: readonly Check[]): Outcome => {
  const ok = checks.every((check) => check.ok);
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(
    ({ name, ok: good, detail, cure }) =>
      `${good ? 'ok  ' : 'BAD '} ${name.padEnd(width)} ${detail}${cure === undefined ? '' : ` -> ${cure}`}`,
  );
  return reported(ok, lines.join('\n'), { ok, checks });
};

/** `stream`: where progress is told. */
export const doctorCommandsTo = (stream: ProgressStream): readonly Command[] => [doctor(stream)];

export const doctorCommands: readonly Command[] = doctorCommandsTo(process.stderr);

/** Whoever switched it off may have gone home. */
const apiCheck = async ({ readModel }: Session): Promise<Check> =>
  (await readModel.apiSwitchedOff())
    ? { name: 'api', ok: false, detail: 'switched off: every request is answered 503', cure: 'nfse api on' }
    : { name: 'api', ok: true, detail: 'not switched off' };

/** Not a fault, but nobody may overlook it: what the simulator authorizes is no fiscal document. */
const simulatorCheck = ({ simulatedModes }: Session): Check => ({
  name: 'authorizer',
  ok: true,
  detail:
    simulatedModes.length === 0
      ? 'both modes use the configured national system'
      : `SIMULADO: the simulator serves ${simulatedModes.join(' and ')} mode, its notes are no fiscal documents`,
});

const certificateChecks = async ({ readModel, vault, clock }: Session): Promise<readonly Check[]> => {
  const checks: Check[] = [];
  const now = clock.now();
  for (const company of await readModel.companies()) {
    if (company.kind !== 'company') continue;
    const { cnpj } = company.registration;
    const [name, cure] = [`certificate ${cnpj}`, `nfse certificate put ${cnpj} --pfx FILE --password-file FILE`];
    if (company.certificate === undefined) {
      const detail = 'none: the company is enabled, and its requests are refused';
      if (company.enabled) checks.push({ name, ok: false, detail, cure });
      continue;
    }
    const { certificateId, notAfter } = company.certificate;
    const isThere = await vault.holds(cnpj, certificateId);
    const warning = expiryWarning(notAfter, now);
    const ok = isThere && warning === undefined;
    checks.push({
      name,
      ok,
      detail: isThere ? validityText(notAfter, now) : 'not in the database any more: its invoices cannot be issued',
      ...(ok ? {} : { cure }),
    });
  }
  return checks;
};

const validityText = (notAfter: Instant, now: Instant): string => {
  const warning = expiryWarning(notAfter, now);
  const days = daysLeft(notAfter, now);
  if (warning?.kind === 'expired') return `expired on ${notAfter}: its invoices cannot be issued`;
  if (warning === undefined) return `${counted(days, 'day')} left`;
  return `ends on ${notAfter}: ${days === 0 ? 'less than a day' : counted(days, 'day')} left, fewer than ${warning.withinDays}`;
};
