import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import { inTransaction } from '../sql/transaction.js';

/** SQL: the positions in the log of identity `$1` that any row was made from, or null. */
const HELD = `(
      select position::numeric from checkpoints where log_identity = $1
      union all select position from relay_checkpoint where log_identity = $1
      union all select guards from guards_position where log_identity = $1
    ) held (position)`;

/** SQL: the furthest of these positions. */
export const FURTHEST = `(select max(position) from ${HELD})`;

/** The positions in this log that any row was made from. */
export const heldPositions = async (
  db: Pick<pg.Pool, 'query'>,
  logIdentity: string,
): Promise<readonly LogPosition[]> => {
  const { rows } = await db.query<{ position: string }>(
    `select distinct position from ${HELD} where position is not null`,
    [logIdentity],
  );
  return rows.map(({ position }) => BigInt(position) as LogPosition);
};

/** The log that the guards were made from, when none were made from this one; undefined identity: a log that has none. */
export const guardsOfAnotherLog = async (
  db: Pick<pg.Pool, 'query'>,
  logIdentity: string | undefined,
): Promise<string | undefined> => {
  const { rows } = await db.query<{ other: string }>(
    `select log_identity as other from guards_position where guards is not null and not exists (
       select from guards_position where log_identity = $1 union all select from relay_checkpoint where log_identity = $1)
     limit 1`,
    [logIdentity ?? null],
  );
  return rows[0]?.other;
};

/** The end of a pause and a finding that begins one exclude each other. */
const LOCK_KEY = `hashtextextended('log recovery', 0)`;

type IssuingPause = {
  /** Of the log when the pause began; null for an empty log. */
  head: LogPosition | null;
  /** When the log was last seen to have lost events, or to be restored. */
  seenAt: Instant;
  /** Differs after each record of the pause, also where two processes record it in one millisecond. */
  record: string;
};

type PauseRow = { head: string | null; seen_at: Instant; record: string } | { seen_at: null };

/** `end`: of the log in this database, null for an empty log. `server`: the one that answers, by the moment of its start; after a failover another. */
type PauseAndServer = { pause: IssuingPause | undefined; end: LogPosition | null; server: string };

/** The pause of issuing over this log, undefined when issuing is not paused, with what a look for it asks for besides. */
export const readPauseAndServer = async (db: Pick<pg.Pool, 'query'>, logIdentity: string): Promise<PauseAndServer> => {
  const { rows } = await db.query<PauseRow & { end: string | null; server: string }>(
    `select extract(epoch from pg_postmaster_start_time())::text as server, head, seen_at, p.xmin::text as record,
       (select nullif(position, 0) from event_log_head) as end
     from (values (1)) one left join log_set_back p on log_identity = $1`,
    [logIdentity],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the server was asked for without its row');
  const { server } = row;
  const end = toPosition(row.end);
  if (row.seen_at === null) return { pause: undefined, end, server };
  const { head, seen_at: seenAt, record } = row;
  return { pause: { head: toPosition(head), seenAt, record }, end, server };
};

const toPosition = (text: string | null): LogPosition | null => (text === null ? null : (BigInt(text) as LogPosition));

/** The pause of issuing over this log; undefined when issuing is not paused. */
export const readPause = async (db: Pick<pg.Pool, 'query'>, logIdentity: string): Promise<IssuingPause | undefined> =>
  (await readPauseAndServer(db, logIdentity)).pause;

/** Whether issuing over this log is paused until log recovery has finished (ADR 22). */
export const isIssuingPaused = async (db: Pick<pg.Pool, 'query'>, logIdentity: string): Promise<boolean> =>
  (await readPause(db, logIdentity)) !== undefined;

/** Whether the schema has the table of pauses; that of an old backup has not. */
export const knowsPauses = async (db: Pick<pg.Pool | pg.PoolClient, 'query'>): Promise<boolean> => {
  const { rows } = await db.query<{ known: boolean }>(`select to_regclass('log_set_back') is not null as known`);
  return rows[0]?.known === true;
};

/** SQL: the database's clock, as the text of an instant. */
const DATABASE_NOW = `to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export const databaseNow = async (db: Pick<pg.Pool, 'query'>): Promise<Instant> => {
  const { rows } = await db.query<{ now: Instant }>(`select ${DATABASE_NOW} as now`);
  const [row] = rows;
  if (row === undefined) throw new Error('the clock of the database was read without its row');
  return row.now;
};

/** SQL: the later of the recording clock and the database's; texts of instants compare as the instants do. A clock that is behind shortens no wait. */
const laterNow = (now: string): string => `greatest(${now}, ${DATABASE_NOW})`;

/**
 * Records that the log is incomplete: no process issues over it, also after restarts, until log recovery has finished (ADR 22). A pause that is there
 * already keeps its head and gets the new instant: a backup that was made during a pause brings that pause back, and its log lacks later sends. The
 * instant moves back only where it lies ahead of both clocks: a clock that was ahead recorded it.
 */
export const pauseIssuing = async (
  db: Pick<pg.Pool | pg.PoolClient, 'query'>,
  logIdentity: string,
  head: LogPosition | null,
  now: Instant,
): Promise<void> => {
  await db.query(
    `insert into log_set_back (log_identity, head, seen_at) values ($1, $2, ${laterNow('$3')})
     on conflict (log_identity) do update set seen_at = excluded.seen_at`,
    [logIdentity, head?.toString() ?? null, now],
  );
};

/**
 * Pauses issuing as `pauseIssuing` does over the log of this database, with the head that the log has when the pause is recorded. An event that a
 * failover may keep while it loses the record is thus never behind that head: it would be taken for an event of log recovery (ADR 22).
 */
export const pauseIssuingAtEnd = (db: pg.Pool, logIdentity: string, now: Instant): Promise<void> =>
  inTransaction(db, async (client) => {
    await client.query(LOCK_END_OF_LOG);
    await client.query(
      `insert into log_set_back (log_identity, head, seen_at)
       values ($1, (select nullif(position, 0) from event_log_head where identity::text = $1), ${laterNow('$2')})
       on conflict (log_identity) do update set seen_at = excluded.seen_at`,
      [logIdentity, now],
    );
  });

/** An append that is refused, because no stream has an empty name: the role of the service may lock the end of the log in no other way. */
const LOCK_END_OF_LOG = `select from event_log_append(array[''], array[0], array[1],
  array[''], array[1], array[gen_random_uuid()], array[''], array[''], array[''])`;

/**
 * Pauses issuing as `pauseIssuing` does, where only positions showed the loss if rows are still made from more than this log holds: a log recovery
 * may have ended since the positions were read, and its end must last. Any error ends the session and so frees the lock.
 *
 * `wasPaused`: false when the caller had looked and found no pause. A pause that is there by now was then recorded for the same loss, and its record
 * stays, because another one would void a comparison that has begun. It does not stay where the caller saw the loss later by its own clock, so that a
 * lost send may have begun later, or where the log has lost more.
 */
export const pauseIfStillIncomplete = async (
  client: pg.PoolClient,
  logIdentity: string,
  { head, evidence, wasPaused }: { head: LogPosition | null; evidence: 'positions' | 'events'; wasPaused: boolean },
  now: Instant,
): Promise<void> => {
  await client.query(`select pg_advisory_lock(${LOCK_KEY})`);
  await client.query(
    `insert into log_set_back (log_identity, head, seen_at) select $1, $2, ${laterNow('$3')}
     where $4 or ${FURTHEST} > coalesce($2::numeric, -1)
     on conflict (log_identity) do update set seen_at = greatest(log_set_back.seen_at, excluded.seen_at)
     where $5 or $3 > log_set_back.seen_at
       or coalesce(excluded.head, -1) < coalesce(log_set_back.head, -1)`,
    [logIdentity, head?.toString() ?? null, now, evidence === 'events', wasPaused],
  );
  await client.query(`select pg_advisory_unlock(${LOCK_KEY})`);
};

/**
 * How the guards of a database come to be those of its log: read from it again, or stored in one database with it. Stored guards are of the same moment
 * as the log, and nothing would fill them in again.
 */
type GuardsOfLog = 'made from the log' | 'stored with the log';

/**
 * Ends the pause, in one transaction. False, with nothing changed: the pause was recorded again since it was read, and what ended it knows nothing of
 * that later loss. Errors of PostgreSQL pass through, and then the pause stays.
 */
export const resumeIssuing = (
  db: pg.Pool,
  logIdentity: string,
  { seenAt, record }: Pick<IssuingPause, 'seenAt' | 'record'>,
  { head, guards }: { head: LogPosition | null; guards: GuardsOfLog },
): Promise<boolean> =>
  inTransaction(db, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${LOCK_KEY})`);
    const { rowCount } = await client.query(
      'delete from log_set_back where log_identity = $1 and seen_at = $2 and xmin::text = $3',
      [logIdentity, seenAt, record],
    );
    if (rowCount === 0) return false;
    const values = [logIdentity, (head ?? 0n).toString()];
    // A rollback to another generation, or its continued build, would show rows of lost events. Its table stays until the next build takes its number.
    await client.query(
      `delete from checkpoints where log_identity = $1 and position::numeric > $2::numeric and role <> 'live'`,
      values,
    );
    // A checkpoint past the head would begin the pause again.
    await client.query(
      'update checkpoints set position = $2::text where log_identity = $1 and position::numeric > $2::numeric',
      values,
    );
    // Appends during the pause may have passed a position of the lost end, from which no read can begin. The sweeper queues the work before the head.
    await client.query(
      'update relay_checkpoint set position = $2::numeric where log_identity = $1 and (position > $2::numeric or $3)',
      [...values, guards === 'made from the log'],
    );
    await client.query('delete from guards_position where log_identity = $1', [logIdentity]);
    if (guards === 'made from the log') {
      await client.query(DELETE_FINISHED_KEYS);
      // The log may have lost what the queues of the ADN led to: they are read from their beginning.
      await client.query('delete from distribution_progress');
    }
    return true;
  });

/**
 * A finished key of an acceptance that the log has lost would answer a repeated request with an invoice that is not there, and nothing would correct it.
 * So all finished keys go, with the position of the guards: every process refuses requests until the log has filled the keys in again (ADR 14). A key
 * without an invoice stays, because its acceptance may be under way. A mark of the duplicate window stays too: where the log does not have its invoice,
 * another request takes the mark over, or is refused until the window ends (ADR 7).
 *
 * Locks rows in the order of the claims, so that the two cannot deadlock.
 */
const DELETE_FINISHED_KEYS = `with finished as (
    select mode, company_id, key_hash from idempotency_keys where invoice_id is not null
    order by mode, company_id, key_hash for update
  )
  delete from idempotency_keys k using finished f
  where k.mode = f.mode and k.company_id = f.company_id and k.key_hash = f.key_hash`;
