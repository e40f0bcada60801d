import { daysLeft, expiryWarning } from '../../domain/company/certificate-expiry.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Command } from '../command.js';
import type { Check, Session } from '../session.js';

const doctor: Command = {
  name: 'doctor',
  positionals: [],
  summary: 'what is wrong, one line each with the cure',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const opened = await session();
    const checks = [...(await opened.checks()), simulatorCheck(opened), ...(await certificateChecks(opened))];
    const ok = checks.every((check) => check.ok);
    const width = Math.max(...checks.map(({ name }) => name.length));
    const lines = checks.map(
      ({ name, ok: good, detail, cure }) =>
        `${good ? 'ok  ' : 'BAD '} ${name.padEnd(width)} ${detail}${cure === undefined ? '' : ` -> ${cure}`}`,
    );
    return { exit: ok ? 0 : 1, text: lines.join('\n'), json: { ok, checks } };
  },
};

export const doctorCommands: readonly Command[] = [doctor];

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
    if (company.kind !== 'company' || company.certificate === undefined) continue;
    const { cnpj } = company.registration;
    const { certificateId, notAfter } = company.certificate;
    const isThere = await vault.holds(cnpj, certificateId);
    const warning = expiryWarning(notAfter, now);
    const ok = isThere && warning === undefined;
    checks.push({
      name: `certificate ${cnpj}`,
      ok,
      detail: isThere ? validityText(notAfter, now) : 'not in the database any more: its invoices cannot be issued',
      ...(ok ? {} : { cure: `nfse certificate put ${cnpj} --pfx FILE --password-file FILE` }),
    });
  }
  return checks;
};

const validityText = (notAfter: Instant, now: Instant): string => {
  const warning = expiryWarning(notAfter, now);
  const days = daysLeft(notAfter, now);
  if (warning?.kind === 'expired') return `expired on ${notAfter}: its invoices cannot be issued`;
  if (warning === undefined) return `${days} days left`;
  return `ends on ${notAfter}: ${days === 0 ? 'less than a day' : `${days} days`} left, fewer than ${warning.withinDays}`;
};
