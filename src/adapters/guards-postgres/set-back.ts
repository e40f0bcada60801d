import type pg from 'pg';
import type { Instant } from '../../domain/shared/time.js';
import type { LogPosition } from '../../ports/event-log.js';

/** Whether issuing over this log is paused until somebody has reconciled it. */
export const isPaused = async (db: Pick<pg.Pool, 'query'>, logIdentity: string): Promise<boolean> => {
  const { rows } = await db.query<{ paused: boolean }>(
    'select exists (select from log_set_back where log_identity = $1) as paused',
    [logIdentity],
  );
  return rows[0]?.paused === true;
};

/** The log was put back: nothing is issued over it, by any process and through restarts, until it is reconciled. */
export const notePause = async (
  db: Pick<pg.Pool | pg.PoolClient, 'query'>,
  logIdentity: string,
  head: LogPosition | null,
  now: Instant,
): Promise<void> => {
  await db.query('insert into log_set_back (log_identity, head, seen_at) values ($1, $2, $3) on conflict do nothing', [
    logIdentity,
    head?.toString() ?? null,
    now,
  ]);
};

/**
 * Ends the pause. Places behind the head are none of this log any more: they come back to it, and the guards are rebuilt, or the
 * same finding would begin the pause anew. One transaction.
 */
export const liftPause = async (db: pg.Pool, logIdentity: string, head: LogPosition | null): Promise<void> => {
  const client = await db.connect();
  try {
    const values = [logIdentity, (head ?? 0n).toString()];
    await client.query('begin');
    await client.query(
      'update checkpoints set position = $2::text where log_identity = $1 and position::numeric > $2::numeric',
      values,
    );
    await client.query(
      'update relay_checkpoint set position = $2::numeric where log_identity = $1 and position > $2::numeric',
      values,
    );
    await client.query(
      'delete from guards_position where log_identity = $1 and greatest(guards, operator_rows) > $2::numeric',
      values,
    );
    await client.query('delete from log_set_back where log_identity = $1', [logIdentity]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
};
