import type pg from 'pg';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type {
  DuplicateWindow,
  IdempotencyKeys,
  LookupMemos,
  PendingCuts,
  RelayCheckpoint,
} from '../../ports/guards.js';
import { duplicateWindow } from './duplicate-window.js';
import { idempotencyKeys } from './idempotency-keys.js';
import { lookupMemos } from './lookup-memos.js';
import { pendingCuts } from './pending-cuts.js';
import { relayCheckpoint } from './relay-checkpoint.js';

export type GuardOptions = {
  /** How long a key is kept, from its acceptance instant. */
  idempotencyTtlSeconds: number;
  /** How long one process may work on a claim before another takes it over. */
  leaseSeconds: number;
};

export type PostgresGuards = {
  idempotency: IdempotencyKeys;
  duplicates: DuplicateWindow;
  lookups: LookupMemos;
  cuts: PendingCuts;
  relay: RelayCheckpoint;
};

/** The guards of R: one statement per decision, so that a row's lock decides every race. Needs the migration `guards`. */
export const createPostgresGuards = (db: pg.Pool, options: GuardOptions): PostgresGuards => ({
  idempotency: idempotencyKeys(db, options),
  duplicates: duplicateWindow(db),
  lookups: lookupMemos(db),
  cuts: pendingCuts(db),
  relay: relayCheckpoint(db),
});

/** A mark this old is outside of any window that the configuration may name. */
const MARKS_KEPT_SECONDS = 86_400;

/** Deletes what has no say any more: keys past their time that nobody works on, and old marks. Returns how many rows went. */
export const pruneGuards = async (
  db: pg.Pool,
  { idempotencyTtlSeconds }: Pick<GuardOptions, 'idempotencyTtlSeconds'>,
  now: Instant,
): Promise<number> => {
  const keys = await db.query(`delete from idempotency_keys where accepted_at <= $1 and leased_until <= $2`, [
    addSeconds(now, -idempotencyTtlSeconds),
    now,
  ]);
  const marks = await db.query(`delete from duplicate_marks where at <= $1`, [addSeconds(now, -MARKS_KEPT_SECONDS)]);
  return (keys.rowCount ?? 0) + (marks.rowCount ?? 0);
};
