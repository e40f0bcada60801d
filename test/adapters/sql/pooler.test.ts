import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { DatabaseUnsuitable, refuseSharedSessions } from '../../../src/adapters/sql/database-checks.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { prepareDatabase } from '../../../src/runtime/engines/database.js';
import { itWith } from '../../support/needs.js';
import { startPgBouncer } from '../../support/pgbouncer.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('an address that leads to a pooler', () => {
  let database: FreshDatabase;
  const closing: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await database.close();
  });

  const poolThrough = async (mode: 'session' | 'transaction') => {
    const pooler = await startPgBouncer(database.connectionString, mode);
    const { connectionString } = pooler;
    const pool = openPool({ connectionString, max: 2, applicationName: 'nfse-under-test', statementTimeoutMs: 7_000 });
    closing.push(pooler.close, () => pool.end());
    return { connectionString, pool };
  };

  itWith('pgbouncer', 'works in session mode as it comes, with the limits of the service', async () => {
    const { connectionString, pool } = await poolThrough('session');
    await refuseSharedSessions(pool);
    expect(await prepareDatabase({ service: connectionString, owner: undefined }, {}, 'serve')).toEqual([]);
    const { rows } = await pool.query(
      `select name, setting from pg_settings where name in ('statement_timeout', 'lock_timeout',
         'idle_in_transaction_session_timeout', 'synchronous_commit', 'application_name') order by name`,
    );
    expect(rows.map(({ setting }) => setting)).toEqual(['nfse-under-test', '60000', '10000', '7000', 'on']);
    const log = postgresEventLog({ connectionString });
    closing.push(() => log.close());
    expect(await log.head()).toBeNull();
  });

  itWith('pgbouncer', 'is refused in transaction mode before anything is changed', async () => {
    const { connectionString, pool } = await poolThrough('transaction');
    const line = /a pooler that gives each transaction another session.*pool_mode = session/;
    await expect(refuseSharedSessions(pool)).rejects.toThrow(line);
    const start = prepareDatabase({ service: connectionString, owner: undefined }, {}, 'serve');
    await expect(start).rejects.toThrow(DatabaseUnsuitable);
  });

  itWith('pgbouncer', 'is refused for the service alone too, before the owner makes a step', async () => {
    const empty = await emptyDatabase();
    closing.push(() => empty.close());
    const pooler = await startPgBouncer(empty.connectionString, 'transaction');
    closing.push(pooler.close);
    const start = prepareDatabase(
      { service: pooler.connectionString, owner: empty.ownerConnectionString },
      {},
      'serve',
    );
    await expect(start).rejects.toThrow(/a pooler that gives each transaction another session/);
    expect((await empty.admin.query(`select to_regclass('event_log') as log`)).rows).toEqual([{ log: null }]);
  });

  it('asks a server itself nothing more than its number', async () => {
    const opened = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'direct' });
    closing.push(() => opened.end());
    await refuseSharedSessions(opened);
    expect(opened.totalCount).toBe(1);
  });
});
