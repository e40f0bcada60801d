import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { superuserAddress, writeConnection } from '../../../src/adapters/embedded-postgres/connection-file.js';
import { lockDataDir, prepareDataDir } from '../../../src/adapters/embedded-postgres/data-dir.js';
import { chooseOsUser } from '../../../src/adapters/embedded-postgres/os-user.js';
import { listenAsOwner } from '../../../src/adapters/embedded-postgres/owner-socket.js';
import { schemaLines } from '../../../src/adapters/sql/database-checks.js';
import { migrate } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { openPool, overPool } from '../../../src/adapters/sql/pool.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { createLogger, type Logger } from '../../../src/runtime/config/logger.js';
import {
  COMMAND_SESSION,
  OLDER_SESSION,
  openDatabaseServer,
  serviceSessions,
  sessionOfRoles,
} from '../../../src/runtime/engines/database.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { openDatabaseLine } from '../../support/database-line.js';
import { authentication, BACKEND, startFakePostgres } from '../../support/fake-postgres.js';
import { freePort } from '../../support/free-port.js';
import { openOn } from '../../support/harness/open-engines.js';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { SERVICE } from '../../support/roles.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describeWithPostgres('a start on a database by its address', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(() => database.close());

  const nameOf = ({ connectionString }: FreshDatabase): string => new URL(connectionString).pathname.slice(1);

  it('needs no superuser, only a database of its own', async () => {
    const name = `${nameOf(database)}_plain`;
    await database.admin.query(`create role ${name} login password 'plain'`);
    await database.admin.query(`create database ${name} owner ${name} template template0`);
    const url = new URL(database.connectionString);
    Object.assign(url, { username: name, password: 'plain', pathname: `/${name}` });
    expect(await openOn(url.href)).toBe('opened');
  });

  it('is refused in one line, exit 2, when the server is older than 15', async () => {
    // No server of that age is available, so the proxy changes the version that this server reports.
    const older = (answer: Buffer): Buffer =>
      Buffer.from(answer.toString('latin1').replace(/1[5-9](00\d\d)/g, '14$1'), 'latin1');
    const line = await openDatabaseLine(database.connectionString, older);
    const program = runProgram(['src/main.ts', 'doctor'], {
      DATABASE_URL: line.connectionString,
      MASTER_KEY_FILE: '/nowhere',
      DATA_DIR: '/nowhere',
    });
    expect((await program.ended).code).toBe(2);
    expect(program.complaint().trim()).toMatch(/^the database is PostgreSQL 1\S+: this service needs 15 or newer$/);
    await line.close();
  });

  it('is refused when the database does not hold UTF-8', async () => {
    const plain = `${nameOf(database)}_ascii`;
    await database.admin.query(`create database ${plain} encoding 'SQL_ASCII' locale 'C' template template0`);
    const url = new URL(database.connectionString);
    url.pathname = `/${plain}`;
    expect(await openOn(url.href)).toEqual({ exit: 2, line: expect.stringMatching(/encoding is SQL_ASCII/) });
  });

  it('is refused when a newer version has been there, and changes nothing', async () => {
    await database.admin.query(`insert into schema_migrations values (999, 'from-the-future', 'x')`);
    const before = await schemaLines(database.pool);
    expect(await openOn(database.connectionString)).toEqual({
      exit: 2,
      line: expect.stringMatching(/999-from-the-future.*run a newer version/),
    });
    expect(await schemaLines(database.pool)).toEqual(before);
  });

  it.each([OLDER_SESSION, COMMAND_SESSION, sessionOfRoles(['api', 'projector'])])(
    'is refused to a command whose version is newer than the service that is connected as %s, and changes nothing',
    async (applicationName) => {
      const bare = await emptyDatabase();
      await migrate(bare.pool, migrations.slice(0, -1));
      const before = await schemaLines(bare.pool);
      const { connectionString } = bare;
      const service = openPool({ connectionString, max: 1, applicationName });
      await service.query('select');
      expect(await openOn(connectionString)).toEqual({
        exit: 2,
        line: expect.stringMatching(
          /^an older version of the service uses this database, .*: run the program of that version/,
        ),
      });
      expect(await schemaLines(bare.pool)).toEqual(before);
      await service.end();
      await vi.waitUntil(async () => (await serviceSessions(bare.pool)) === 0, { timeout: 120_000 });
      expect(await openOn(connectionString)).toBe('opened');
      await bare.close();
    },
  );

  const ANOTHER =
    'the database belongs to another program, whose table schema_migrations it holds: check the name in DATABASE_URL';
  const RAILS = `create table schema_migrations (version text primary key); insert into schema_migrations values ('20260101')`;
  const GOLANG = 'create table schema_migrations (version bigint primary key, dirty boolean not null)';
  const SAME_COLUMNS = `create table schema_migrations (id integer primary key, name text, checksum text);
    insert into schema_migrations values (1, 'orders', 'x')`;

  it.each([
    ['Rails', RAILS],
    ['golang-migrate', GOLANG],
    ['a program with the same columns', SAME_COLUMNS],
  ])('is refused when the table of migrations is that of %s, and changes nothing', async (_whose, theirs) => {
    const bare = await emptyDatabase();
    await bare.pool.query(theirs);
    const before = await schemaLines(bare.pool);
    expect(await openOn(bare.connectionString)).toEqual({ exit: 2, line: ANOTHER });
    expect(await schemaLines(bare.pool)).toEqual(before);
    await bare.close();
  });

  it('has a schema of its own before that of another program', async () => {
    const bare = await emptyDatabase();
    await bare.pool.query(`${RAILS}; create schema nfse`);
    await bare.admin.query(`alter database ${nameOf(bare)} set search_path = nfse, public`);
    expect(await openOn(bare.connectionString)).toBe('opened');
    expect(await openOn(bare.connectionString)).toBe('opened');
    await bare.close();
  });

  it.each<[string, string, RegExp]>([
    [
      'a constraint',
      'alter table event_log drop constraint event_log_stream_revision_key',
      /UNIQUE \(stream, revision\)/,
    ],
    ['a column', 'alter table pending_cuts rename column stream to other', /column pending_cuts\.stream text/],
    ['a table', 'drop table lookup_memos', /column lookup_memos\.asked .* and \d more/],
    ['a type', 'alter table vault_day_keys alter column sealed type varchar(10)', /column vault_day_keys\.sealed text/],
    [
      'the code of a function',
      `create or replace function event_log_append(streams text[], expected integer[], counts integer[],
         event_streams text[], event_revisions integer[], event_ids uuid[], event_types text[], event_records text[],
         event_hashes text[], out accepted boolean[], out revisions integer[]) language plpgsql as 'begin end'`,
      /missing: function event_log_append definer \w+: make/,
    ],
  ])('is refused when somebody has changed %s by hand, and says which', async (_what, change, message) => {
    expect(await openOn(database.connectionString)).toBe('opened');
    await database.admin.query(change);
    expect(await openOn(database.connectionString)).toEqual({ exit: 2, line: expect.stringMatching(message) });
  });

  it('is no matter of whether the administrator has the server quote all names', async () => {
    await database.admin.query(`alter database ${nameOf(database)} set quote_all_identifiers = on`);
    expect(await openOn(database.connectionString)).toBe('opened');
    const quoted = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'test' });
    const there = await quoted.query('show quote_all_identifiers');
    expect(await schemaLines(quoted)).toEqual(await schemaLines(database.pool));
    expect(there.rows).toEqual([{ quote_all_identifiers: 'on' }]);
    expect((await quoted.query('show quote_all_identifiers')).rows).toEqual(there.rows);
    await quoted.end();
  });

  it('is no matter of what an operator adds', async () => {
    await database.admin.query('create index of_mine on event_log (type); create table notes_of_mine (note text)');
    expect(await openOn(database.connectionString)).toBe('opened');
  });

  it('says that it takes no writes, exit 3', async () => {
    await database.admin.query(`alter database ${nameOf(database)} set default_transaction_read_only = on`);
    expect(await openOn(database.connectionString)).toEqual({
      exit: 3,
      line: expect.stringMatching(/takes no writes.*\(25006\)/),
    });
  });

  it('says that the database refuses it, or that nobody is there, exit 3', async () => {
    const url = new URL(database.connectionString);
    url.pathname = '/there_is_none';
    expect(await openOn(url.href)).toEqual({
      exit: 3,
      line: expect.stringMatching(/refuses this user.*\(3D000\); before the first start .*nfse setup database/),
    });
    url.port = '1';
    expect(await openOn(url.href)).toEqual({
      exit: 3,
      line: expect.stringMatching(/cannot be reached.*\(ECONNREFUSED\)/),
    });
  });

  it('names the variable of the file that holds the address, when nobody is there', async () => {
    const url = new URL(database.connectionString);
    url.port = '1';
    const folder = temporaryFolder();
    const file = join(folder, 'database-url');
    writeFileSync(file, url.href);
    const program = runProgram(['src/main.ts', 'doctor'], {
      DATABASE_URL_FILE: file,
      MASTER_KEY_FILE: '/nowhere',
      DATA_DIR: folder,
    });
    expect((await program.ended).code).toBe(3);
    expect(program.complaint()).toContain('the database cannot be reached: check DATABASE_URL_FILE, ');
  });

  it('names the variable of the file, and nothing else, when the database is that of another program', async () => {
    const bare = await emptyDatabase();
    await bare.pool.query(RAILS);
    const folder = temporaryFolder();
    const file = join(folder, 'database-url');
    writeFileSync(file, bare.connectionString);
    const env = { DATABASE_URL_FILE: file, MASTER_KEY_FILE: '/nowhere', DATA_DIR: folder };
    const program = runProgram(['src/main.ts', 'setup', 'database'], env);
    expect((await program.ended).code).toBe(2);
    expect(program.complaint().trim()).toBe(`${ANOTHER}_FILE`);
    await bare.close();
  });

  it('says that the server offers no TLS where the address demands it', async () => {
    expect(await openOn(`${database.connectionString}?sslmode=verify-full`)).toEqual({
      exit: 3,
      line: 'the server of the database offers no TLS, which sslmode in DATABASE_URL demands: switch it on there (ssl = on), or check host and port',
    });
  });

  it('says what gives the service its rights, when they are missing', async () => {
    await database.admin.query(`revoke all on all tables in schema public from ${SERVICE.name}`);
    expect(await openOn(database.connectionString)).toEqual({
      exit: 3,
      line: expect.stringMatching(/^the user of DATABASE_URL lacks a right .* nfse setup database .*\(42501\)$/),
    });
  });
});

it('a command says of a database without a free connection who may hold all, and not which process to stop', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  chmodSync(join(dataDir, '..'), 0o711);
  await prepareDataDir(dataDir, chooseOsUser());
  const lock = await lockDataDir(dataDir, { waitMs: 0 });
  const full = await startFakePostgres([BACKEND.full]);
  const passwords = { password: 'secret-1', ownerPassword: 'secret-2', servicePassword: 'secret-3' };
  await writeConnection(dataDir, { port: full.port, ...passwords });
  const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: dataDir });
  expect((await program.ended).code).toBe(3);
  expect(program.complaint().trim()).toMatch(
    /^the database has no free connection, because processes of the service or other programs .* raise max_connections .*, and try again \(53300\)$/,
  );
  await lock.release();
  await full.close();
});

it('a command says of the database of a service, which does not answer, where the reason is, and not which process to stop', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  chmodSync(join(dataDir, '..'), 0o711);
  await prepareDataDir(dataDir, chooseOsUser());
  const lock = await lockDataDir(dataDir, { waitMs: 0 });
  const passwords = { password: 'secret-1', ownerPassword: 'secret-2', servicePassword: 'secret-3' };
  await writeConnection(dataDir, { port: await freePort(), ...passwords });
  const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: dataDir });
  expect((await program.ended).code).toBe(3);
  expect(program.complaint().trim()).toBe(
    `the database of the service that runs on DATA_DIR ${dataDir} does not answer, and the service starts the database again by itself: see the log of the service for why it does not start, cure that (for instance free space on a full disk), and try again`,
  );
  await lock.release();
});

it('a command gives its password to no other program on the port of the data folder', async () => {
  const home = temporaryFolder();
  // As root the server runs as another user, who has to walk through.
  chmodSync(home, 0o711);
  const dataDir = join(home, 'data');
  const parsed = readConfig({ DATA_DIR: dataDir });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  await prepareDataDir(dataDir, chooseOsUser());
  const lock = await lockDataDir(dataDir, { waitMs: 0 });
  const fake = await startFakePostgres([authentication(3)]);
  const passwords = { password: 'secret-1', ownerPassword: 'secret-2', servicePassword: 'secret-3' };
  await writeConnection(dataDir, { port: fake.port, ...passwords });
  const runner = createRunner(() => undefined);
  const logger = createLogger('silent', 'stderr');
  const opened = openDatabaseServer({ config: parsed.config, logger, runner, startedFor: 'command' });
  await vi.waitUntil(() => fake.taken() > 1, { timeout: 120_000 });
  await lock.release();
  expect(new URL((await opened).service).port).not.toBe(String(fake.port));
  expect(fake.received()).toBe('');
  await runner.stop();
  await fake.close();
});

/** A copy by `tar` has no sockets. */
const COPIES = { cp: 'cp -a "$1" "$2"', tar: 'mkdir "$2" && tar -cf - -C "$1" . | tar -xf - -C "$2"' };

it.each([
  ['company list', COPIES.cp],
  ['company list', COPIES.tar],
  ['serve', COPIES.cp],
  ['serve', COPIES.tar],
])(
  '%s on a copy of the data folder of a service that runs is refused, and leaves the database of the service alone: %s',
  async (command, makeCopy) => {
    const home = temporaryFolder();
    chmodSync(home, 0o711);
    const dataDir = join(home, 'data');
    await prepareDataDir(dataDir, chooseOsUser());
    const lock = await lockDataDir(dataDir, { waitMs: 0 });
    const original = await startFakePostgres([authentication(3)]);
    const passwords = { password: 'secret-1', ownerPassword: 'secret-2', servicePassword: 'secret-3' };
    await writeConnection(dataDir, { port: original.port, ...passwords });
    const copy = join(home, 'copy');
    execFileSync('sh', ['-c', makeCopy, 'sh', dataDir, copy]);
    const program = runProgram(['src/main.ts', ...command.split(' ')], { DATA_DIR: copy, PORT: '0', OPS_PORT: '0' });
    expect((await program.ended).code).toBe(2);
    expect(program.complaint().trim()).toBe(
      `DATA_DIR ${copy} is a copy made while process ${process.pid} ran on the original, and the files in it name the database of that process: nfse backup and nfse restore make a copy to work on; for a command set DATA_DIR as the service has it`,
    );
    expect(original.taken()).toBe(0);
    await lock.release();
    await original.close();
  },
);

it('a command in another container than the service is sent to that container, where the database may answer', async () => {
  const dataDir = temporaryFolder();
  chmodSync(dataDir, 0o711);
  mkdirSync(join(dataDir, 'lock'));
  const owner = await listenAsOwner(join(dataDir, 'lock', 'owner.sock'));
  const claim = { pid: 2 ** 22 - 1, identity: 'of another container', released: false, socket: 'owner.sock' };
  writeFileSync(join(dataDir, 'lock', 'claim-1'), JSON.stringify(claim));
  const passwords = { password: 'secret-1', ownerPassword: 'secret-2', servicePassword: 'secret-3' };
  await writeConnection(dataDir, { port: await freePort(), ...passwords });
  const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: dataDir });
  expect((await program.ended).code).toBe(2);
  expect(program.complaint().trim()).toBe(
    `DATA_DIR ${dataDir} is in use by a process of another container: run the command in that container, stop it or choose another DATA_DIR`,
  );
  await owner.end();
});

describe('a service whose embedded database fails', () => {
  let dataDir: string;
  let lines: object[];
  let runner: ReturnType<typeof createRunner>;
  let service: string;
  beforeEach(async () => {
    const home = temporaryFolder();
    chmodSync(home, 0o711);
    dataDir = join(home, 'data');
    const parsed = readConfig({ DATA_DIR: dataDir });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    lines = [];
    const take = (line: object) => lines.push(line);
    const logger = { debug: () => undefined, info: take, warn: take, error: take } as unknown as Logger;
    runner = createRunner(() => undefined);
    ({ service } = await openDatabaseServer({ config: parsed.config, logger, runner, startedFor: 'serve' }));
  });
  afterEach(() => runner.stop());

  const logged = (reason: RegExp) =>
    expect.objectContaining({
      msg: 'the embedded database failed and is started again',
      error: 'EmbeddedPostgresError',
      reason: expect.stringMatching(reason),
    });
  const ask = (connectionString: string, sql: string): Promise<unknown> =>
    overPool({ connectionString, applicationName: 'test' }, (pool) => pool.query(sql));

  it('logs why the database does not start again', async () => {
    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    renameSync(control, `${control}.away`);
    process.kill(Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
    await expect.poll(() => lines).toContainEqual(logged(/^PostgreSQL did not start: .*pg_control/));
  });

  it('logs why all sessions of the database ended, as on a full disk, where the main process stays', async () => {
    // A checkpoint cannot remove a folder of this name.
    const obstacle = join(dataDir, 'postgres', 'pg_logical', 'replorigin_checkpoint.tmp');
    mkdirSync(obstacle);
    const connection = JSON.parse(readFileSync(join(dataDir, 'postgres-connection.json'), 'utf8'));
    await expect(ask(superuserAddress(connection), 'checkpoint')).rejects.toThrow();
    await expect.poll(() => lines).toContainEqual(logged(/^PANIC: .*replorigin_checkpoint/));
    rmdirSync(obstacle);
    await expect
      .poll(() =>
        ask(service, 'select').then(
          () => 'answered',
          () => 'silent',
        ),
      )
      .toBe('answered');
  });
});
