import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createKey,
  putCertificate,
  putCompanyFile,
  setCompanyEnabled,
} from '../../../src/app/operator/company/company-commands.js';
import { createKeyedLock } from '../../../src/lib/keyed-lock.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { type Engines, openEngines } from '../../../src/runtime/engines/engines.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { sessionOver } from '../../../src/runtime/operator/session.js';
import { freshDatabase } from '../postgres.js';
import { runLogger } from '../run-logs.js';
import type { ExternalSimulator } from './simulator-process.js';

/** The data of one crash: a database, a company with a unique DPS series, and a test key. */
export type CrashHarness = {
  env: Readonly<Record<string, string>>;
  folder: string;
  series: string;
  /** `svc_sk_test_...` */
  key: string;
  /** Read beside the processes that write: the log is the same. */
  engines: Engines;
  /** The company's own file with another next number, as an operator would hand it in. */
  companyFile(nextNumber: number): Promise<string>;
  /** What that operator's command does, in this process. */
  moveNumber(nextNumber: number): Promise<void>;
  close(): Promise<void>;
};

/** Short pauses, real windows: a crashed attempt is looked up 6 s after it was made. */
const PROMPT = {
  AUTHORIZER_TIMEOUT_S: '1',
  LOOKUP_INTERVALS_S: '1,1',
  SWEEP_INTERVAL_S: '1',
  RATE_READ_PER_MINUTE: '100000',
  RATE_WRITE_PER_MINUTE: '100000',
  PORT: '0',
  OPS_PORT: '0',
  LOG_LEVEL: 'warn',
};

/**
 * One is set up at a time: a process busy with many at once lets its own connections time out. `overrides` go to every
 * process of the harness and to the engines of the test.
 */
export const openCrashHarness = (
  simulator: ExternalSimulator,
  series: string,
  overrides: Readonly<Record<string, string>> = {},
): Promise<CrashHarness> => oneAtATime('harness', () => setUp(simulator, series, overrides));

const oneAtATime = createKeyedLock();

const setUp = async (
  simulator: ExternalSimulator,
  series: string,
  overrides: Readonly<Record<string, string>>,
): Promise<CrashHarness> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-crash-'));
  const masterKeyFile = join(folder, 'master.key');
  await writeFile(masterKeyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  const database = await freshDatabase();
  await database.close();
  const env = {
    ...PROMPT,
    DATABASE_URL: database.connectionString,
    MASTER_KEY_FILE: masterKeyFile,
    DATA_DIR: folder,
    AUTHORIZER_TEST_URL: simulator.url,
    AUTHORIZER_LIVE_URL: simulator.url,
    AUTHORIZER_CA_FILE: simulator.caFile,
    ...overrides,
  };
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const runner = createRunner(() => undefined);
  const logger = runLogger();
  const engines = await openEngines({ config, clock: systemClock, logger, runner, startedFor: 'command' });
  const session = sessionOver(engines, config, systemClock);
  const deps = session.companyDeps('crash-test');

  const registration = (nextNumber: number) => {
    const company = demoCompany();
    return { ...company, dps: { ...company.dps, test: { series, nextNumber } } };
  };
  const { cnpj } = registration(1);
  must(await putCompanyFile(registration(1), deps));
  must(await putCertificate(cnpj, simulator.certificate, session.vault, deps));
  const { key } = must(await createKey(cnpj, 'test', ['nfse:read', 'nfse:write'], deps));
  must(await setCompanyEnabled(cnpj, true, deps));

  return {
    env,
    folder,
    series,
    key,
    engines,
    companyFile: async (nextNumber) => {
      const file = join(folder, `company-${nextNumber}.json`);
      await writeFile(file, JSON.stringify(fileOf(series, nextNumber)));
      return file;
    },
    moveNumber: async (nextNumber) => void must(await putCompanyFile(registration(nextNumber), deps)),
    close: async () => {
      await runner.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const must = <T>(result: { done: T } | { refused: string }): T => {
  if ('refused' in result) throw new Error(result.refused);
  return result.done;
};

/** The demo company in the form of a company file. */
const fileOf = (series: string, nextNumber: number) => {
  const { cnpj, legalName, city, state, taxRegime, simplesAssessment, activities } = demoCompany();
  return {
    cnpj,
    legal_name: legalName,
    city,
    state,
    tax_regime: taxRegime,
    simples_assessment: simplesAssessment,
    approximate_tax_percent: '6.00',
    dps: { live: { series: '1', next_number: 1 }, test: { series, next_number: nextNumber } },
    activities: activities.map(({ cnae, isMain }) => ({ cnae, is_main: isMain })),
    automatic_issuance: true,
    issuer_configured: true,
    issuer_approved: true,
  };
};
