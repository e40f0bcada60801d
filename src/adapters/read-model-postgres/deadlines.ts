import { sql } from 'kysely';
import type { Deadline, DeadlineCursor, OpenWorkWanted, ReadModel } from '../../ports/read-model.js';
import type { ReadDatabase, ReadSchema } from './schema.js';

/** Sorts before every instant. */
const NEVER = '';

/** Instants are compared as text: one fixed format, by bytes. */
export const deadlineReads = (
  db: ReadDatabase,
): Pick<ReadModel, 'openWork' | 'verdictsDue' | 'expiredTestInvoices'> => ({
  openWork: async ({ quietSince, windows }, limit, after) => {
    const open = work(db).select(dueMs(windows).as('due_ms')).where('work_since', 'is not', null);
    const quiet =
      quietSince === null
        ? open
        : open.where((row) =>
            row.or([
              row.and([row('started', '=', false), row('work_since', '<=', quietSince.queued)]),
              row.and([row('started', '=', true), row('work_since', '<=', quietSince.started)]),
            ]),
          );
    const due = db.selectFrom(quiet.as('open')).selectAll();
    const behind =
      after === undefined
        ? due
        : due.where(({ eb, refTuple, tuple }) =>
            eb(refTuple('due_ms', 'stream'), '>', tuple(after.dueMs, after.stream)),
          );
    const rows = await behind.orderBy('due_ms').orderBy('stream').limit(limit).execute();
    return rows.flatMap(({ due_ms, ...row }) => toDeadline(row).map((open) => ({ ...open, dueMs: Number(due_ms) })));
  },
  verdictsDue: async ({ queued = NEVER, started = NEVER, cancel = NEVER }, limit, after) => {
    const due = work(db).where((row) =>
      row.or([
        row.and([row('work', '=', 'issue'), row('started', '=', false), row('began_at', '<=', queued)]),
        row.and([row('work', '=', 'issue'), row('started', '=', true), row('began_at', '<=', started)]),
        row.and([row('work', '=', 'cancel'), row('began_at', '<=', cancel)]),
      ]),
    );
    return (await longestQuietFirst(due, limit, after).execute()).flatMap(toDeadline);
  },
  expiredTestInvoices: async (createdBefore, limit) => {
    const rows = await db
      .selectFrom('read.deadlines')
      .select('stream')
      .where('retention_since', '<=', createdBefore)
      .orderBy('retention_since')
      .orderBy('stream')
      .limit(limit)
      .execute();
    return rows.map(({ stream }) => stream);
  },
});

/** When a verdict by time ends the work: its window counts from its beginning, and another one from its first attempt on. */
const dueMs = ({ queuedSeconds, processingSeconds, cancellationSeconds }: OpenWorkWanted['windows']) =>
  sql<number>`(extract(epoch from began_at::timestamptz) * 1000)::bigint + 1000 * case
    when work = 'cancel' then ${cancellationSeconds}::bigint
    when started then ${processingSeconds}::bigint
    else ${queuedSeconds}::bigint end`;

const work = (db: ReadDatabase) =>
  db.selectFrom('read.deadlines').select(['stream', 'mode', 'company_id', 'work', 'work_since', 'started']);

/** Rows that do not progress do not hide those behind them: whoever reads goes on after the last row of the page. */
const longestQuietFirst = (rows: ReturnType<typeof work>, limit: number, after: DeadlineCursor | undefined) => {
  const behind =
    after === undefined
      ? rows
      : rows.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('work_since', 'stream'), '>', tuple(after.since, after.stream)),
        );
  return behind.orderBy('work_since').orderBy('stream').limit(limit);
};

type WorkRow = Omit<ReadSchema['read.deadlines'], 'began_at' | 'retention_since'>;

const toDeadline = ({
  stream,
  mode,
  company_id,
  work: kind,
  work_since: since,
  started,
}: WorkRow): readonly Deadline[] =>
  kind === null || since === null ? [] : [{ stream, mode, companyId: company_id, kind, since, started }];
