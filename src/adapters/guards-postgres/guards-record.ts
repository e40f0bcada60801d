import type pg from 'pg';
import type { LogPosition } from '../../ports/event-log.js';
import type { GuardsLook, GuardsPosition, GuardsRecord, GuardsSession } from '../../ports/guards-record.js';
import { fillGuards } from './missing-guards.js';

type PositionRow = { guards: string | null; operator_rows: string | null };

type LookRow = PositionRow & {
  furthest: string | null;
  was_set_back: boolean;
  leads: boolean;
};

/**
 * `pool` must commit synchronously: a guard's own commit does not wait for the disk, but it stands before the position's
 * in the same write-ahead log, so that it is there whenever the position is.
 */
export const guardsRecord = (
  pool: pg.Pool,
  { idempotencyTtlSeconds }: { idempotencyTtlSeconds: number },
): GuardsRecord => ({
  open: async (logIdentity): Promise<GuardsSession> => {
    const client = await pool.connect();
    const lost = new AbortController();
    const lose = (): void => {
      if (lost.signal.aborted) return;
      client.off('error', lose);
      client.off('end', lose);
      lost.abort();
      // The session's lock goes with its connection.
      client.release(true);
    };
    client.on('error', lose);
    client.once('end', lose);
    await client.query(LEASE).catch((error: unknown) => {
      lose();
      throw error;
    });
    const inSession = async <T>(work: () => Promise<T>): Promise<T> => {
      if (lost.signal.aborted) throw new GuardsSessionLost('the session of the guards is over');
      try {
        return await work();
      } catch (error) {
        lose();
        throw error;
      }
    };
    /** As this session saw or wrote it last. */
    let held: GuardsPosition = { guards: null, operatorRows: null };
    return {
      look: () =>
        inSession(async () => {
          const look = await lookAtGuards(client, logIdentity, LEADER_LOCK);
          held = { guards: look.guards, operatorRows: look.operatorRows };
          return look;
        }),
      move: (to) =>
        inSession(async () => {
          const isFirst = held.guards === null && held.operatorRows === null;
          const values = [logIdentity, toText(to.guards), toText(to.operatorRows)];
          const expected = [toText(held.guards), toText(held.operatorRows)];
          const { rows } = await client.query<PositionRow>(
            isFirst ? FIRST_MOVE : MOVE,
            isFirst ? values : [...values, ...expected],
          );
          const [row] = rows;
          if (row === undefined) throw new GuardsSessionLost('the position of the guards was moved by somebody else');
          held = { guards: toPosition(row.guards), operatorRows: toPosition(row.operator_rows) };
        }),
      fill: (keys, marks, now) => inSession(() => fillGuards(client, { keys, marks }, now, idempotencyTtlSeconds)),
      noteSetBack: (head, now) =>
        inSession(async () => {
          await client.query(NOTE_SET_BACK, [logIdentity, toText(head), now]);
        }),
      lost: lost.signal,
      close: async () => lose(),
    };
  },
});

/** Without a lock's name it asks for no leadership, as an onlooker should. */
export const lookAtGuards = async (
  db: Pick<pg.PoolClient, 'query'>,
  logIdentity: string,
  lock: string | null = null,
): Promise<GuardsLook> => {
  const { rows } = await db.query<LookRow>(LOOK, [logIdentity, lock]);
  const [row] = rows;
  if (row === undefined) throw new Error('a look at the guards came back without its row');
  return {
    guards: toPosition(row.guards),
    operatorRows: toPosition(row.operator_rows),
    furthest: toPosition(row.furthest),
    wasSetBack: row.was_set_back,
    leads: row.leads,
  };
};

/** Thrown for every question to a session that was lost or closed, or that finds another's hand in its position. */
export class GuardsSessionLost extends Error {
  override readonly name = 'GuardsSessionLost';
}

const LEADER_LOCK = 'guards';

/** A process that is frozen or cut off does not keep the others from leading for long; the keeper asks four times as often. */
const LEASE = `set idle_session_timeout = '20s'`;

const toPosition = (text: string | null): LogPosition | null => (text === null ? null : (BigInt(text) as LogPosition));
const toText = (position: LogPosition | null): string | null => position?.toString() ?? null;

/** A lock that this session has already is taken once more, which does no harm: all of them go with the connection. */
const LOOK = `select p.guards, p.operator_rows,
    (select max(position) from (
      select position::numeric from checkpoints where log_identity = $1
      union all select position from relay_checkpoint where log_identity = $1
      union all select guards from guards_position where log_identity = $1
    ) held (position)) as furthest,
    exists (select from log_set_back where log_identity = $1) as was_set_back,
    case when $2::text is null then false else pg_try_advisory_lock(hashtextextended($2, 0)) end as leads
  from (select 1) one left join guards_position p on p.log_identity = $1`;

/** Both compare and set: a position that was replaced between a look and a move must not be covered up by the move. */
const FIRST_MOVE = `insert into guards_position as p (log_identity, guards, operator_rows) values ($1, $2, $3)
  on conflict (log_identity) do update set guards = excluded.guards, operator_rows = excluded.operator_rows
  where p.guards is null and p.operator_rows is null
  returning guards, operator_rows`;

const MOVE = `update guards_position set
    guards = greatest(guards, $2::numeric), operator_rows = greatest(operator_rows, $3::numeric)
  where log_identity = $1 and guards is not distinct from $4::numeric and operator_rows is not distinct from $5::numeric
  returning guards, operator_rows`;

const NOTE_SET_BACK = `insert into log_set_back (log_identity, head, seen_at) values ($1, $2, $3)
  on conflict do nothing`;
