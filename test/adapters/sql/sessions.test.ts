import { sql } from 'kysely';
import type pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDatabase } from '../../../src/adapters/sql/database.js';
import { sqlFault } from '../../../src/adapters/sql/errors.js';
import { openPool, PATIENT } from '../../../src/adapters/sql/pool.js';
import { type DatabaseLine, openDatabaseLine } from '../../support/database-line.js';
import { eventually } from '../../support/eventually.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

/** Milliseconds within which every answer arrives that arrives at all. */
const ANSWER_MS = 3_000;

describeWithPostgres('connections of a pool', () => {
  let database: FreshDatabase;
  let line: DatabaseLine;
  let pool: pg.Pool;
  beforeEach(async () => {
    database = await freshDatabase();
    line = await openDatabaseLine(database.connectionString);
    pool = openPool({
      connectionString: line.connectionString,
      max: 1,
      applicationName: 'under-test',
      statementTimeoutMs: 60_000,
      answerTimeoutMs: ANSWER_MS,
    });
  });
  afterEach(async () => {
    await pool.end();
    await line.close();
    await database.close();
  });

  const sessionOf = async (db: Pick<pg.Pool, 'query'>): Promise<number | undefined> =>
    (await db.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;

  const readOnly = async (isOn: boolean): Promise<void> => {
    const name = new URL(database.connectionString).pathname.slice(1);
    await database.admin.query(`alter database ${name} set default_transaction_read_only = ${isOn ? 'on' : 'off'}`);
  };

  it('read what others have committed, and have no limits where none are asked for, whatever the administrator set', async () => {
    const name = new URL(database.connectionString).pathname.slice(1);
    for (const [setting, value] of [
      ['default_transaction_isolation', 'serializable'],
      ['statement_timeout', '1s'],
      ['lock_timeout', '1s'],
      ['idle_session_timeout', '1s'],
      ['transaction_timeout', '1s'],
      ['extra_float_digits', '-15'],
    ])
      await database.admin.query(`alter database ${name} set ${setting} = '${value}'`);
    const patient = openPool({
      connectionString: line.connectionString,
      max: 1,
      applicationName: 'under-test',
      ...PATIENT,
    });
    const settings = await patient.query(
      `select current_setting('transaction_isolation') as isolation, current_setting('statement_timeout') as statement,
         current_setting('lock_timeout') as lock, current_setting('idle_session_timeout') as idle,
         current_setting('transaction_timeout') as transaction, (1764412345.5::float8)::text as number`,
    );
    await patient.end();
    expect(settings.rows).toEqual([
      { isolation: 'read committed', statement: '0', lock: '0', idle: '0', transaction: '0', number: '1764412345.5' },
    ]);
  });

  it.each([
    ['off', 'on'],
    ['local', 'on'],
    ['on', 'on'],
    ['remote_write', 'remote_write'],
    ['remote_apply', 'remote_apply'],
  ])('wait for the disk, and for a synchronous standby, where the administrator set %s', async (setting, expected) => {
    const name = new URL(database.connectionString).pathname.slice(1);
    await database.admin.query(`alter database ${name} set synchronous_commit = ${setting}`);
    const ofPool = async (options: { synchronousCommit?: boolean; connectionString?: string }): Promise<unknown> => {
      const opened = openPool({
        connectionString: database.connectionString,
        max: 1,
        applicationName: 'under-test',
        ...options,
      });
      const { rows } = await opened.query('show synchronous_commit').finally(() => opened.end());
      return rows;
    };
    const asked = `${database.connectionString}?options=-c%20synchronous_commit%3Doff`;
    expect(await ofPool({})).toEqual([{ synchronous_commit: expected }]);
    expect(await ofPool({ connectionString: asked })).toEqual([{ synchronous_commit: 'on' }]);
    expect(await ofPool({ synchronousCommit: false })).toEqual([{ synchronous_commit: 'off' }]);
  });

  it('stay as long as the server takes writes', async () => {
    expect(await sessionOf(pool)).toBe(await sessionOf(pool));
  });

  it('are used once while it takes none, and stay again when it does', async () => {
    await readOnly(true);
    expect(await sessionOf(pool)).not.toBe(await sessionOf(pool));
    await readOnly(false);
    await sessionOf(pool);
    expect(await sessionOf(pool)).toBe(await sessionOf(pool));
  });

  it('are dropped when the server stops taking writes', async () => {
    const before = await sessionOf(pool);
    // As the server reports it after a reload of its configuration.
    await pool.query('set default_transaction_read_only = on');
    expect(await sessionOf(pool)).not.toBe(before);
  });

  it.each<[string, (db: pg.Pool) => Promise<unknown>]>([
    ['the pool', (db) => db.query('select 1')],
    ['typed queries', (db) => sql`select 1`.execute(openDatabase(db))],
  ])('that a silent server left in the middle of a statement are dropped: %s', async (_what, ask) => {
    await ask(pool);
    line.silence();
    const error = await ask(pool).catch((cause: unknown) => cause);
    expect([sqlFault(error), (error as Error).message]).toEqual(['unavailable', 'Query read timeout']);
    line.goOn();
    await ask(pool);
  });

  it('that the server only refused a statement of are kept', async () => {
    const db = openDatabase(pool);
    const before = await sessionOf(pool);
    await expect(sql`select 1/0`.execute(db)).rejects.toThrow(/division by zero/);
    expect(await sessionOf(pool)).toBe(before);
  });

  it('that are reset in the middle of a statement end it as unavailable', async () => {
    const outcome = pool.query(`select pg_sleep(${ANSWER_MS / 1000})`).catch((cause: unknown) => cause);
    await eventually(
      () =>
        database.pool.query(`select from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`),
      ({ rowCount }) => (rowCount ?? 0) > 0,
    );
    line.reset();
    expect(sqlFault(await outcome)).toBe('unavailable');
    expect(await sessionOf(pool)).toBeDefined();
  });
});
