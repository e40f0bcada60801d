import type pg from 'pg';
import type { Projection } from '../../projections/types.js';

/** The table of this version; each version has a schema of its own, so that two can be built side by side. */
export const tableOf = ({ name, version }: Projection): string => `${quoted(`p_${name}_v${version}`)}.rows`;

/** What readers name: it points at the active version, whichever that is. */
export const viewOf = ({ name }: Projection): string => `read.${quoted(name)}`;

/** Makes schema, table and indexes of this version, and the view if no version has one yet; any number of processes may call it. */
export const ensureProjection = (db: pg.Pool, projection: Projection): Promise<void> =>
  inTransaction(db, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('projection tables', 0))`);
    const known = await client.query<{ made: boolean; shown: boolean }>(
      'select to_regclass($1) is not null as made, to_regclass($2) is not null as shown',
      [tableOf(projection), viewOf(projection)],
    );
    if (known.rows[0]?.made !== true) await client.query(tableStatements(projection));
    if (known.rows[0]?.shown !== true) await client.query(viewStatements(projection));
  });

/** Points the view at this version, in one transaction: a reader sees the old rows or the new ones, never none. */
export const activateProjection = (db: pg.Pool, projection: Projection): Promise<void> =>
  inTransaction(db, async (client) => {
    await client.query(viewStatements(projection));
  });

/** Runs it in one transaction on one connection; a connection that may be broken is not used again. */
export const inTransaction = async <T>(db: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await db.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    const clean = await client.query('rollback').then(
      () => true,
      () => false,
    );
    client.release(!clean);
    throw error;
  }
};

/** Names come from the code, never from a request; quoted because a column may be called like a keyword. */
export const quoted = (name: string): string => `"${name}"`;

const tableStatements = (projection: Projection): string => {
  const { name, version, columns, keyColumn, indexes } = projection;
  const definitions = Object.entries(columns).map(([column, type]) => {
    // Text is compared by its bytes: instants sort as time, and no locale of a server changes an order.
    const sqlType = type === 'text' ? 'text collate "C"' : type;
    return `${quoted(column)} ${sqlType}${column === keyColumn ? ' primary key' : ''}`;
  });
  const table = tableOf(projection);
  return [
    `create schema ${quoted(`p_${name}_v${version}`)}`,
    `create table ${table} (${definitions.join(', ')})`,
    ...indexes.map(
      ({ columns: of, unique }) =>
        `create ${unique === true ? 'unique ' : ''}index on ${table} (${of.map(quoted).join(', ')})`,
    ),
  ].join(';\n');
};

const viewStatements = (projection: Projection): string =>
  `drop view if exists ${viewOf(projection)};
   create view ${viewOf(projection)} as select * from ${tableOf(projection)}`;
