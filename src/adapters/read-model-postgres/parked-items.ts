import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import type { ParkedWork } from '../../ports/work-queue.js';
import { columnsOf } from '../sql/arrays.js';

export type ParkedItems = ReturnType<typeof createParkedItems>;

/** The parked work items of the in-process queue, for the operator's commands (migration 22). */
export const createParkedItems = (db: pg.Pool) => ({
  list: async (): Promise<readonly ParkedWork[]> => {
    const { rows } = await db.query<ParkedWork>(
      `select stream, kind, message_id as "messageId", reason, parked_at as "parkedAt"
       from parked_taps order by parked_at, stream`,
    );
    return rows;
  },
  /** Replaces the rows by those of the queue, and keeps each retry that an operator asked for. */
  replace: async (items: readonly ParkedWork[]): Promise<void> => {
    await db.query(REPLACE, [...columnsOf(items, ['stream', 'kind', 'messageId', 'reason', 'parkedAt'])]);
  },
  /** False when nothing of this stream is parked. */
  askRetry: async (stream: StreamName): Promise<boolean> =>
    ((await db.query('update parked_taps set retry_asked = true where stream = $1', [stream])).rowCount ?? 0) > 0,
  retriesAsked: async (): Promise<readonly StreamName[]> =>
    (await db.query<{ stream: string }>('select distinct stream from parked_taps where retry_asked')).rows.map(
      ({ stream }) => stream,
    ),
});

/** A row whose `parked_at` changed was retried and parked again, which ends the request for a retry. */
const REPLACE = `with parked as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      p (stream, kind, message_id, reason, parked_at)
  ), gone as (
    delete from parked_taps t where not exists (select from parked p where p.stream = t.stream and p.kind = t.kind)
  )
  insert into parked_taps as t (stream, kind, message_id, reason, parked_at) select * from parked
  on conflict (stream, kind) do update set message_id = excluded.message_id, reason = excluded.reason,
    parked_at = excluded.parked_at, retry_asked = t.retry_asked and t.parked_at = excluded.parked_at`;
