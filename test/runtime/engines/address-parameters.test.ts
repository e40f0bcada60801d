import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ignoredParameters, readDatabaseUrl } from '../../../src/adapters/sql/address.js';
import { openPool, type PoolOptions } from '../../../src/adapters/sql/pool.js';
import { giveUpOf } from '../../../src/runtime/commands/give-up.js';
import { type Config, ignoredParameterWarnings, readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { rolesHeld, sessionOfRoles } from '../../../src/runtime/engines/database.js';
import { openEngines } from '../../../src/runtime/engines/engines.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { runProgram } from '../../support/harness/processes.js';
import { runSetupDatabase } from '../../support/harness/setup-database.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { runLogger } from '../../support/run-logs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const PARAMETERS =
  'application_name=erp&statement_timeout=100&lock_timeout=1&query_timeout=1&idle_in_transaction_session_timeout=1';
const NAMES = 'application_name, statement_timeout, lock_timeout, query_timeout, idle_in_transaction_session_timeout';
const WHY = 'ignored: the service names its sessions itself, and DATABASE_…_TIMEOUT_S set its limits';

it('the address of a database loses what the pools set, and keeps the rest as it was', () => {
  const kept = 'postgres://u:p%40@h:5432/d?sslmode=verify-full&connect_timeout=3';
  expect(readDatabaseUrl(`${kept}&${PARAMETERS}`)).toBe(kept);
  expect(readDatabaseUrl(`postgres://h/d?${PARAMETERS}`)).toBe('postgres://h/d');
  expect(readDatabaseUrl('postgres://h/d?keepalives=1%20')).toBe('postgres://h/d?keepalives=1%20');
  expect(ignoredParameters('no address')).toEqual([]);
});

it('an operator is told in one line for each address what is ignored, and where it is set', () => {
  const file = join(temporaryFolder(), 'owner');
  writeFileSync(file, 'postgres://o:secret@h/d?application_name=x\n');
  const service = `postgres://s:secret@h/d?${PARAMETERS}`;
  expect(ignoredParameterWarnings({ DATABASE_URL: service, DATABASE_OWNER_URL_FILE: file })).toEqual([
    `warning: ${NAMES} in DATABASE_URL are ${WHY}`,
    `warning: application_name in DATABASE_OWNER_URL is ${WHY}`,
  ]);
  expect(ignoredParameterWarnings({ DATABASE_URL: 'postgres://s:secret@h/d?sslmode=disable' })).toEqual([]);
  expect(ignoredParameterWarnings({})).toEqual([]);
});

describeWithPostgres('a database whose address has parameters that the pools set', () => {
  let database: FreshDatabase;
  let masterKey: string;
  beforeAll(async () => {
    database = await freshDatabase();
    masterKey = join(temporaryFolder(), 'master.key');
    writeFileSync(masterKey, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
  });
  afterAll(() => database.close());

  const environment = (): Record<string, string> => ({
    DATABASE_URL: `${database.connectionString}?${PARAMETERS}`,
    MASTER_KEY_FILE: masterKey,
    DATA_DIR: temporaryFolder(),
  });
  const configOf = (env: NodeJS.ProcessEnv): Config => {
    const parsed = readConfig(env);
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    return parsed.config;
  };

  it('shows which roles run, and no master key is given up beside them', async () => {
    const config = configOf(environment());
    const runner = createRunner(() => undefined);
    const shared = { config, clock: systemClock, logger: runLogger(), runner };
    const { pool } = await openEngines({ ...shared, startedFor: 'serve', roles: ['api', 'issuer'] });
    expect((await rolesHeld(pool)).roles).toEqual(new Set(['api', 'issuer']));
    const given = await giveUpOf(() => config, systemClock)('m1', { actor: 'ana', reason: 'test' });
    expect(given).toEqual({ refused: expect.stringMatching(/^a process of the service is still connected/) });
    await runner.stop();
  });

  it('is warned of by a command, in one line', async () => {
    const program = runProgram(['src/main.ts', 'company', 'list'], environment());
    expect((await program.ended).code).toBe(0);
    expect(program.output().stderr.trim()).toBe(`warning: ${NAMES} in DATABASE_URL are ${WHY}`);
  });

  it('is warned of by nfse setup database for the address of the administrator', async () => {
    const file = join(temporaryFolder(), 'admin');
    const { connectionString = '' } = database.admin.options;
    writeFileSync(file, `${connectionString}?application_name=dba\n`);
    const env = {
      DATABASE_URL: database.connectionString,
      DATABASE_OWNER_URL: database.ownerConnectionString,
    };
    const { exit, output } = await runSetupDatabase(env, '--admin-url-file', file);
    expect({ exit, output }).toEqual({
      exit: 0,
      output: expect.stringMatching(/^warning: application_name in \S+ is ignored: .*\nthe database is ready: 0 steps/),
    });
  });

  it('keeps other settings of its options, which the pools win over', async () => {
    const own =
      '-c search_path=pg_catalog -c application_name=erp -c statement_timeout=100 -c synchronous_commit=local';
    const address = readDatabaseUrl(`${database.connectionString}?options=${encodeURIComponent(own)}`);
    const shownBy = async (more: Partial<PoolOptions>): Promise<unknown> => {
      const pool = openPool({ connectionString: address, max: 1, applicationName: sessionOfRoles(['api']), ...more });
      const { rows } = await pool.query(
        `select current_setting('search_path') as path, current_setting('application_name') as name,
           current_setting('statement_timeout') as statement, current_setting('synchronous_commit') as commit`,
      );
      await pool.end();
      return rows[0];
    };
    const shown = { path: 'pg_catalog', name: 'nfse api', statement: '15s' };
    expect(await shownBy({})).toMatchObject(shown);
    expect(await shownBy({ synchronousCommit: false })).toEqual({ ...shown, commit: 'off' });
  });
});
