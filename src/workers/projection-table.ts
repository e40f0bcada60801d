import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/shared/time.js';
import { addStanding, type Generation, type Standing, standings } from './projection-generation.js';

type Numbered = Pick<Standing, 'name' | 'version' | 'generation'>;

/** The table of one generation; each has a schema of its own, so that two can be built side by side. */
export const tableOf = (generation: Numbered): string => `${schemaOf(generation)}.rows`;

/** What readers name: it points at the live generation, whichever that is. */
export const viewOf = ({ name }: Pick<Projection, 'name'>): string => `read.${quoted(name)}`;

/** Makes an empty generation and its view live if the projection has none yet; any number of processes may call it. */
export const ensureProjection = (db: pg.Pool, projection: Projection, logIdentity: string, now: Instant) =>
  changingTables(db, async (client) => {
    if ((await standings(client, projection.name)).some(({ role }) => role === 'live')) return;
    const first: Generation = { ...projection, generation: 1, role: 'live' };
    await makeTable(client, first);
    await addStanding(client, first, logIdentity, now);
    await showInView(client, first);
  });

/** One at a time among all processes, in one transaction. */
export const changingTables = <T>(db: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  inTransaction(db, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('projection tables', 0))`);
    return await work(client);
  });

/** Schema, table and indexes, empty: rows there that no checkpoint speaks for are worth nothing. */
export const makeTable = async (client: pg.PoolClient, generation: Generation): Promise<void> => {
  await dropTable(client, generation);
  await client.query('select projection_schema_make($1)', [schemaNameOf(generation)]);
  await client.query(tableStatements(generation));
};

export const dropTable = async (client: pg.PoolClient, generation: Numbered): Promise<void> => {
  await client.query('select projection_schema_drop($1)', [schemaNameOf(generation)]);
};

/** Points the view at this generation: when the transaction commits, a reader sees the old rows or the new ones, never none. */
export const showInView = async (client: pg.PoolClient, generation: Numbered): Promise<void> => {
  await client.query(
    `drop view if exists ${viewOf(generation)}; create view ${viewOf(generation)} as select * from ${tableOf(generation)}`,
  );
};

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

/** Made and dropped by functions of the tables' owner, who takes no other name (ADR 33). */
const schemaNameOf = ({ name, version, generation }: Numbered): string => `p_${name}_v${version}_g${generation}`;

const schemaOf = (generation: Numbered): string => quoted(schemaNameOf(generation));

const tableStatements = (generation: Generation): string => {
  const { columns, keyColumn, indexes } = generation;
  const definitions = Object.entries(columns).map(([column, type]) => {
    // Text is compared by its bytes: instants sort as time, and no locale of a server changes an order.
    const sqlType = type === 'text' ? 'text collate "C"' : type;
    return `${quoted(column)} ${sqlType}${column === keyColumn ? ' primary key' : ''}`;
  });
  const table = tableOf(generation);
  return [
    `create table ${table} (${definitions.join(', ')})`,
    ...indexes.map(
      ({ columns: of, unique }) =>
        `create ${unique === true ? 'unique ' : ''}index on ${table} (${of.map(quoted).join(', ')})`,
    ),
  ].join(';\n');
};
