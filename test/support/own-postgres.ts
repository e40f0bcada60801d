import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { chooseOsUser, type OsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { runToEnd } from '../../src/adapters/embedded-postgres/server-process.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import type { PostgresPrograms } from './postgres-programs.js';
import { OWNER, SERVICE } from './roles.js';

/** A server for one test, which may kill it, with the settings of a test server and the given changes. */
export type OwnPostgres = {
  /** Address of the database `postgres`, the same after every start. */
  url: string;
  start(): Promise<void>;
  /** Ends every session and the server, in order. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would; it recovers at the next start. */
  kill(): Promise<void>;
  /** Of its main process; undefined while it does not run. */
  pid(): number | undefined;
  /** As its superuser; undefined when it returns no row. */
  ask<Row extends pg.QueryResultRow>(statement: string): Promise<Row | undefined>;
  /** A standby of this server, until `select pg_promote()` runs on it. */
  standby(): Promise<OwnPostgres>;
  /** A file that only the server's user may read, e.g. a key. */
  secret(name: string, content: string): Promise<string>;
  close(): Promise<void>;
};

type Settings = Readonly<Record<string, string>>;

const HOST = '127.0.0.1';
const SUPERUSER = 'postgres';
const UP_WITHIN_MS = 120_000;

const TEST_SETTINGS: Settings = {
  listen_addresses: HOST,
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '16MB',
  max_connections: '100',
  timezone: 'UTC',
};

/** The product refuses a server that lets in a user with a password without asking for the password. */
const ACCESS = `host all ${OWNER.name},${SERVICE.name} ${HOST}/32 scram-sha-256\n`;

/** Every user of this machine may connect to the server; `close` removes it. */
export const startOwnPostgres = async (programs: PostgresPrograms, settings: Settings = {}): Promise<OwnPostgres> => {
  const user = chooseOsUser();
  const initialize = async (cluster: string): Promise<void> => {
    await runToEnd(
      programs.initdb,
      ['--pgdata', cluster, '--username', SUPERUSER, '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
      user,
    );
    const access = join(cluster, 'pg_hba.conf');
    await writeFile(access, `${ACCESS}${await readFile(access, 'utf8')}`);
  };
  return await startIn(programs, initialize, settings, user);
};

const startIn = async (
  programs: PostgresPrograms,
  initialize: (cluster: string) => Promise<void>,
  settings: Settings,
  user: OsUser | undefined,
): Promise<OwnPostgres> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-postgres-'));
  // As root the server runs as another user, who has to walk through.
  await chmod(folder, 0o711);
  const own = async (path: string): Promise<void> => {
    if (user !== undefined) await chown(path, user.uid, user.gid);
  };
  const cluster = join(folder, 'cluster');
  await mkdir(cluster, { mode: 0o700 });
  await own(cluster);
  await initialize(cluster);
  const port = await freePort();
  const url = `postgres://${SUPERUSER}@${HOST}:${port}/postgres`;
  let running: ChildProcess | undefined;

  const ask = async <Row extends pg.QueryResultRow>(statement: string): Promise<Row | undefined> => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(statement)).rows[0];
    } finally {
      await client.end();
    }
  };

  const start = async (): Promise<void> => {
    const flags = Object.entries({ ...TEST_SETTINGS, ...settings, port: String(port) });
    const args = ['-D', cluster, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
    running = spawn(programs.postgres, args, {
      stdio: 'ignore',
      cwd: '/',
      ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
    const isUp = (): Promise<boolean> =>
      ask('select 1').then(
        () => true,
        () => false,
      );
    await eventually(isUp, Boolean, UP_WITHIN_MS);
  };

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = running;
    running = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  };

  await start();
  return {
    url,
    start,
    ask,
    pid: () => running?.pid,
    // Fast and immediate shutdown, in the words of the server.
    stop: () => end('SIGINT'),
    kill: () => end('SIGQUIT'),
    standby: () => {
      const { pgBasebackup } = programs;
      if (pgBasebackup === undefined) throw new Error('this PostgreSQL has no pg_basebackup');
      const copy = (target: string) =>
        runToEnd(
          pgBasebackup,
          ['--pgdata', target, '--dbname', url, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'],
          user,
        );
      return startIn(programs, copy, { ...settings, synchronous_standby_names: '' }, user);
    },
    secret: async (name, content) => {
      const path = join(folder, name);
      await writeFile(path, content, { mode: 0o600 });
      await own(path);
      return path;
    },
    close: async () => {
      await end('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
};
