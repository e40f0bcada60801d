import type { EventLog } from '../../src/ports/event-log.js';
import { eventually } from './eventually.js';
import type { FreshDatabase } from './postgres.js';

/**
 * Makes of a database that keeps the log the standby that had not received what came after a position: no event after it, no row of their streams, no
 * checkpoint past it, or past the first event that is left of these streams. Every session has ended before, as in a failover: none sees the events go.
 */
export const loseEnd = async ({ admin }: Pick<FreshDatabase, 'admin'>, position: bigint): Promise<void> => {
  const client = await admin.connect();
  const allowConnections = (isAllowed: boolean) =>
    client.query(`update pg_database set datallowconn = ${isAllowed} where datname = current_database()`);
  try {
    await allowConnections(false);
    await client.query(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await client.query('begin');
    const { rows: lost } = await client.query<{ stream: string }>(
      'delete from event_log where position > $1 returning stream',
      [position],
    );
    await client.query('update event_log_head set position = $1', [position]);
    const { rows: tables } = await client.query<{ schema: string }>(
      `select distinct quote_ident(table_schema) as schema from information_schema.columns
       where table_name = 'rows' and column_name = 'stream'`,
    );
    for (const { schema } of tables) {
      await client.query(`delete from ${schema}.rows where stream = any ($1)`, [lost.map(({ stream }) => stream)]);
    }
    const { rows: left } = await client.query<{ before: string | null }>(
      'select min(position) - 1 as before from event_log where stream = any ($1)',
      [lost.map(({ stream }) => stream)],
    );
    await client.query('update checkpoints set position = $1::text where position::numeric > $1::numeric', [
      left[0]?.before ?? position.toString(),
    ]);
    await client.query('update relay_checkpoint set position = $1 where position > $1', [position]);
    await client.query('commit');
  } finally {
    await client.query('rollback');
    await allowConnections(true);
    client.release();
  }
};

/** As `loseEnd` over a log that no service watches: a pause counts as recorded once the log has noticed the loss. */
export const loseEndUnder = async (log: EventLog, database: FreshDatabase, position: bigint): Promise<void> => {
  await loseEnd(database, position);
  await eventually(async () => (await log.lostEnd?.isLost().catch(() => undefined)) === true);
  log.lostEnd?.accept();
};
