import type pg from 'pg';
import { addSeconds, DAY_SECONDS, type Instant } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import type { LookupProgressStore, PendingCuts, RelayCheckpoint } from '../../ports/work-progress.js';
import { duplicateWindow } from './duplicate-window.js';
import { FREED_KEPT_SECONDS, FREED_OVER_SECONDS, idempotencyKeys } from './idempotency-keys.js';
import type { LogApart } from './unless-paused.js';

type GuardOptions = {
  /** How long a key is kept, from its acceptance instant. */
  idempotencySeconds: number;
  /** How long one process may work on a claim before another takes it over. */
  leaseSeconds: number;
} & LogApart;

export type PostgresGuards = ReturnType<typeof createPostgresGuards>;

/** The guards in the database: one statement per decision, so that a row's lock decides every race. Needs the migration `guards`. */
export const createPostgresGuards = (db: pg.Pool, options: GuardOptions) => ({
  idempotency: idempotencyKeys(db, options),
  duplicates: duplicateWindow(db, options),
  lookups: lookupProgress(db),
  cuts: pendingCuts(db),
  relay: relayCheckpoint(db),
});

/** The configuration takes no longer duplicate window, because the marks of equal requests are deleted soon after. */
export const LONGEST_DUPLICATE_WINDOW_SECONDS = DAY_SECONDS;

/** A mark of this age is outside of any duplicate window, also for a request that began before the mark left its window. */
const MARKS_KEPT_SECONDS = LONGEST_DUPLICATE_WINDOW_SECONDS + 2 * FREED_KEPT_SECONDS;

/** No protocol is open for that long; progress of look-ups that is missing costs look-ups, and nothing else. */
const PROGRESS_KEPT_SECONDS = 30 * DAY_SECONDS;

/** Deletes guards that decide nothing any more: expired keys without a lease, old marks, old progress of look-ups. Returns the number of rows. */
export const pruneGuards = async (
  db: pg.Pool,
  { idempotencySeconds }: Pick<GuardOptions, 'idempotencySeconds'>,
  now: Instant,
): Promise<number> => {
  const olderThan = (seconds: number): Instant => addSeconds(now, -idempotencySeconds - seconds);
  // The row of a released key is over at once, and says by how much since when.
  const released = olderThan(FREED_OVER_SECONDS + FREED_KEPT_SECONDS);
  const keys = await db.query(PRUNE_KEYS, [olderThan(2 * FREED_KEPT_SECONDS), now, released]);
  const marks = await db.query(PRUNE_MARKS, [addSeconds(now, -MARKS_KEPT_SECONDS)]);
  const progress = await db.query(PRUNE_PROGRESS, [addSeconds(now, -PROGRESS_KEPT_SECONDS)]);
  return (keys.rowCount ?? 0) + (marks.rowCount ?? 0) + (progress.rowCount ?? 0);
};

// Both skip rows that are locked. Acceptance locks several rows in one order, and a pruning that waited for one of them while it held another could
// deadlock with it. A row in use is not old for long, and the next pruning sees it again.
const PRUNE_KEYS = `with old as (
    select mode, company_id, key_hash from idempotency_keys
    where accepted_at <= $1 and leased_until <= $2 and (lease_token <> '' or accepted_at <= $3)
    for update skip locked
  )
  delete from idempotency_keys k using old
  where k.mode = old.mode and k.company_id = old.company_id and k.key_hash = old.key_hash`;

const PRUNE_MARKS = `with old as (select fingerprint from duplicate_marks where at <= $1 for update skip locked)
  delete from duplicate_marks m using old where m.fingerprint = old.fingerprint`;

const PRUNE_PROGRESS = `with old as (select stream, work from lookup_memos where last_asked_at <= $1 for update skip locked)
  delete from lookup_memos m using old where m.stream = old.stream and m.work = old.work`;

const pendingCuts = (db: pg.Pool): PendingCuts => ({
  add: async (stream) => {
    await db.query('insert into pending_cuts (stream) values ($1) on conflict do nothing', [stream]);
  },
  done: async (stream) => {
    await db.query('delete from pending_cuts where stream = $1', [stream]);
  },
  list: async (limit) => {
    const { rows } = await db.query<{ stream: string }>('select stream from pending_cuts order by stream limit $1', [
      limit,
    ]);
    return rows.map(({ stream }) => stream);
  },
});

const relayCheckpoint = (db: pg.Pool): RelayCheckpoint => ({
  read: async (logIdentity) => {
    const { rows } = await db.query<{ position: string }>(
      'select position from relay_checkpoint where log_identity = $1',
      [logIdentity],
    );
    return rows[0] === undefined ? null : (BigInt(rows[0].position) as LogPosition);
  },
  // A log of this database that ends before the position has lost what was relayed: the checkpoint would stay ahead of it.
  move: async (logIdentity, position) => {
    await db.query(
      `insert into relay_checkpoint as c (log_identity, position)
       select $1::text, $2::numeric
       where not exists (select from event_log_head h where h.identity::text = $1::text and h.position < $2::numeric)
       on conflict (log_identity) do update set position = greatest(c.position, excluded.position)`,
      [logIdentity, position.toString()],
    );
  },
});

type ProgressRow = { asked: number; lastAskedAt: Instant; firstAbsentAt: Instant | null };

const lookupProgress = (db: pg.Pool): LookupProgressStore => ({
  get: async (stream, work) => {
    const { rows } = await db.query<ProgressRow>({ name: 'memo-get', text: GET, values: [stream, work] });
    if (rows[0] === undefined) return undefined;
    const { firstAbsentAt, ...progress } = rows[0];
    return firstAbsentAt === null ? progress : { ...progress, firstAbsentAt };
  },
  put: async (stream, work, { asked, lastAskedAt, firstAbsentAt }) => {
    const values = [stream, work, asked, lastAskedAt, firstAbsentAt ?? null];
    await db.query({ name: 'memo-put', text: PUT, values });
  },
  forget: async (stream) => {
    await db.query({ name: 'memo-forget', text: 'delete from lookup_memos where stream = $1', values: [stream] });
  },
});

const GET = `select asked, last_asked_at as "lastAskedAt", first_absent_at as "firstAbsentAt"
  from lookup_memos where stream = $1 and work = $2`;

const PUT = `insert into lookup_memos (stream, work, asked, last_asked_at, first_absent_at) values ($1, $2, $3, $4, $5)
  on conflict (stream, work) do update set asked = excluded.asked, last_asked_at = excluded.last_asked_at,
    first_absent_at = excluded.first_absent_at`;
