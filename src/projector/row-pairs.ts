import type { Projection, Row } from '../../projections/types.js';
import type { Generation, Queryable } from './checkpoints.js';
import { quoted, tableOf, viewOf } from './generation-tables.js';

/** A live row and what the log makes of it. */
export type Pair = { key: string; live: Row | undefined; made: Row | undefined };

/** How many pairs one comparison returns. A row after them is compared all the same. */
export const MAX_PAIRS = 1_000;

/** Whether a row is of a later revision than the log's row of the same key. */
export const isAhead = ({ live, made }: Pick<Pair, 'live' | 'made'>): boolean =>
  live !== undefined && live.revision > (made?.revision ?? -1);

const AHEAD = 'live.revision > coalesce(made.revision, -1)';

/** PostgreSQL compares column by column. Returns the rows that differ and are not ahead, and those that are missing. */
export const unequalRows = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
): Promise<readonly Pair[]> => {
  const names = Object.keys(projection.columns).map(quoted);
  const rowOf = (table: string): string => `row(${names.map((name) => `${table}.${name}`).join(', ')})`;
  return await pairs(
    projection,
    copy,
    db,
    `${rowOf('live')} is distinct from ${rowOf('made')} and not coalesce(${AHEAD}, false)`,
  );
};

/** The rows that are ahead of the copy, but for those of some keys. */
export const rowsAhead = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
  { but, limit = MAX_PAIRS }: { but: ReadonlySet<string>; limit?: number },
): Promise<readonly Pair[]> => {
  const key = quoted(projection.keyColumn);
  return await pairs(projection, copy, db, `${AHEAD} and live.${key}::text <> all ($1::text[])`, [[...but]], limit);
};

const pairs = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
  condition: string,
  values: readonly unknown[] = [],
  limit = MAX_PAIRS,
): Promise<readonly Pair[]> => {
  const key = quoted(projection.keyColumn);
  const { rows } = await db.query<{ key: string; live: Row | null; made: Row | null }>(
    `select coalesce(live.${key}, made.${key}) as key,
       case when live.${key} is null then null else to_jsonb(live) end as live,
       case when made.${key} is null then null else to_jsonb(made) end as made
     from ${viewOf(projection)} live full join ${tableOf(copy)} made on made.${key} = live.${key}
     where ${condition} order by 1 limit ${limit}`,
    [...values],
  );
  return rows.map(({ key: of, live, made }) => ({ key: of, live: live ?? undefined, made: made ?? undefined }));
};

/** Names the columns of a pair that differ, never a value; undefined when none does. */
export const differenceOf = ({ live, made }: Pair, { columns }: Projection): string | undefined => {
  if (live === undefined) return 'the row is missing';
  if (made === undefined) return 'the log knows of no such row';
  const names = Object.keys(columns).sort();
  const differing = names.filter((name) => (live[name] ?? null) !== (made[name] ?? null));
  if (differing.length === 0) return undefined;
  return `${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}`;
};
