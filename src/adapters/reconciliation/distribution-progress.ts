import type pg from 'pg';
import type { CompanyId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { DistributionProgress, DistributionProgressStore } from '../../ports/distribution.js';

/** How far the queues of the ADN were read. Needs the migration `distribution` and the projection `companies`. */
export const createDistributionProgressStore = (db: pg.Pool): DistributionProgressStore => ({
  all: async (mode) => {
    const { rows } = await db.query<{ companyId: CompanyId; progress: string }>(
      'select company_id as "companyId", progress from distribution_progress where mode = $1',
      [mode],
    );
    return new Map(rows.map(({ companyId, progress }) => [companyId, JSON.parse(progress) as DistributionProgress]));
  },
  due: async (mode, now, furthest) => {
    const { rows } = await db.query<{ companyId: CompanyId; progress: string | null }>({
      name: 'distribution-due',
      text: DUE,
      values: [mode, now, furthest],
    });
    const [first] = rows;
    if (first === undefined) return undefined;
    const { companyId, progress } = first;
    return { companyId, progress: progress === null ? undefined : (JSON.parse(progress) as DistributionProgress) };
  },
  oldestReading: async (mode) => {
    const { rows } = await db.query<{ neverAsked: number; askedAt: Instant | null }>(OLDEST_READING, [mode]);
    const { neverAsked = 0, askedAt = null } = rows[0] ?? {};
    return { neverAsked, ...(askedAt === null ? {} : { askedAt }) };
  },
  save: async ({ mode, companyId }, progress) => {
    await db.query(
      `insert into distribution_progress (mode, company_id, due_at, progress) values ($1, $2, $3, $4)
       on conflict (mode, company_id) do update set due_at = excluded.due_at, progress = excluded.progress`,
      [mode, companyId, progress.dueAt, JSON.stringify(progress)],
    );
  },
});

const DUE = `select c.company_id as "companyId", p.progress
  from read.companies c left join distribution_progress p on p.mode = $1 and p.company_id = c.company_id
  where c.enabled and (p.due_at is null or p.due_at <= $2 or p.due_at > $3)
  order by p.due_at nulls first, c.company_id limit 1`;

const OLDEST_READING = `select count(*) filter (where p.progress is null)::int as "neverAsked", min(p.progress::jsonb ->> 'askedAt') as "askedAt"
  from read.companies c left join distribution_progress p on p.mode = $1 and p.company_id = c.company_id
  where c.enabled`;
