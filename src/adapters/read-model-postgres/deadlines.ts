import type { Deadline, ReadModel } from '../../ports/read-model.js';
import type { ReadDatabase, ReadSchema } from './schema.js';

/** Instants are compared as text: one fixed format, by bytes. */
export const deadlineReads = (
  db: ReadDatabase,
): Pick<ReadModel, 'openWork' | 'verdictsDue' | 'expiredTestInvoices'> => ({
  openWork: async (olderThan, limit) => {
    const open = work(db).where('work', 'is not', null);
    const quiet =
      olderThan === null
        ? open
        : open.where((row) =>
            row.or([
              row.and([row('started', '=', false), row('work_since', '<=', olderThan.queued)]),
              row.and([row('started', '=', true), row('work_since', '<=', olderThan.started)]),
            ]),
          );
    return (await longestQuietFirst(quiet, limit).execute()).flatMap(toDeadline);
  },
  verdictsDue: async ({ queued, started, cancel }, limit) => {
    const due = work(db).where((row) =>
      row.or([
        row.and([row('work', '=', 'issue'), row('started', '=', false), row('began_at', '<=', queued)]),
        row.and([row('work', '=', 'issue'), row('started', '=', true), row('began_at', '<=', started)]),
        row.and([row('work', '=', 'cancel'), row('began_at', '<=', cancel)]),
      ]),
    );
    return (await longestQuietFirst(due, limit).execute()).flatMap(toDeadline);
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

const work = (db: ReadDatabase) =>
  db.selectFrom('read.deadlines').select(['stream', 'mode', 'company_id', 'work', 'work_since', 'started']);

/** Rows that are not due yet, because a later answer prolonged them, do not hide those that are. */
const longestQuietFirst = (rows: ReturnType<typeof work>, limit: number) =>
  rows.orderBy('work_since').orderBy('stream').limit(limit);

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
