import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import { inTransaction } from '../sql/transaction.js';

/** Whether issuing over this log is paused until log recovery has finished (ADR 22). */
export const isIssuingPaused = async (db: Pick<pg.Pool, 'query'>, logIdentity: string): Promise<boolean> => {
  const { rows } = await db.query<{ paused: boolean }>(
    'select exists (select from log_set_back where log_identity = $1) as paused',
    [logIdentity],
  );
  return rows[0]?.paused === true;
};

/** Records that the log is incomplete: no process issues over it, also after restarts, until log recovery has finished (ADR 22). */
export const pauseIssuing = async (
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
 * Ends the pause, in one transaction. Positions behind the head no longer belong to this log: checkpoints move back to the head and the guards are
 * rebuilt, because otherwise the same finding would begin the pause again.
 */
export const resumeIssuing = (db: pg.Pool, logIdentity: string, head: LogPosition | null): Promise<void> =>
  inTransaction(db, async (client) => {
    const values = [logIdentity, (head ?? 0n).toString()];
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
  });
