import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readEmbeddedAddresses } from '../../src/adapters/embedded-postgres/connection-file.js';
import { clusterFolder } from '../../src/adapters/embedded-postgres/data-dir.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { openDatabaseLine } from '../support/database-line.js';
import { openLine } from '../support/eventstore-double/line.js';
import { hasOneNode } from '../support/harness/eventstore-servers.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { type OwnEventStore, startOwnEventStore } from '../support/own-eventstore.js';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.js';
import { embeddedPostgres, installedPostgres } from '../support/postgres-programs.js';
import { as, ensureRoles, migrateAsOwner, OWNER, SERVICE } from '../support/roles.js';
import { openTcpLine } from '../support/tcp-line.js';
import type { EngineName } from './options.js';

/** Breaks an engine for so many milliseconds and mends it again. */
type EngineMishap = (milliseconds: number) => Promise<void>;

export type Engines = {
  /** For each process of the service and each command. */
  env: Readonly<Record<string, string>>;
  /** How many whole processes of the service run at once. */
  processes: number;
  mishaps: Readonly<Record<string, EngineMishap>>;
  /** Kinds of mishaps that cannot be made here, with the reason. */
  notMade: readonly string[];
  /** Of a role that may read the rows of the read models. */
  databaseUrl(): Promise<string>;
  /** Name and version of the log's server, where it is no part of the database. */
  logServer?: () => Promise<string>;
  close(): Promise<void>;
};

/** `folder`: the data folder of the service's first process. */
export const openEngines = async (name: EngineName, folder: string): Promise<Engines> => {
  await mkdir(folder, { recursive: true });
  switch (name) {
    case 'embedded':
      return embedded(folder);
    case 'postgres-nats':
      return await postgresAndNats(folder);
    case 'eventstore':
      return await eventStore(folder);
  }
};

const embedded = (folder: string): Engines => {
  const diskFull = fullDisk(() => postmasterIn(folder));
  return {
    env: { DATA_DIR: folder },
    processes: 1,
    mishaps: {
      database_kill: async () => killPostmaster(folder),
      ...(diskFull === undefined ? {} : { disk_full: diskFull }),
    },
    notMade: diskFull === undefined ? [NO_FULL_DISK] : [],
    databaseUrl: async () => {
      const addresses = await readEmbeddedAddresses(folder);
      if (typeof addresses !== 'object') throw new Error('the embedded database has no address');
      return addresses.service;
    },
    close: async () => undefined,
  };
};

/** Undefined while the server is not running. */
const postmasterIn = (folder: string): number | undefined => {
  try {
    return Number(readFileSync(join(clusterFolder(folder), 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  } catch {
    return undefined;
  }
};

const killPostmaster = (folder: string): void => {
  const pid = postmasterIn(folder);
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
};

const NO_FULL_DISK = 'full disk: it is played by a limit of file sizes, which needs prlimit (Linux)';

/**
 * The database's files cannot grow any more, as on a full disk: a limit of file sizes for the server and its present processes. Undefined
 * where the machine has no `prlimit`.
 */
const fullDisk = (postmaster: () => number | undefined): EngineMishap | undefined => {
  if (spawnSync('prlimit', ['--version']).error !== undefined) return undefined;
  const limit = (pids: readonly number[], bytes: string): void => {
    for (const pid of pids) spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  };
  return async (milliseconds) => {
    const pid = postmaster();
    if (pid === undefined) return;
    const pids = [pid, ...childrenOf(pid)];
    limit(pids, '4096');
    await pause(milliseconds);
    limit([pid, ...childrenOf(pid)], 'unlimited');
  };
};

const childrenOf = (pid: number): readonly number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

const INSTALLED = [18, 17, 16, 15];

const postgresAndNats = async (folder: string): Promise<Engines> => {
  const given = process.env.TEST_DATABASE_URL ?? '';
  const own = given === '' ? await startOwnPostgres(await programs(), { fsync: 'on' }) : undefined;
  const givenNats = process.env.TEST_NATS_URL ?? '';
  const ownNats = givenNats === '' ? await startNats() : undefined;
  const server = own?.url ?? given;
  const address = await freshDatabaseOn(server);
  const line = await openDatabaseLine(as(SERVICE, address));
  const natsLine = await lineBefore(ownNats?.url ?? givenNats, 4222);
  const masterKeyFile = join(folder, 'master.key');
  await writeFile(masterKeyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  const diskFull = own === undefined ? undefined : fullDisk(own.pid);
  return {
    env: {
      DATA_DIR: folder,
      MASTER_KEY_FILE: masterKeyFile,
      DATABASE_URL: line.connectionString,
      DATABASE_OWNER_URL: as(OWNER, address),
      NATS_URL: natsLine.url,
    },
    processes: 2,
    mishaps: {
      ...(own === undefined ? {} : { database_kill: (ms: number) => restart(own, ms) }),
      ...(own === undefined || diskFull === undefined
        ? {}
        : { disk_full: (ms: number) => diskFull(ms).then(() => untilUp(own)) }),
      ...(ownNats === undefined ? {} : { queue_kill: (ms: number) => restart(ownNats, ms) }),
      database_hold: (ms) =>
        during(ms, line.silence, () => {
          line.goOn();
          line.reset();
        }),
      queue_cut: (ms) => during(ms, natsLine.refuse, natsLine.goOn),
    },
    notMade: [
      ...(own === undefined ? ['kill and full disk of the database: TEST_DATABASE_URL names a server of its own'] : []),
      ...(ownNats === undefined ? ['kill of the queue: TEST_NATS_URL names a server of its own'] : []),
      ...(own !== undefined && diskFull === undefined ? [NO_FULL_DISK] : []),
    ],
    databaseUrl: async () => as(SERVICE, address),
    close: async () => {
      await Promise.all([line.close(), natsLine.close()]);
      await Promise.all([own?.close(), ownNats?.close()]);
    },
  };
};

/** The newest installed PostgreSQL, else the one that comes with the packages. */
const programs = async () => {
  for (const major of INSTALLED) {
    const found = installedPostgres(major);
    if (found !== undefined) return found;
  }
  return await embeddedPostgres();
};

const freshDatabaseOn = async (server: string): Promise<string> => {
  await ensureRoles(server);
  const name = `nfse_proof_${randomUUID().replaceAll('-', '')}`;
  const maker = openPool({ connectionString: server, max: 1, applicationName: 'proof' });
  await maker.query(`create database ${name} owner ${OWNER.name}`);
  await maker.query(`revoke temporary on database ${name} from public`).finally(() => maker.end());
  const url = new URL(server);
  url.pathname = `/${name}`;
  await migrateAsOwner(url.href);
  return url.href;
};

const restart = async (
  engine: Pick<NatsServer | OwnPostgres | OwnEventStore, 'kill' | 'start'>,
  milliseconds: number,
): Promise<void> => {
  await engine.kill();
  await pause(milliseconds);
  await engine.start();
};

/** A server whose disk was full has ended by itself. */
const untilUp = async (own: OwnPostgres): Promise<void> => {
  const isUp = await own.ask('select 1').then(
    () => true,
    () => false,
  );
  if (isUp) return;
  await own.kill();
  await own.start();
};

const during = async (milliseconds: number, begin: () => void, end: () => void): Promise<void> => {
  begin();
  await pause(milliseconds).finally(end);
};

const lineBefore = async (url: string, usualPort: number) => {
  const address = new URL(url);
  const line = await openTcpLine(address.hostname, Number(address.port || usualPort));
  address.hostname = '127.0.0.1';
  address.port = String(line.port);
  return { ...line, url: address.href };
};

/** The log in an EventStoreDB that the caller runs, or that this run starts and kills; the read models in the embedded PostgreSQL. */
const eventStore = async (folder: string): Promise<Engines> => {
  const given = process.env.TEST_EVENTSTORE_URL ?? '';
  const command = process.env.TEST_EVENTSTORE_COMMAND ?? '';
  if (given === '') throw new Error('TEST_EVENTSTORE_URL names no EventStoreDB');
  const own = command === '' ? undefined : await startOwnEventStore(command, given);
  const line = hasOneNode(given) ? await openLine(given) : undefined;
  const base = embedded(folder);
  return {
    ...base,
    env: { ...base.env, EVENTSTORE_URL: line?.url ?? given },
    mishaps: {
      ...base.mishaps,
      ...(line === undefined
        ? {}
        : { log_hold: (ms: number) => during(ms, line.hold, line.goOn), log_cut: async () => line.cut() }),
      ...(own === undefined ? {} : { log_kill: (ms: number) => restart(own, ms) }),
    },
    notMade: [
      ...base.notMade,
      ...(line === undefined ? ['cut and held connection of EventStoreDB: a line needs a server of one node'] : []),
      ...(own === undefined ? ['kill of EventStoreDB: no TEST_EVENTSTORE_COMMAND starts a server for this run'] : []),
    ],
    logServer: () => versionOfEventStore(given),
    close: async () => {
      await line?.close();
      await own?.kill();
    },
  };
};

const versionOfEventStore = async (url: string): Promise<string> => {
  const [, host = ''] = /^esdb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url) ?? [];
  const scheme = /[?&]tls=false\b/i.test(url) ? 'http' : 'https';
  const answer = await fetch(`${scheme}://${host}/info`).catch(() => undefined);
  const { esVersion = 'of an unknown version' } = (await answer?.json().catch(() => undefined)) ?? {};
  return `EventStoreDB ${esVersion}`;
};

/** For `run.json`: what a stranger must know to repeat the run. */
export const engineVersions = async (engines: Engines): Promise<string> => {
  const pool = openPool({ connectionString: await engines.databaseUrl(), max: 1, applicationName: 'proof' });
  try {
    const { rows } = await pool.query<{ version: string }>('select version() as version');
    const database = (rows[0]?.version ?? '').split(' ').slice(0, 2).join(' ');
    return engines.logServer === undefined ? database : `${await engines.logServer()}, ${database}`;
  } finally {
    await pool.end();
  }
};

export const commitOfTree = async (root: string): Promise<string> => {
  const asked = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const changed = spawnSync('git', ['status', '--porcelain', 'src', 'projections', 'test'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (asked.status === 0) return `${asked.stdout.trim()}${changed.stdout.trim() === '' ? '' : ' with changes'}`;
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version as string;
};
