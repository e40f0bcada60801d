import type pg from 'pg';
import { expect, it } from 'vitest';
import { credentials } from '../../projections/credentials.js';
import { changingTables, ensureProjection, makeTable, tableOf } from '../../src/projector/generation-tables.js';
import { NOW } from '../support/harness/projector.js';
import { describeWithPostgres, freshDatabase } from '../support/postgres.js';

const first = { ...credentials, generation: 1, role: 'live' as const };

describeWithPostgres('rows of a read model without a checkpoint', () => {
  it('are kept, and the start is refused, while another schema holds a log', async () => {
    const database = await freshDatabase();
    const { pool, admin } = database;
    await changingTables(pool, (client) => makeTable(client, first));
    await pool.query(`insert into ${tableOf(first)} (key_id) values ('key')`);
    await admin.query(
      `create schema kept; create table kept.schema_migrations as table schema_migrations; create table kept.event_log as table event_log`,
    );
    const start = () => ensureProjection(pool, credentials, 'a log', NOW);
    await expect(start()).rejects.toThrow(
      /^the table p_credentials_v\d+_g1\.rows holds rows that are not those of this log, and the schema kept of this/,
    );
    expect(await rowsOf(pool)).toBe(1);
    await admin.query('drop schema kept cascade');
    await start();
    expect(await rowsOf(pool)).toBe(0);
    await database.close();
  });
});

const rowsOf = async (pool: pg.Pool): Promise<number> =>
  (await pool.query(`select from ${tableOf(first)}`)).rows.length;
