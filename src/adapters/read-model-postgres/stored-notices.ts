import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import { DAY_SECONDS, type Instant } from '../../domain/common/time.js';

/** Counts the notices of one kind and one reason; `lastStream` is the invoice of the last one. */
export type StoredNotice = {
  notice: string;
  detail: string;
  seen: number;
  lastAt: Instant;
  lastStream: StreamName;
};

/** Seconds for which a notice is reported after its last occurrence; notices need no manual reset. */
export const NOTICE_SECONDS = 7 * DAY_SECONDS;

/** The notice of a difference that the reconciliation found; its detail is mode and kind. */
export const DIFFERENCE = 'reconciliation_difference';

export type StoredNotices = ReturnType<typeof createStoredNotices>;

/**
 * Notices about what the authorizer holds: documents that could not be relied on, and differences from our outcomes (migration 40). The table and the
 * metrics keep the older word "alarm".
 */
export const createStoredNotices = (db: pg.Pool) => ({
  /** Counts the notice; with `unlessSince` only where none of its kind and reason was counted at that instant or later. True when it was counted. */
  raise: async (
    notice: string,
    detail: string,
    stream: StreamName,
    at: Instant,
    unlessSince?: Instant,
  ): Promise<boolean> => {
    const { rowCount } = await db.query(
      `insert into document_alarms as a (notice, detail, seen, first_at, last_at, last_stream) values ($1, $2, 1, $3, $3, $4)
       on conflict (notice, detail) do update
         set seen = a.seen + 1, last_at = excluded.last_at, last_stream = excluded.last_stream
         where $5::text is null or a.last_at < $5`,
      [notice, detail, at, stream, unlessSince ?? null],
    );
    return rowCount === 1;
  },
  /** All notices, the latest first. */
  all: async (): Promise<readonly StoredNotice[]> => {
    // The driver gives a bigint as text and a float as a number.
    const { rows } = await db.query<StoredNotice>(
      `select notice, detail, seen::float, last_at as "lastAt", last_stream as "lastStream"
       from document_alarms order by last_at desc, notice, detail`,
    );
    return rows;
  },
});
