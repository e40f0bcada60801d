import type { Row } from '../../projections/types.js';
import { textArray } from '../adapters/sql/arrays.js';
import type { Revision } from '../ports/event-log.js';
import type { Generation, Queryable } from './checkpoints.js';
import { quoted, tableOf } from './generation-tables.js';

/** What a batch made of one row. The revision protects a newer row that an operator's command has written in the meantime. */
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
  return new Map(rows.map((row) => [String(row[generation.keyColumn]), withNumbers(row, generation)]));
};

/** The driver returns a bigint as text; rows hold safe integers. */
const withNumbers = (row: Row, { columns }: Generation): Row => {
  const numbers = Object.keys(columns)
    .filter((name) => columns[name] === 'bigint' && row[name] !== null)
    .map((name) => [name, Number(row[name])]);
  return numbers.length === 0 ? row : { ...row, ...Object.fromEntries(numbers) };
};

/** Writes at most one statement for kept rows and one for deleted rows. Keys are sorted, so that writers never deadlock. */
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
    names.map((name) => {
      const values = rows.map((row) => row[name] ?? null);
      return columns[name] === 'text' ? textArray(values.map(textOrNull)) : values;
    }),
  );
};

const textOrNull = (value: Row[string]): string | null => (value === null ? null : String(value));
