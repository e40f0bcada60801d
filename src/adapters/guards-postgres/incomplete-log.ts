import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import { inTransaction } from '../sql/transaction.js';

/** SQL: the furthest position in the log of identity `$1` that any row was made from. */
export const FURTHEST = `(select max(position) from (
      select position::numeric from checkpoints where log_identity = $1
      union all select position from relay_checkpoint where log_identity = $1
      union all select guards from guards_position where log_identity = $1
    ) held (position))`;

/** The end of a pause and a finding that begins one exclude each other. */
const LOCK_KEY = `hashtextextended('log recovery', 0)`;

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
 * Pauses issuing as `pauseIssuing` does, if rows are still made from more than this log holds. A log recovery may have ended since the positions were
 * read, and its end must last. Any error ends the session and so frees the lock.
 */
export const pauseIfStillIncomplete = async (
  client: pg.PoolClient,
  logIdentity: string,
  head: LogPosition | null,
  now: Instant,
): Promise<void> => {
  await client.query(`select pg_advisory_lock(${LOCK_KEY})`);
  await client.query(
    `insert into log_set_back (log_identity, head, seen_at) select $1, $2, $3
     where ${FURTHEST} > coalesce($2::numeric, -1) on conflict do nothing`,
    [logIdentity, head?.toString() ?? null, now],
  );
  await client.query(`select pg_advisory_unlock(${LOCK_KEY})`);
};

/**
 * Ends the pause, in one transaction. Positions behind the head no longer belong to this log: checkpoints move back to the head and the guards are
 * rebuilt, because otherwise the same finding would begin the pause again.
 */
export const resumeIssuing = (db: pg.Pool, logIdentity: string, head: LogPosition | null): Promise<void> =>
  inTransaction(db, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${LOCK_KEY})`);
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
