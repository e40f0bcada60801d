import type pg from 'pg';
import type { Projection, Row } from '../../projections/types.js';
import { textArray } from '../adapters/sql/arrays.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import type { Instant } from '../domain/common/time.js';
import type { LogPosition, Revision } from '../ports/event-log.js';

/** The view shows `live`. `building` will replace it, `previous` is kept for a rollback. At most one generation has each role. */
type GenerationRole = 'live' | 'building' | 'previous';

/** One physical copy of a projection's rows, with the projection that makes it. Numbers count over all versions. */
export type Generation = Projection & { readonly generation: number; readonly role: GenerationRole };

/** The recorded state of a generation. `position` is that of the last event handled, null when none was. */
export type GenerationRecord = {
  name: string;
  version: number;
  compatibleFrom: number;
  generation: number;
  role: GenerationRole;
  logIdentity: string;
  position: LogPosition | null;
};

export type Queryable = Pick<pg.Pool, 'query'>;

type GenerationRow = Omit<GenerationRecord, 'position'> & { position: string | null };

const COLUMNS =
  'name, version, compatible_from as "compatibleFrom", generation, role, log_identity as "logIdentity", position';

/** Generations of all projections, or of one. With a lock no other process moves a checkpoint or changes a role until the transaction ends. */
export const generationRecords = async (
  db: Queryable,
  name?: string,
  lock?: 'for update',
): Promise<readonly GenerationRecord[]> => {
  const { rows } = await db.query<GenerationRow>(
    `select ${COLUMNS} from checkpoints where name = $1 or $1::text is null order by name, generation ${lock ?? ''}`,
    [name ?? null],
  );
  return rows.map(toGenerationRecord);
};

/** The generation that the view shows. Throws when the projection was never prepared. */
export const liveGeneration = async (db: Queryable, name: string): Promise<GenerationRecord> => {
  const live = (await generationRecords(db, name)).find(({ role }) => role === 'live');
  if (live === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return live;
};

/**
 * As `liveGeneration`, inside a transaction: the generation stays live until the transaction ends. The projector can still move the checkpoint; a swap
 * waits.
 */
export const lockLiveGeneration = async (client: pg.PoolClient, name: string): Promise<GenerationRecord> => {
  const look = async (): Promise<GenerationRow | undefined> => {
    const { rows } = await client.query<GenerationRow>(
      `select ${COLUMNS} from checkpoints where name = $1 and role = 'live' for key share`,
      [name],
    );
    return rows[0];
  };
  // A swap that commits during the wait turns the awaited row into `previous`; the second query finds the new live row.
  const row = (await look()) ?? (await look());
  if (row === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return toGenerationRecord(row);
};

export const addGenerationRecord = async (
  client: pg.PoolClient,
  { name, version, compatibleFrom, generation, role }: Generation,
  logIdentity: string,
  now: Instant,
): Promise<void> => {
  await client.query(
    `insert into checkpoints (name, version, compatible_from, generation, role, log_identity, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [name, version, compatibleFrom ?? version, generation, role, logIdentity, now],
  );
};

/** Removes the record of a generation that is not live, and its table. */
export const dropGeneration = async (client: pg.PoolClient, record: GenerationRecord): Promise<void> => {
  const { name, generation } = record;
  await client.query('delete from checkpoints where name = $1 and generation = $2', [name, generation]);
  await dropTable(client, record);
};

/** Combines this program's handlers with a generation of the same version. Throws for another version. */
export const generationOf = (projection: Projection, { generation, role, version }: GenerationRecord): Generation => {
  if (version !== projection.version) {
    throw new Error(`generation ${generation} of ${projection.name} is of version ${version}`);
  }
  return { ...projection, generation, role };
};

/** Whether readers written for `projection` can use those rows; the newer of the two versions decides. */
export const canRead = ({ version, compatibleFrom }: Projection, rows: GenerationRecord): boolean =>
  rows.version <= version ? rows.version >= (compatibleFrom ?? version) : version >= rows.compatibleFrom;

const toGenerationRecord = (row: GenerationRow): GenerationRecord => ({
  ...row,
  position: row.position === null ? null : (BigInt(row.position) as LogPosition),
});

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

/** Creates schema, table and indexes, empty. Rows left there without a checkpoint are dropped. */
export const makeTable = async (client: pg.PoolClient, generation: Generation): Promise<void> => {
  await dropTable(client, generation);
  await client.query('select projection_schema_make($1)', [schemaNameOf(generation)]);
  await client.query(tableStatements(generation));
};

export const dropTable = async (client: pg.PoolClient, generation: Numbered): Promise<void> => {
  await client.query('select projection_schema_drop($1)', [schemaNameOf(generation)]);
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
    ...indexes.map(({ columns: of, unique, sparse }) => {
      const rows = sparse === true ? ` where ${quoted(of[0])} is not null` : '';
      return `create ${unique === true ? 'unique ' : ''}index on ${table} (${of.map(quoted).join(', ')})${rows}`;
    }),
  ].join(';\n');
};

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

/** Position of the last event in the live rows; null when no event was handled. */
export const readCheckpoint = async (db: Queryable, { name }: Pick<Projection, 'name'>): Promise<LogPosition | null> =>
  (await liveGeneration(db, name)).position;

/**
 * Compare-and-set that also locks the row until the transaction ends. False when the position or the role of the generation has changed. False when
 * `to` is of another log. Where the database keeps the log: false when that log ends before `to`, or has another event at `to` than the one with
 * `hash`, because a failover lost the event. An event that retention has cut since cannot be compared.
 */
export const moveCheckpoint = async (
  client: pg.PoolClient,
  { name, generation, role }: Generation,
  { from, to, hash, logIdentity }: CheckpointMove,
  now: Instant,
): Promise<boolean> => {
  const { rowCount } = await client.query(
    `update checkpoints c set position = $1::text, updated_at = $2
     where name = $3 and generation = $4 and role = $5 and position is not distinct from $6
     and log_identity = coalesce($8, log_identity) and not exists (
       select from event_log_head h where h.identity::text = c.log_identity and (h.position < $1::text::numeric or exists (
         select from event_log e where e.position = least(h.position, $1::text::numeric)::bigint and e.hash <> $7)))`,
    [
      to.toString(),
      now,
      name,
      generation,
      role,
      from === null ? null : from.toString(),
      hash ?? null,
      logIdentity ?? null,
    ],
  );
  return rowCount === 1;
};

/** `logIdentity`: the log of `to`, where another log may be at the address. */
type CheckpointMove = {
  from: LogPosition | null;
  to: LogPosition;
  hash?: string | undefined;
  logIdentity?: string;
};

/** Whether a compare-and-set from this position would succeed now. */
export const isCheckpointAt = async (
  db: Queryable,
  { name, generation, role }: Generation,
  position: LogPosition | null,
): Promise<boolean> =>
  (await generationRecords(db, name)).some(
    (record) => record.generation === generation && record.role === role && record.position === position,
  );
