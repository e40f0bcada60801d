import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, open, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import pg from 'pg';
import * as v from 'valibot';
import { errorCode } from '../../lib/error-code.js';
import { makeFolders, syncFolder, writeNew, writeWhole } from '../../lib/files.js';
import { isDenied, otherOwner } from '../../lib/other-owner.js';
import { type AppliedMigration, appliedMigrations, type Migration, migrate } from '../sql/migrate.js';
import { inTransaction } from '../sql/transaction.js';

/** Thrown when a backup cannot be made or restored; the message says what to do. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused';
}

/** One table: a gzip file with one row of JSON per line, in the order of the table's key. */
type BackupTable = { name: string; file: string; rows: number; sha256: string };

/** HMAC-SHA-256 (hex) over the whole manifest, under a key that is derived from this generation of the master key. */
export type ManifestMac = { generation: string; keyId: string; hmac: string };

/** Written last, so that a folder without a manifest is not a backup. */
export type BackupManifest = {
  format: 1;
  madeAt: string;
  /** The migrations that the database had; a restore applies the same ones before it loads rows. */
  schema: readonly AppliedMigration[];
  /** `elsewhere`: the log is in another engine and not in this backup. */
  log: { kind: 'database'; identity: string; head: string } | { kind: 'elsewhere' };
  tables: readonly BackupTable[];
  masterKey: 'included' | 'absent';
  /** Over all other members; a backup of an earlier version has none. */
  mac?: ManifestMac | undefined;
};

const MANIFEST_FILE = 'manifest.json';
export const MASTER_KEY_COPY = 'master.key';

/** Reads the manifest. Throws `BackupRefused` for a folder without a complete backup of a format that this version reads, or that may not be read. */
export const readManifest = async (folder: string): Promise<BackupManifest> => {
  const path = join(folder, MANIFEST_FILE);
  const text = await readFile(path, 'utf8').catch((error: unknown) => undefinedIfMissing(path, error));
  if (text === undefined) throw new BackupRefused(`${folder} holds no finished backup: it has no ${MANIFEST_FILE}`);
  const { success, output } = v.safeParse(manifestText, text);
  if (!success) throw new BackupRefused(`${MANIFEST_FILE} in ${folder} is not one that this version reads`);
  return output;
};

/** Keeps members that it does not know, because the MAC covers those of a later version too. */
const manifestFields: v.GenericSchema<unknown, BackupManifest> = v.looseObject({
  format: v.literal(1),
  madeAt: v.string(),
  schema: v.array(v.looseObject({ id: v.number(), name: v.string(), checksum: v.string() })),
  log: v.variant('kind', [
    v.looseObject({ kind: v.literal('database'), identity: v.string(), head: v.string() }),
    v.looseObject({ kind: v.literal('elsewhere') }),
  ]),
  tables: v.array(v.looseObject({ name: v.string(), file: v.string(), rows: v.number(), sha256: v.string() })),
  masterKey: v.picklist(['included', 'absent']),
  mac: v.optional(v.strictObject({ generation: v.string(), keyId: v.string(), hmac: v.string() })),
});

const manifestText = v.pipe(v.string(), v.parseJson(), manifestFields);

/** Undefined for a fault that shows that the file is not there. Throws `BackupRefused` with the owner of a file that this process may not read. */
const undefinedIfMissing = async (path: string, error: unknown): Promise<undefined> => {
  if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errorCode(error) ?? '')) return undefined;
  if (!isDenied(error)) throw error;
  const advice = await otherOwner(path, { name: path });
  throw new BackupRefused(advice ?? `${path} cannot be read (${errorCode(error)}): let this user read it`);
};

/** Throws `BackupRefused` that names every file that is missing or differs from what was written, or one that this process may not read. */
export const checkFiles = async (folder: string, { tables }: BackupManifest): Promise<void> => {
  const wrong: string[] = [];
  for (const { file, sha256 } of tables) {
    const path = join(folder, file);
    const found = await sha256OfFile(path).catch((error: unknown) => undefinedIfMissing(path, error));
    if (found !== sha256) wrong.push(file);
  }
  if (wrong.length > 0) throw new BackupRefused(`not as they were backed up, or missing: ${wrong.join(', ')}`);
};

const sha256OfFile = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
};

type BackupOptions = {
  folder: string;
  db: pg.Pool;
  madeAt: string;
  /** Whether the event log is a table of this database. */
  logIsHere: boolean;
  /** Copied beside the data only when it is named: a person who has both can read everything. */
  masterKeyFile?: string;
  /** Adds the MAC. Without this function the manifest has none, as in earlier versions. */
  withMac?(manifest: BackupManifest): BackupManifest;
  onProgress(table: string, rows: number): void;
};

/**
 * Not copied: tables that the projector and the relay derive from the log, tables about this database alone, and the manifest's `schema`. A pause over
 * an incomplete log is copied, because nothing in that log shows what it lacks: without the row a restored database would issue over it (ADR 22).
 */
export const DERIVED: readonly string[] = ['checkpoints', 'relay_checkpoint', 'guards_position', 'schema_migrations'];

/** Day keys are destroyed to erase test data everywhere; a copy that is kept for longer would undo the erasure (ADR 25). */
export const NEVER_COPIED: readonly string[] = ['vault_day_keys'];

const ROWS_AT_ONCE = 1_000;

/**
 * Writes a consistent copy while the service runs: every table as of one moment, in one read-only transaction. Sealed fields and certificates stay
 * sealed. Throws `BackupRefused` when the folder is not empty or another backup is being written there. The manifest comes last, so that an
 * interrupted copy is not a backup.
 */
export const writeBackup = async (options: BackupOptions): Promise<BackupManifest> => {
  const { folder, db, madeAt, logIsHere, masterKeyFile, withMac, onProgress } = options;
  const client = await db.connect();
  try {
    // Only now: a folder that a backup has taken is refused to the next one.
    await claimFolder(folder);
    await client.query('begin transaction isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const tables: BackupTable[] = [];
    for (const name of await tableNames(client)) {
      const table = await writeTable(client, name, folder, onProgress);
      tables.push(table);
      onProgress(name, table.rows);
    }
    const plain: BackupManifest = {
      format: 1,
      madeAt,
      schema: await appliedMigrations(client),
      log: await logOf(client, logIsHere),
      tables,
      masterKey: masterKeyFile === undefined ? 'absent' : 'included',
    };
    const manifest = withMac?.(plain) ?? plain;
    await client.query('commit');
    if (masterKeyFile !== undefined)
      await writeNew(join(folder, MASTER_KEY_COPY), await readFile(masterKeyFile), 0o600);
    await rm(join(folder, UNFINISHED), { force: true });
    await writeWhole(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, 0o600);
    await syncFolder(folder);
    return manifest;
  } finally {
    // Closing the connection also ends a transaction that is still open.
    client.release(true);
  }
};

/** Name of the file that a backup which is being written, or was interrupted, has in its folder. */
const UNFINISHED = 'unfinished';

/**
 * Takes the folder for one backup, or throws `BackupRefused`. Two backups may find the folder empty at once, and only one makes the file. The file
 * shows as whose this process writes here, which a file server may decide.
 */
const claimFolder = async (folder: string): Promise<void> => {
  const notEmpty = new BackupRefused(`${folder} is not empty: name a new folder`);
  await makeFolders(folder, 0o700);
  const there = await readdir(folder);
  if (there.includes(UNFINISHED)) throw new BackupRefused(`${notEmpty.message}; ${HOLDS_UNFINISHED}`);
  if (there.length > 0) throw notEmpty;
  const claim = await open(join(folder, UNFINISHED), 'wx', 0o600).catch((error: unknown) => {
    throw errorCode(error) === 'EEXIST' ? notEmpty : error;
  });
  const { uid } = await claim.stat().finally(() => claim.close());
  // A backup that ended since the first look has removed its file and left the others.
  const isTaken = (await readdir(folder)).length > 1;
  const planted = isTaken ? undefined : await plantedPath(folder, uid);
  if (!isTaken && planted === undefined) return;
  await rm(join(folder, UNFINISHED));
  throw isTaken ? notEmpty : new BackupRefused(`${planted} ${PLANTED}`);
};

const HOLDS_UNFINISHED = `its file ${UNFINISHED} says that another backup writes there, or was interrupted and may be removed with the folder`;

const PLANTED =
  'belongs to another user and lies where all users may make folders, so its owner could exchange the backup: name a folder outside of that folder';

/**
 * The folder, a folder above or a link of such a name that another user may have made in a place such as /tmp, also where the folder itself is new: the
 * owner of a folder above may exchange what is in that folder. A folder of another user elsewhere, such as the volume of a container, was given to that
 * user by the owner of the place.
 */
const plantedPath = async (folder: string, own: number): Promise<string | undefined> => {
  for (const path of [resolve(folder), await realpath(folder)])
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      const [{ uid }, { mode }] = [await lstat(at), await lstat(dirname(at))];
      if (![0, own].includes(uid) && (mode & 0o002) !== 0) return at;
    }
  return undefined;
};

const tableNames = async (client: pg.PoolClient): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() and tablename <> all ($1) order by 1`,
    [[...DERIVED, ...NEVER_COPIED]],
  );
  return rows.map(({ name }) => name);
};

const writeTable = async (
  client: pg.PoolClient,
  name: string,
  folder: string,
  onProgress: (table: string, rows: number) => void,
): Promise<BackupTable> => {
  const file = `${name}.ndjson.gz`;
  const path = join(folder, file);
  let rows = 0;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of pagesOf(client, name)) {
      rows += page.length;
      onProgress(name, rows);
      yield `${page.join('\n')}\n`;
    }
  };
  const hash = createHash('sha256');
  // The bytes are hashed on their way: a file of that name may be another one by the time that this process reads again.
  const hashed = async function* (zipped: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of zipped) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(Readable.from(lines()), createGzip(), hashed, target);
  return { name, file, rows, sha256: hash.digest('hex') };
};

/** Pages of rows in the order of the key, so that the same rows give the same file. */
const pagesOf = async function* (client: pg.PoolClient, name: string): AsyncGenerator<readonly string[]> {
  const table = pg.escapeIdentifier(name);
  const { rows: key } = await client.query<{ column: string }>(
    `select quote_ident(a.attname) as column from pg_index i, unnest(i.indkey) with ordinality k (attnum, place)
     join pg_attribute a on a.attnum = k.attnum where i.indrelid = $1::regclass and a.attrelid = i.indrelid and i.indisprimary
     order by k.place`,
    [table],
  );
  const order = key.length === 0 ? '' : ` order by ${key.map(({ column }) => column).join(', ')}`;
  await client.query(`declare backup no scroll cursor for select row_to_json(t)::text as line from ${table} t${order}`);
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_ONCE} from backup`);
    if (rows.length === 0) break;
    yield rows.map(({ line }) => line);
  }
  await client.query('close backup');
};

const logOf = async (client: pg.PoolClient, isHere: boolean): Promise<BackupManifest['log']> => {
  if (!isHere) return { kind: 'elsewhere' };
  const found = await logInRows(client);
  if (found === undefined) throw new Error('the event log has no head: was it migrated?');
  return { kind: 'database', ...found };
};

/** Identity and end of the log that the rows hold; undefined without the row of its end. */
export const logInRows = async (
  db: Pick<pg.Pool | pg.PoolClient, 'query'>,
): Promise<{ identity: string; head: string } | undefined> => {
  const { rows } = await db.query<{ identity: string; head: string }>(
    'select identity::text, position::text as head from event_log_head',
  );
  return rows[0];
};

const ROWS_PER_INSERT = 500;
const TEXT_AT_ONCE = 8 * 1024 * 1024;

export type LoadTarget = {
  db: pg.Pool;
  migrations: readonly Migration[];
  /** Writes what must be visible no later than the rows, in their transaction. */
  withRows(client: pg.PoolClient): Promise<void>;
};

/**
 * Loads a backup, whose files were checked before, into an empty database: the migrations that the backup was made with, its rows in one transaction,
 * then later migrations. Throws `BackupRefused` for a backup of a newer version; errors of PostgreSQL pass through.
 */
export const loadBackup = async (
  folder: string,
  manifest: BackupManifest,
  { db, migrations, withRows }: LoadTarget,
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  const last = manifest.schema.at(-1)?.id;
  if (last === undefined) throw new BackupRefused('the backup names no step of the schema: use another backup');
  const known = new Set(migrations.map(({ id }) => id));
  const newer = manifest.schema.find(({ id }) => !known.has(id));
  if (newer !== undefined)
    throw new BackupRefused(
      `the backup has step ${newer.id}-${newer.name} of the schema: use the version that made it`,
    );
  await migrate(
    db,
    migrations.filter(({ id }) => id <= last),
  );
  await checkSteps(db, manifest);
  await inTransaction(db, async (client) => {
    await client.query('set local statement_timeout = 0');
    await loadTables(client, folder, manifest, onProgress);
    await withRows(client);
  });
  await migrate(db, migrations);
};

/** Loads all tables of a backup in the transaction of `client`. Throws `BackupRefused` when a file has another number of rows than the manifest. */
export const loadTables = async (
  client: pg.PoolClient,
  folder: string,
  { tables }: BackupManifest,
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  for (const table of tables) {
    await loadTable(client, table, folder, onProgress).catch((error: unknown) => {
      const code = errorCode(error) ?? '';
      if (!IS_OF_CONTENT.test(code)) throw error;
      throw new BackupRefused(`${table.file} does not hold rows of ${table.name} (${code}): use another backup`);
    });
    onProgress(table.name, table.rows);
  }
};

/** Faults of what a file holds: data, keys and names that PostgreSQL refuses, but for a missing right; a broken gzip file; bytes that are no UTF-8. */
const IS_OF_CONTENT = /^(?:2[23]\w{3}|42(?!501)\w{3}|Z_\w+|ERR_ENCODING_\w+)$/;

/** The migrations must have the same text as when the backup was made, so that its rows fit. */
const checkSteps = async (db: pg.Pool, { schema }: BackupManifest): Promise<void> => {
  const made = new Map((await appliedMigrations(db)).map(({ id, checksum }) => [id, checksum]));
  const other = schema.find(({ id, checksum }) => made.get(id) !== checksum);
  if (other !== undefined)
    throw new BackupRefused(
      `step ${other.id}-${other.name} of the schema is not the one that the backup was made with`,
    );
};

const loadTable = async (
  client: pg.PoolClient,
  table: BackupTable,
  folder: string,
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  const name = pg.escapeIdentifier(table.name);
  // Removes rows that a migration inserted, because the backup holds them too.
  await client.query(`delete from ${name}`);
  let loaded = 0;
  let page: string[] = [];
  let size = 0;
  const save = async (): Promise<void> => {
    const insert = `insert into ${name} select * from json_populate_recordset(null::${name}, $1::json)`;
    loaded += (await client.query(insert, [`[${page.join(',')}]`])).rowCount ?? 0;
    page = [];
    size = 0;
    onProgress(table.name, loaded);
  };
  for await (const line of linesOf(join(folder, table.file))) {
    page.push(line);
    size += line.length;
    if (page.length === ROWS_PER_INSERT || size > TEXT_AT_ONCE) await save();
  }
  if (page.length > 0) await save();
  if (loaded !== table.rows) throw new BackupRefused(`${table.file} holds ${loaded} rows in place of ${table.rows}`);
};

/** Splits at line feeds only: a row may contain other characters that end lines elsewhere. */
const linesOf = async function* (path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of createReadStream(path).pipe(createGunzip())) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
};
