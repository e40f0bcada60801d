import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type Migration,
  MigrationError,
  migrate,
  pendingMigrations,
  withSchemaLock,
} from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { sha256 } from '../../../src/lib/sha256.js';
import { startProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const one: Migration = { id: 1, name: 'one', sql: 'create table one (n integer)' };
const two: Migration = { id: 2, name: 'two', sql: 'create table two (n integer); insert into one values (2)' };

it('has the steps of every release byte for byte, because databases keep their checksums', () => {
  const released = migrations.filter(({ id }) => id <= 46);
  const checksums = released.map(({ name, sql }) => sha256(`${name}\n${sql}`, 'hex'));
  expect(released).toHaveLength(25);
  expect(sha256(checksums.join('\n'), 'hex')).toBe('a2857973697f2027248338661abe890623011c50e7fc78560ff9af0576cbfd15');
});

it('step 48 is step 46 with five minutes in place of one minute', () => {
  const sqlOf = (step: number): string => migrations.find(({ id }) => id === step)?.sql ?? '';
  expect(sqlOf(46).match(/interval '1 minute'/g)).toHaveLength(2);
  expect(sqlOf(48)).toBe(sqlOf(46).replaceAll("interval '1 minute'", "interval '5 minutes'"));
});

describeWithPostgres('migrate', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(() => database.close());

  it('runs what is missing, once', async () => {
    const { pool } = database;
    expect(await pendingMigrations(pool, [one, two])).toEqual([1, 2]);
    expect(await migrate(pool, [one])).toEqual([1]);
    expect(await migrate(pool, [one, two])).toEqual([2]);
    expect(await migrate(pool, [one, two])).toEqual([]);
    expect(await pendingMigrations(pool, [one, two])).toEqual([]);
    expect((await pool.query('select n from one')).rows).toEqual([{ n: 2 }]);
  });

  it('runs each step once when several processes start at once', async () => {
    const child = ['test/adapters/sql/migrate-child.ts'];
    const env = { DATABASE_URL: database.connectionString };
    const children = await Promise.all([0, 1, 2, 3].map(() => startProgram<{ ran: number[] }>(child, env)));
    const ran = children.map(({ ready }) => ready.ran).sort((a, b) => b.length - a.length);
    expect(ran).toEqual([[...migrations.map(({ id }) => id), 10_000], [], [], []]);
    for (const { ended } of children) expect(await ended).toEqual({ code: 0, signal: null });
  });

  it('is not cut short by the time limits of the pool, neither at work nor waiting for another process', async () => {
    const { connectionString } = database;
    const hasty = openPool({
      connectionString,
      max: 2,
      applicationName: 'test',
      statementTimeoutMs: 0,
      lockTimeoutMs: 50,
    });
    const slow: Migration = { ...one, sql: `${one.sql}; select pg_sleep(0.3)` };
    const ran = await Promise.all([migrate(hasty, [slow]), migrate(hasty, [slow])]);
    expect(ran.flat()).toEqual([1]);
    await hasty.end();
  });

  it('waits for no other process when nothing is missing, not even for one that was frozen with the lock', async () => {
    const { pool } = database;
    await migrate(pool, [one]);
    await withSchemaLock(pool, async (holder) => {
      expect(await migrate(pool, [one])).toEqual([]);
      expect((await holder.query('show idle_session_timeout')).rows).toEqual([{ idle_session_timeout: '1min' }]);
      expect((await holder.query('show client_connection_check_interval')).rows).toEqual([
        { client_connection_check_interval: '10s' },
      ]);
    });
  });

  it('names a step whose row was lost from the history', async () => {
    await migrate(database.pool, [one, two]);
    await database.admin.query('delete from schema_migrations where id = 1');
    await expect(migrate(database.pool, [one, two])).rejects.toThrow(/1-one .*below 2/);
  });

  it('leaves nothing of a step that failed', async () => {
    const broken: Migration = { id: 2, name: 'broken', sql: 'insert into one values (1); select nonsense' };
    await expect(migrate(database.pool, [one, broken])).rejects.toThrow(/nonsense/);
    expect((await database.pool.query('select n from one')).rows).toEqual([]);
    expect(await migrate(database.pool, [one, two])).toEqual([2]);
  });

  it('refuses a changed step, a newer database, a list out of order and a step added below', async () => {
    await migrate(database.pool, [one, two]);
    const changed = { ...one, sql: `${one.sql} ` };
    await expect(migrate(database.pool, [changed, two])).rejects.toThrow(MigrationError);
    await expect(migrate(database.pool, [one])).rejects.toThrow(/2-two.*newer version/);
    await expect(pendingMigrations(database.pool, [one])).rejects.toThrow(MigrationError);
    await expect(migrate(database.pool, [two, one])).rejects.toThrow(/1-one comes after 2-two/);
    const ten = { ...two, id: 10, sql: 'select 1' };
    expect(await migrate(database.pool, [one, two, ten])).toEqual([10]);
    const five = { ...ten, id: 5 };
    await expect(migrate(database.pool, [one, two, five, ten])).rejects.toThrow(/5-two was added below 10/);
  });
});

describeWithPostgres('freshDatabase', () => {
  it('is migrated, and reset puts it back to that', async () => {
    const database = await freshDatabase();
    expect(await pendingMigrations(database.pool, migrations)).toEqual([]);
    const head = async () => (await database.pool.query('select * from event_log_head')).rows;
    const before = await head();
    await database.admin.query('update event_log_head set position = 7');
    await database.admin.query(`insert into event_log values (7, 's', 0, gen_random_uuid(), 't', '', '')`);
    await database.reset();
    expect(await head()).toEqual(before);
    expect((await database.pool.query('select 1 from event_log')).rows).toEqual([]);
    await database.close();
  });
});
