import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { appendAudit } from '../../src/app/audit/audit-trail.js';
import type { SendSite } from '../../src/app/event-store/append-sites.js';
import { putCompanyFile } from '../../src/app/operator/company/company-commands.js';
import { parseCompanyFile } from '../../src/app/operator/company/company-file.js';
import { importInvoices } from '../../src/app/operator/import/import-invoices.js';
import { setMunicipality } from '../../src/app/operator/reference-data/commands.js';
import { roles as allRoles, type Config, readConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { openEngines } from '../../src/runtime/engines/engines.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { startService } from '../../src/runtime/service.js';
import { companyFileTables } from '../../src/tables/catalogue.js';
import { isCanceled, readLedger } from '../support/harness/ledger.js';
import { type KillOrder, killing, parseKillPoint } from './kill-point.js';
import { supportUnfinished } from './support-work.js';

/**
 * The process that dies. `serve`: the whole service, one JSON line on stdout when it is ready. `operate FILE`: the
 * operator's `company put`, `municipality set` and `invoice import`. Configured by the service's own variables; `CRASH_*` say where to die.
 */
const main = async ([command, file = '']: readonly string[]): Promise<void> => {
  const parsed = readConfig(process.env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const start = signal();
  const hooks = killing(orderOf(process.env, command === 'operate' ? Promise.resolve() : start.over));
  if (command === 'operate') return await operate(file, parsed.config, hooks);
  const roles = allRoles.filter((role) => !(process.env.CRASH_WITHOUT_ROLES ?? '').split(',').includes(role));
  const logger = createLogger(parsed.config.logLevel, 'stderr');
  const { url } = await startService({ config: parsed.config, roles, clock: systemClock, logger, ...hooks });
  // The pipe closes when the parent process has died.
  process.stdin.on('end', () => process.exit(1)).resume();
  process.stdout.write(`${JSON.stringify({ msg: 'ready', url })}\n`, start.end);
};

const signal = (): { over: Promise<void>; end(): void } => {
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { over, end: () => end() };
};

const CANCELLATION: SendSite = 'sendCancellation';

const orderOf = (env: NodeJS.ProcessEnv, mayDie: Promise<void>): KillOrder | undefined => {
  const { CRASH_POINT: point, CRASH_MARKER: markerFile, CRASH_CONTROL_URL: controlUrl, CRASH_AMOUNT: amount } = env;
  if (point === undefined) return undefined;
  if (markerFile === undefined || controlUrl === undefined) throw new Error('CRASH_MARKER, CRASH_CONTROL_URL missing');
  const isCancellation = point.endsWith(CANCELLATION);
  const reached = async (): Promise<void> => {
    for (;;) {
      const note = (await readLedger(controlUrl)).find(({ amount_in_cents }) => amount_in_cents === Number(amount));
      if (note !== undefined && (!isCancellation || isCanceled(note))) return;
      await pause(25);
    }
  };
  return { point: parseKillPoint(point), occurrence: Number(env.CRASH_OCCURRENCE ?? '1'), markerFile, mayDie, reached };
};

const operate = async (file: string, config: Config, hooks: ReturnType<typeof killing>): Promise<void> => {
  const parsed = parseCompanyFile(JSON.parse(await readFile(file, 'utf8')), companyFileTables);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const runner = createRunner(() => undefined);
  const logger = createLogger(config.logLevel, 'stderr');
  const engines = await openEngines({ config, clock: systemClock, logger, runner, startedFor: 'command', ...hooks });
  const deps = sessionOver(engines, config, systemClock).companyDeps('crash-test');
  const result = await putCompanyFile(parsed.registration, deps);
  await setMunicipality('3304557', { requiresCustomer: false }, deps);
  const noFiles = { readXml: async () => undefined, readNote: () => undefined };
  const line = JSON.stringify({ ...IMPORTED, cnpj: parsed.registration.cnpj });
  const imported = await importInvoices(line, {
    ...deps,
    ...noFiles,
    readModel: engines.readModel,
    keys: {
      holderOf: async () => undefined,
      take: async ({ invoiceId }) => ({ holder: invoiceId }),
      free: async () => undefined,
    },
    log: engines.log,
    invoiceRowsUpTo: async () => null,
    supportReads: { newest: async () => [] },
    keySeconds: 86_400,
    otherSales: [],
    isCheck: false,
    onLines: () => undefined,
    testRetentionSeconds: config.limits.testRetentionSeconds,
  });
  await appendAudit('PersonalDataRevealed', { command: 'events show', subject: 'crash-test' }, deps);
  await appendAudit('ParkedWorkRetried', { subject: 'crash-test' }, deps);
  await supportUnfinished(engines);
  await runner.stop();
  if ('refused' in result) throw new Error(result.refused);
  if ('problems' in imported) throw new Error(imported.problems.all.join('; '));
};

const IMPORTED = {
  mode: 'test',
  origin: 'legacy',
  state: 'canceled',
  amount_in_cents: 4_321,
  competence: '2025-01-31',
  id: '99999999-9999-4999-8999-999999999999',
  reference: 'imported-by-an-operator',
};

await main(process.argv.slice(2));
