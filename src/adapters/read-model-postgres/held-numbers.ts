import type pg from 'pg';
import type { HeldNumbers, HeldNumbersRead } from '../../ports/held-numbers.js';
import { columnsOf } from '../sql/arrays.js';

type HeldRow = Omit<HeldNumbers, 'number' | 'last'> & { number: string; last: string };

/** Reads every row of the invoices, so `db` must have no time limit for a statement. */
export const createHeldNumbersRead =
  (db: pg.Pool): HeldNumbersRead =>
  async (ends, gap) => {
    const known = columnsOf(ends, ['mode', 'companyId', 'series', 'nextNumber']);
    const { rows } = await db.query<HeldRow>(HELD, [...known, gap]);
    return rows.map(({ number, last, ...row }) => ({ ...row, number: Number(number), last: Number(last) }));
  };

/** A DPS id is `DPS`, municipality (7), kind of inscription (1), inscription (14), series (5) and number (15); src/domain/common/access-key.ts. */
const HELD = `with attempts as (
    select mode, company_id, substr(dps_id, 4, 7) as municipality, ltrim(substr(dps_id, 26, 5), '0') as series,
      substr(dps_id, 31, 15)::bigint as number
    from read.invoices where dps_id ~ '^DPS[0-9]{7}2[0-9A-Z]{14}[0-9]{20}$'
  ), behind as (
    select a.*, number - lag(number) over of_series > $5 as is_far from attempts a
    left join unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) k (mode, company_id, series, next_number)
      using (mode, company_id, series)
    where k.next_number is null or a.number >= k.next_number
    window of_series as (partition by a.mode, a.company_id, a.municipality, a.series order by a.number)
  ), runs as (
    select b.*, count(*) filter (where is_far) over (partition by mode, company_id, municipality, series order by number) as run
    from behind b
  )
  select mode, company_id as "companyId", municipality, series, min(number)::text as number, max(number)::text as last
  from runs group by mode, company_id, municipality, series, run order by mode, company_id, series, municipality, min(number)`;
