import type pg from 'pg';
import type { Mode } from '../../domain/shared/ids.js';
import type { Deadline, ReadModel } from '../../ports/read-model.js';

type DeadlineRow = {
  stream: string;
  mode: Mode;
  company_id: string;
  work: 'issue' | 'cancel';
  work_since: string;
  started: boolean;
};

/** Instants are compared as text: one fixed format, by bytes. */
export const deadlineReads = (db: pg.Pool): Pick<ReadModel, 'openWork' | 'verdictsDue' | 'expiredTestInvoices'> => ({
  openWork: async (olderThan, limit) => {
    const values = [olderThan?.queued ?? null, olderThan?.started ?? null, limit];
    const { rows } = await db.query<DeadlineRow>(OPEN_WORK, values);
    return rows.map(toDeadline);
  },
  verdictsDue: async ({ queued, started, cancel }, limit) => {
    const { rows } = await db.query<DeadlineRow>(VERDICTS_DUE, [queued, started, cancel, limit]);
    return rows.map(toDeadline);
  },
  expiredTestInvoices: async (createdBefore, limit) => {
    const { rows } = await db.query<{ stream: string }>(EXPIRED, [createdBefore, limit]);
    return rows.map(({ stream }) => stream);
  },
});

const COLUMNS = 'stream, mode, company_id, work, work_since, started';

const OPEN_WORK = `select ${COLUMNS} from read.deadlines
  where work is not null
    and ($1::text is null or (not started and work_since <= $1) or (started and work_since <= $2::text))
  order by work_since, stream limit $3::bigint`;

/** Longest quiet first: rows that are not due yet, because a later answer prolonged them, do not hide those that are. */
const VERDICTS_DUE = `select ${COLUMNS} from read.deadlines
  where (work = 'issue' and not started and began_at <= $1)
    or (work = 'issue' and started and began_at <= $2)
    or (work = 'cancel' and began_at <= $3)
  order by work_since, stream limit $4::bigint`;

const EXPIRED = `select stream from read.deadlines where retention_since <= $1
  order by retention_since, stream limit $2::bigint`;

const toDeadline = ({ stream, mode, company_id, work, work_since, started }: DeadlineRow): Deadline => ({
  stream,
  mode,
  companyId: company_id,
  kind: work,
  since: work_since,
  started,
});
