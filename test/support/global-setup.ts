import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { lockDataDir } from '../../src/adapters/embedded-postgres/data-dir.js';
import { stopOrphan } from '../../src/adapters/embedded-postgres/orphan.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { beginCompiling, COMPILED } from './compiled.js';
import { KEYS, makeIdentity } from './fixture/simulator-identity.js';
import { CLIENT } from './harness/simulator.js';
import { IDENTITY } from './identity-folder.js';
import { isLeftSince } from './leftovers.js';
import { startLockedPostgres } from './locked-postgres.js';
import { PATIENT } from './patient.js';
import { ensureRoles, migrateAsOwner, OWNER, SERVICE } from './roles.js';
import { privateLines, RUN_LOGS } from './run-logs.js';
import { RUN_FOLDERS } from './temporary-folder.js';

/** What test files learn about the run's server: its address and the database to copy, or the reason why there is none. */
export type PostgresOfRun = { kind: 'running'; url: string; template: string } | { kind: 'absent'; reason: string };

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresOfRun;
  }
}

/** One server per run: TEST_DATABASE_URL, or an embedded one that forgets all when the power fails. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  await sweepFolders();
  const logs = await mkdtemp(join(tmpdir(), LOGS));
  process.env[RUN_LOGS] = logs;
  const folders = await mkdtemp(join(tmpdir(), FOLDERS));
  // As root a database server of a test runs as another user, who has to walk through.
  await chmod(folders, 0o711);
  process.env[RUN_FOLDERS] = folders;
  const compiled = await beginCompiling();
  process.env[COMPILED] = compiled.folder;
  const identity = await makeIdentity(CLIENT);
  process.env[IDENTITY] = identity.folder;
  const server = await startServer();
  try {
    if (server.kind === 'absent') throw new Error(server.reason);
    const template = await createTemplate(server.url);
    project.provide('postgres', { kind: 'running', url: server.url, template });
  } catch (error) {
    if (process.env.REQUIRE_ENGINES?.split(',').includes('postgres')) throw error;
    project.provide('postgres', { kind: 'absent', reason: error instanceof Error ? error.message : String(error) });
  }
  return async () => {
    await server.stop();
    await compiled.close();
    await identity.close();
    const { lines, found } = await privateLines(logs);
    for (const folder of [logs, folders]) await rm(folder, { recursive: true, force: true });
    if (lines > 0)
      process.stdout.write(`${lines} lines logged by services of this run were scanned for private data\n`);
    if (found.length > 0) throw new Error(`private data in logs:\n${found.slice(0, 20).join('\n')}`);
  };
};

type Server = ({ kind: 'running'; url: string } | { kind: 'absent'; reason: string }) & { stop(): Promise<void> };

const givenServer = (): string | undefined => process.env.TEST_DATABASE_URL || undefined;

const startServer = async (): Promise<Server> => {
  const given = givenServer();
  if (given !== undefined) return { kind: 'running', url: given, stop: async () => undefined };
  await sweep();
  const dataDir = await mkdtemp(join(tmpdir(), PREFIX));
  // As root the server runs as another user, who has to walk through.
  await chmod(dataDir, 0o711);
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const server = await startLockedPostgres({
      dataDir: join(dataDir, 'data'),
      log: () => undefined,
      settings: FAST,
    });
    return {
      kind: 'running',
      // Tests add parameters of their own.
      url: server.superuserConnectionString.replace(/\?.*$/, ''),
      stop: async () => {
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    return { kind: 'absent', reason: error instanceof Error ? error.message : String(error), stop: remove };
  }
};

const LOGS = 'nfse-logs-';
const FOLDERS = 'nfse-folders-';
/** Longer than any run. */
const OLD_FOLDERS_MS = 6 * 3_600_000;

/** Logs of services, keys of simulators and folders of tests of runs that were killed. */
const sweepFolders = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const left = join(tmpdir(), name);
    if ([LOGS, KEYS, FOLDERS].some((prefix) => name.startsWith(prefix)) && isLeftSince(left, OLD_FOLDERS_MS))
      await rm(left, { recursive: true, force: true });
  }
};

const PREFIX = 'nfse-test-';
const OLD_MS = 60_000;

/** Servers and folders of runs that were killed; a run that lives holds its folder's lock. */
const sweep = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const home = join(tmpdir(), name);
    const data = join(home, 'data');
    if (!name.startsWith(PREFIX) || !existsSync(data) || !isLeftSince(home, OLD_MS)) continue;
    const lock = await lockDataDir(data, { waitMs: 0 }).catch(() => undefined);
    if (lock === undefined) continue;
    await stopOrphan(join(data, 'postgres'), () => undefined);
    await rm(home, { recursive: true, force: true });
  }
};

const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  // One round instead of 4096, in each of the thousands of sign-ins of a run.
  scram_iterations: '1',
  // Its launcher goes through the hundreds of databases of a run all the time, and no test asks for what it does.
  autovacuum: 'off',
};

const createTemplate = async (adminUrl: string): Promise<string> => {
  const template = `nfse_template_${process.pid}_${Date.now()}`;
  const admin = openPool({ connectionString: adminUrl, max: 1, applicationName: 'test-setup', ...PATIENT });
  await ensureRoles(adminUrl);
  try {
    if (givenServer() === undefined) await giveAgain(admin, adminUrl);
    await admin.query(`create database ${template} owner ${OWNER.name}`);
  } finally {
    await admin.end();
  }
  const url = new URL(adminUrl);
  url.pathname = `/${template}`;
  await migrateAsOwner(url.href);
  return template;
};

/** Gives the passwords to the server once more, which makes a verifier of each with its own number of rounds. */
const giveAgain = async (admin: pg.Pool, adminUrl: string): Promise<void> => {
  const { username, password } = new URL(adminUrl);
  const superuser = { name: decodeURIComponent(username), password: decodeURIComponent(password) };
  for (const { name, password } of [superuser, OWNER, SERVICE])
    await admin.query(`alter role ${pg.escapeIdentifier(name)} password ${pg.escapeLiteral(password)}`);
};
