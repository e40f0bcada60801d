import type { Row } from '../../projections/types.js';
import type { Revision } from '../ports/event-log.js';
import type { Generation, Queryable } from './projection-generation.js';
import { quoted, tableOf } from './projection-table.js';

/** What a batch made of one row; the revision guards it against a newer one that an operator command wrote meanwhile. */
export type RowChange = { kind: 'upsert'; row: Row } | { kind: 'delete'; revision: Revision };

export const loadRows = async (
  db: Queryable,
  generation: Generation,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Row>> => {
  if (keys.length === 0) return new Map();
  const names = Object.keys(generation.columns).map(quoted).join(', ');
  const { rows } = await db.query<Row>(
    `select ${names} from ${tableOf(generation)} where ${quoted(generation.keyColumn)} = any ($1::text[])`,
    [keys],
  );
  return new Map(rows.map((row) => [String(row[generation.keyColumn]), row]));
};

/** At most one statement for the rows that stay and one for those that go; keys in order, so that writers never deadlock. */
export const saveRows = async (
  db: Queryable,
  generation: Generation,
  changes: ReadonlyMap<string, RowChange>,
): Promise<void> => {
  const inOrder = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  const upserts = inOrder.flatMap(([, change]) => (change.kind === 'upsert' ? [change.row] : []));
  const deletions = inOrder.flatMap(([key, change]) =>
    change.kind === 'delete' ? [{ key, revision: change.revision }] : [],
  );
  if (upserts.length > 0) await upsert(db, generation, upserts);
  if (deletions.length > 0) {
    await db.query(
      `delete from ${tableOf(generation)} as kept using unnest($1::text[], $2::integer[]) as gone (key, revision)
       where kept.${quoted(generation.keyColumn)} = gone.key and kept.revision <= gone.revision`,
      [deletions.map(({ key }) => key), deletions.map(({ revision }) => revision)],
    );
  }
};

const upsert = async (db: Queryable, generation: Generation, rows: readonly Row[]): Promise<void> => {
  const { columns, keyColumn } = generation;
  const names = Object.keys(columns);
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  const changed = names
    .filter((name) => name !== keyColumn)
    .map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
  await db.query(
    `insert into ${tableOf(generation)} as kept (${names.map(quoted).join(', ')})
     select * from unnest(${arrays.join(', ')})
     on conflict (${quoted(keyColumn)}) do update set ${changed.join(', ')} where kept.revision < excluded.revision`,
    names.map((name) => rows.map((row) => row[name] ?? null)),
  );
};
