import { expect, it } from 'vitest';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { liveGeneration } from '../../src/projector/checkpoints.js';
import { tableOf } from '../../src/projector/generation-tables.js';
import { describeWithPostgres, emptyDatabase } from '../support/postgres.js';

/** The step of that name. */
const GENERATIONS = 14;

describeWithPostgres('the migration to generations', () => {
  it('keeps the rows of a database from before, their checkpoint and the view on them', async () => {
    const database = await emptyDatabase();
    const { pool } = database;
    await migrate(
      pool,
      migrations.filter(({ id }) => id < GENERATIONS),
    );
    await pool.query(
      `create schema p_invoices_v1; create table p_invoices_v1.rows (stream text primary key);
       insert into p_invoices_v1.rows values ('kept');
       create view read.invoices as select * from p_invoices_v1.rows;
       insert into checkpoints values ('invoices', 1, 'the log', '42', '2026-11-21T12:00:00.000Z')`,
    );
    await migrate(pool, migrations);
    const live = await liveGeneration(pool, 'invoices');
    expect(live).toEqual({
      name: 'invoices',
      version: 1,
      compatibleFrom: 1,
      generation: 1,
      role: 'live',
      logIdentity: 'the log',
      position: 42n,
    });
    expect((await pool.query(`select * from ${tableOf(live)}`)).rows).toEqual([{ stream: 'kept' }]);
    expect((await pool.query('select * from read.invoices')).rows).toEqual([{ stream: 'kept' }]);
    await database.close();
  });
});
