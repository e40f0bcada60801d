import type pg from 'pg';
import type { CompanyId } from '../../domain/common/ids.js';
import type { DistributionProgress, DistributionProgressStore } from '../../ports/distribution.js';

/** How far the queues of the ADN were read. Needs the migration `distribution`. */
export const createDistributionProgressStore = (db: pg.Pool): DistributionProgressStore => ({
  all: async (mode) => {
    const { rows } = await db.query<{ companyId: CompanyId; progress: string }>(
      'select company_id as "companyId", progress from distribution_progress where mode = $1',
      [mode],
    );
    return new Map(rows.map(({ companyId, progress }) => [companyId, JSON.parse(progress) as DistributionProgress]));
  },
  save: async ({ mode, companyId }, progress) => {
    await db.query(
      `insert into distribution_progress (mode, company_id, progress) values ($1, $2, $3)
       on conflict (mode, company_id) do update set progress = excluded.progress`,
      [mode, companyId, JSON.stringify(progress)],
    );
  },
});
