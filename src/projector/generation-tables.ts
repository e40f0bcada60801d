import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { schemaOfOtherLog } from '../adapters/sql/belonging.js';
import { DatabaseUnsuitable } from '../adapters/sql/database-checks.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import type { Instant } from '../domain/common/time.js';
import { addGenerationRecord, type Generation, type GenerationRecord, generationRecords } from './checkpoints.js';

type Numbered = Pick<GenerationRecord, 'name' | 'version' | 'generation'>;

/** The table of one generation. Each has its own schema, so that two can exist side by side. */
export const tableOf = (generation: Numbered): string => `${schemaOf(generation)}.rows`;

/** The view that readers name: it shows the live generation. */
export const viewOf = ({ name }: Pick<Projection, 'name'>): string => `read.${quoted(name)}`;

/** Creates an empty live generation and its view if the projection has none. Any number of processes may call this at once. */
export const ensureProjection = (db: pg.Pool, projection: Projection, logIdentity: string, now: Instant) =>
  changingTables(db, async (client) => {
    if ((await generationRecords(client, projection.name)).some(({ role }) => role === 'live')) return;
    const first: Generation = { ...projection, generation: 1, role: 'live' };
    await makeTable(client, first);
    await addGenerationRecord(client, first, logIdentity, now);
    await showInView(client, first);
  });

/** Runs `work` in one transaction; one such transaction at a time among all processes. */
export const changingTables = <T>(db: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  inTransaction(db, async (client) => {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('projection tables', 0))`);
    return await work(client);
  });

/**
 * Creates schema, table and indexes, empty. Rows left there without a checkpoint are dropped. Throws `DatabaseUnsuitable` when they may be those of an
 * installation whose log lies in another schema of the database.
 */
export const makeTable = async (client: pg.PoolClient, generation: Generation): Promise<void> => {
  await refuseRowsOfOther(client, generation);
  await dropTable(client, generation);
  await client.query('select projection_schema_make($1)', [schemaNameOf(generation)]);
  await client.query(tableStatements(generation));
};

/** The copy that an audit compares (generation 0) is dropped by the audit itself, and never holds the rows of an installation. */
const refuseRowsOfOther = async (client: pg.PoolClient, generation: Generation): Promise<void> => {
  const name = schemaNameOf(generation);
  if (generation.generation === 0 || (await isEmpty(client, name))) return;
  const other = await schemaOfOtherLog(client);
  if (other === undefined) return;
  throw new DatabaseUnsuitable(
    `the table ${name}.rows holds rows that are not those of this log, and the schema ${other} of this database holds a log of this service too: lead the search_path to that schema, or take a copy of the tables out of this database`,
  );
};

/** A table that has never held a row has no size, nor has one that is not there. */
const isEmpty = async (client: pg.PoolClient, schema: string): Promise<boolean> => {
  const { rows } = await client.query(
    `select from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = 'rows' and pg_relation_size(c.oid) > 0`,
    [schema],
  );
  return rows.length === 0;
};

export const dropTable = async (client: pg.PoolClient, generation: Numbered): Promise<void> => {
  await client.query('select projection_schema_drop($1)', [schemaNameOf(generation)]);
};

/** Removes the record of a generation that is not live, and its table. */
export const dropGeneration = async (client: pg.PoolClient, record: GenerationRecord): Promise<void> => {
  const { name, generation } = record;
  await client.query('delete from checkpoints where name = $1 and generation = $2', [name, generation]);
  await dropTable(client, record);
};

/** Points the view at this generation. On commit a reader sees the old rows or the new ones, never an empty view. */
export const showInView = async (client: pg.PoolClient, generation: Numbered): Promise<void> => {
  await client.query(
    `drop view if exists ${viewOf(generation)}; create view ${viewOf(generation)} as select * from ${tableOf(generation)}`,
  );
};

/** Names come from the code, never from a request; they are quoted because a column may be named like a keyword. */
export const quoted = (name: string): string => `"${name}"`;

/** Functions of the tables' owner create and drop the schema, and accept only names of this form (ADR 33). */
const schemaNameOf = ({ name, version, generation }: Numbered): string => `p_${name}_v${version}_g${generation}`;

const schemaOf = (generation: Numbered): string => quoted(schemaNameOf(generation));

const tableStatements = (generation: Generation): string => {
  const { columns, keyColumn, indexes } = generation;
  const definitions = Object.entries(columns).map(([column, type]) => {
    // Text is compared by its bytes: instants sort as time, and the locale of the server has no effect.
    const sqlType = type === 'text' ? 'text collate "C"' : type;
    return `${quoted(column)} ${sqlType}${column === keyColumn ? ' primary key' : ''}`;
  });
  const table = tableOf(generation);
  return [
    `create table ${table} (${definitions.join(', ')})`,
    ...indexes.map(({ columns: of, sparse }) => {
      const rows = sparse === true ? ` where ${quoted(of[0])} is not null` : '';
      return `create index on ${table} (${of.map(quoted).join(', ')})${rows}`;
    }),
  ].join(';\n');
};
