import type pg from 'pg';
import type { StreamName } from '../../domain/shared/ids.js';
import type { ParkedTap } from '../../ports/work-queue.js';

/** What the in-process queue has parked, as the operator's commands see it (migration 22). */
export type ParkedTaps = {
  list(): Promise<readonly ParkedTap[]>;
  /** Makes the rows those of the queue; a retry that was asked for stays asked for. */
  replace(taps: readonly ParkedTap[]): Promise<void>;
  /** False when nothing of this stream is parked. */
  askRetry(stream: StreamName): Promise<boolean>;
  retriesAsked(): Promise<readonly StreamName[]>;
};

type Row = { stream: string; kind: ParkedTap['kind']; message_id: string; reason: string; parked_at: string };

export const createParkedTaps = (db: pg.Pool): ParkedTaps => ({
  list: async () => {
    const { rows } = await db.query<Row>(
      'select stream, kind, message_id, reason, parked_at from parked_taps order by parked_at, stream',
    );
    return rows.map(({ stream, kind, message_id: messageId, reason, parked_at: parkedAt }) => ({
      ...{ stream, kind, messageId, reason, parkedAt },
    }));
  },
  replace: async (taps) => {
    await db.query(REPLACE, [
      taps.map(({ stream }) => stream),
      taps.map(({ kind }) => kind),
      taps.map(({ messageId }) => messageId),
      taps.map(({ reason }) => reason),
      taps.map(({ parkedAt }) => parkedAt),
    ]);
  },
  askRetry: async (stream) =>
    ((await db.query('update parked_taps set retry_asked = true where stream = $1', [stream])).rowCount ?? 0) > 0,
  retriesAsked: async () =>
    (await db.query<{ stream: string }>('select distinct stream from parked_taps where retry_asked')).rows.map(
      ({ stream }) => stream,
    ),
});

/** A row that is parked anew, at another time, was tried meanwhile: nobody has asked for its next try. */
const REPLACE = `with parked as (
    select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      p (stream, kind, message_id, reason, parked_at)
  ), gone as (
    delete from parked_taps t where not exists (select from parked p where p.stream = t.stream and p.kind = t.kind)
  )
  insert into parked_taps as t (stream, kind, message_id, reason, parked_at) select * from parked
  on conflict (stream, kind) do update set message_id = excluded.message_id, reason = excluded.reason,
    parked_at = excluded.parked_at, retry_asked = t.retry_asked and t.parked_at = excluded.parked_at`;
