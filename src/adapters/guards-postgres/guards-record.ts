import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addSeconds, type Instant } from '../../domain/common/time.js';
import type { LogPosition } from '../../ports/event-log.js';
import type {
  AcceptedKey,
  AcceptedMark,
  GuardCheckpoint,
  GuardsAnswer,
  GuardsPosition,
  GuardsSession,
} from '../../ports/guard-checkpoint.js';
import { columnsOf } from '../sql/arrays.js';
import { holdSession } from '../sql/leader-lock.js';
import { FURTHEST, pauseIfStillIncomplete } from './incomplete-log.js';

type PositionRow = { guards: string | null; operator_rows: string | null };

type LookRow = PositionRow & {
  furthest: string | null;
  was_set_back: boolean;
  leads: boolean;
};

/**
 * `pool` must commit synchronously. A guard's own commit does not wait for the disk but precedes the position's commit in the write-ahead log, so
 * that a stored position implies stored guards (ADR 14).
 */
export const guardCheckpoint = (
  pool: pg.Pool,
  { idempotencySeconds }: { idempotencySeconds: number },
): GuardCheckpoint => ({
  open: async (logIdentity): Promise<GuardsSession> => {
    const { run, lost, lose } = await holdSession(pool);
    await run((client) => client.query(LEASE));
    const inSession = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
      if (lost.aborted) throw new GuardsSessionLost('the session of the guards is over');
      return await run(work);
    };
    /** The position that this session last read or wrote. */
    let known: GuardsPosition = { guards: null, operatorRows: null };
    /** What the last look said; a session that has not looked does not know. */
    let wasPaused = true;
    return {
      look: () =>
        inSession(async (client) => {
          const look = await readGuardReadiness(client, logIdentity, LEADER_LOCK);
          known = look;
          wasPaused = look.logWasIncomplete;
          return look;
        }),
      move: (to) =>
        inSession(async (client) => {
          const isFirst = known.guards === null && known.operatorRows === null;
          const values = [logIdentity, toText(to.guards), toText(to.operatorRows)];
          const expected = [toText(known.guards), toText(known.operatorRows)];
          const { rows } = await client.query<PositionRow>(
            isFirst ? FIRST_MOVE : MOVE,
            isFirst ? values : [...values, ...expected],
          );
          const [row] = rows;
          if (row === undefined) throw new GuardsSessionLost('another process moved the position of the guards');
          known = { guards: toPosition(row.guards), operatorRows: toPosition(row.operator_rows) };
        }),
      fill: (keys, marks, now) =>
        inSession((client) => restoreMissingGuards(client, { keys, marks }, now, idempotencySeconds)),
      noteIncompleteLog: (head, now, evidence) =>
        inSession((client) => pauseIfStillIncomplete(client, logIdentity, { head, evidence, wasPaused }, now)),
      lost,
      close: async () => lose(),
    };
  },
});

/** Reads what the guards hold of a log; tries to lead only when `lock` is given. */
export const readGuardReadiness = async (
  db: Pick<pg.PoolClient, 'query'>,
  logIdentity: string,
  lock: string | null = null,
): Promise<GuardsAnswer> => {
  const { rows } = await db.query<LookRow>(LOOK, [logIdentity, lock]);
  const [row] = rows;
  if (row === undefined) throw new Error('the readiness of the guards was read without its row');
  return {
    guards: toPosition(row.guards),
    operatorRows: toPosition(row.operator_rows),
    furthest: toPosition(row.furthest),
    logWasIncomplete: row.was_set_back,
    leads: row.leads,
  };
};

/** Thrown by every call of a session that was lost or closed, or whose position another process has changed. */
class GuardsSessionLost extends Error {
  override readonly name = 'GuardsSessionLost';
}

const LEADER_LOCK = 'guards';

/** A frozen or disconnected process stops leading after this time; the worker that keeps the guards asks four times as often. */
const LEASE = `set idle_session_timeout = '20s'`;

const toPosition = (text: string | null): LogPosition | null => (text === null ? null : (BigInt(text) as LogPosition));
const toText = (position: LogPosition | null): string | null => position?.toString() ?? null;

/** A session may take its lock several times, which is harmless: closing the connection releases all of them. */
const LOOK = `select p.guards, p.operator_rows,
    ${FURTHEST} as furthest,
    exists (select from log_set_back where log_identity = $1) as was_set_back,
    case when $2::text is null then false else pg_try_advisory_lock(hashtextextended($2, 0)) end as leads
  from (select 1) one left join guards_position p on p.log_identity = $1`;

/** Both statements compare and set, because a move must not hide that the position was replaced since the last look. */
const FIRST_MOVE = `insert into guards_position as p (log_identity, guards, operator_rows) values ($1, $2, $3)
  on conflict (log_identity) do update set guards = excluded.guards, operator_rows = excluded.operator_rows
  where p.guards is null and p.operator_rows is null
  returning guards, operator_rows`;

const MOVE = `update guards_position set
    guards = greatest(guards, $2::numeric), operator_rows = greatest(operator_rows, $3::numeric)
  where log_identity = $1 and guards is not distinct from $4::numeric and operator_rows is not distinct from $5::numeric
  returning guards, operator_rows`;

/** Writes missing guards with one statement per table, and `leaseToken` into the rows of keys. Returns how many rows were written. */
export const restoreMissingGuards = async (
  client: Pick<pg.PoolClient, 'query'>,
  { keys, marks }: { keys: readonly AcceptedKey[]; marks: readonly AcceptedMark[] },
  now: Instant,
  idempotencySeconds: number,
  leaseToken: string = randomUUID(),
): Promise<number> => {
  let written = 0;
  if (keys.length > 0) {
    const over = addSeconds(now, -idempotencySeconds);
    const { rowCount } = await client.query(RESTORE_KEYS, [...columnsOf(keys, KEY_COLUMNS), leaseToken, now, over]);
    written += rowCount ?? 0;
  }
  if (marks.length > 0) {
    const { rowCount } = await client.query(RESTORE_MARKS, [...columnsOf(marks, ['fingerprint', 'stream', 'at'])]);
    written += rowCount ?? 0;
  }
  return written;
};

const KEY_COLUMNS = ['mode', 'companyId', 'keyHash', 'bodyHash', 'commandId', 'acceptedAt', 'invoiceId'] as const;

/**
 * A row that is filled in has no lease holder, because its acceptance is over. An existing row stays if it is finished and not expired ($10), if a
 * process works on it now ($9) for another command, or if both are expired and the acceptance is the older.
 */
const RESTORE_KEYS = `insert into idempotency_keys as k
    (mode, company_id, key_hash, body_hash, lease_token, leased_until, command_id, accepted_at, invoice_id)
  select distinct on (mode, company_id, key_hash)
    mode, company_id, key_hash, body_hash, $8::text, accepted_at, command_id, accepted_at, invoice_id
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    a (mode, company_id, key_hash, body_hash, command_id, accepted_at, invoice_id)
  order by mode, company_id, key_hash, accepted_at desc
  on conflict (mode, company_id, key_hash) do update set
    body_hash = excluded.body_hash, lease_token = excluded.lease_token, leased_until = excluded.leased_until,
    command_id = excluded.command_id, accepted_at = excluded.accepted_at, invoice_id = excluded.invoice_id
  where (k.invoice_id is not null and k.accepted_at <= $10 and k.accepted_at < excluded.accepted_at)
    or (k.invoice_id is null and k.command_id = excluded.command_id)
    or (k.invoice_id is null and k.leased_until <= $9
      and (excluded.accepted_at > $10 or excluded.accepted_at >= k.accepted_at))`;

/** The youngest acceptance of a fingerprint counts. */
const RESTORE_MARKS = `insert into duplicate_marks as m (fingerprint, stream, at, placed_by)
  select distinct on (fingerprint) fingerprint, stream, at, gen_random_uuid()
  from unnest($1::text[], $2::text[], $3::text[]) a (fingerprint, stream, at)
  order by fingerprint, at desc
  on conflict (fingerprint) do update set stream = excluded.stream, at = excluded.at, placed_by = excluded.placed_by
  where m.at < excluded.at`;
