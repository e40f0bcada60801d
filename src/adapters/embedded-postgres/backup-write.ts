import { createWriteStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import {
  type BackupManifest,
  BackupRefused,
  type BackupTable,
  MANIFEST_FILE,
  MASTER_KEY_COPY,
  sha256OfFile,
} from './backup-manifest.js';

export type BackupOptions = {
  folder: string;
  db: pg.Pool;
  madeAt: string;
  /** Whether the event log is a table of this database. */
  logIsHere: boolean;
  /** Copied beside the data only when it is named: whoever has both reads everything. */
  masterKeyFile?: string;
  onProgress(table: string, rows: number): void;
};

/** Made from the log by the projector and the relay, or about this database alone; and what `schema` in the manifest says. */
const DERIVED = ['checkpoints', 'relay_checkpoint', 'guards_position', 'log_set_back', 'schema_migrations'];

/** Destroyed after their days, which erases test data everywhere: a copy that is kept for longer would undo it (ADR 25). */
const NEVER_COPIED = ['vault_day_keys'];

const ROWS_AT_ONCE = 1_000;

/**
 * A consistent copy while the service runs: every table as of one moment, in one read-only transaction. Sealed fields and
 * certificates stay sealed. Throws `BackupRefused` when the folder holds something; what was written before another failure
 * is no backup, because the manifest comes last.
 */
export const writeBackup = async (options: BackupOptions): Promise<BackupManifest> => {
  const { folder, db, madeAt, logIsHere, masterKeyFile, onProgress } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new BackupRefused(`${folder} is not empty: name a new folder`);
  const client = await db.connect();
  try {
    await client.query('begin transaction isolation level repeatable read read only');
    await client.query('set local statement_timeout = 0');
    const tables: BackupTable[] = [];
    for (const name of await tableNames(client)) {
      const table = await writeTable(client, name, folder);
      tables.push(table);
      onProgress(name, table.rows);
    }
    const manifest: BackupManifest = {
      ...{ format: 1, madeAt, schema: await schemaOf(client), log: await logOf(client, logIsHere), tables },
      masterKey: masterKeyFile === undefined ? 'absent' : 'included',
    };
    await client.query('commit');
    if (masterKeyFile !== undefined) await copySecret(masterKeyFile, join(folder, MASTER_KEY_COPY));
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    // A transaction that was left open goes with its connection.
    client.release(true);
  }
};

const tableNames = async (client: pg.PoolClient): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() and tablename <> all ($1) order by 1`,
    [[...DERIVED, ...NEVER_COPIED]],
  );
  return rows.map(({ name }) => name);
};

const writeTable = async (client: pg.PoolClient, name: string, folder: string): Promise<BackupTable> => {
  const file = `${name}.ndjson.gz`;
  const path = join(folder, file);
  let rows = 0;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const page of pagesOf(client, name)) {
      rows += page.length;
      yield `${page.join('\n')}\n`;
    }
  };
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(path, { mode: 0o600, flush: true }));
  return { name, file, rows, sha256: await sha256OfFile(path) };
};

/** In the order of the key, so that the same rows give the same file. */
const pagesOf = async function* (client: pg.PoolClient, name: string): AsyncGenerator<readonly string[]> {
  const table = `"${name.replaceAll('"', '""')}"`;
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

const schemaOf = async (client: pg.PoolClient): Promise<BackupManifest['schema']> =>
  (
    await client.query<{ id: number; name: string; checksum: string }>(
      'select id, name, checksum from schema_migrations order by id',
    )
  ).rows;

const logOf = async (client: pg.PoolClient, isHere: boolean): Promise<BackupManifest['log']> => {
  if (!isHere) return { kind: 'elsewhere' };
  const { rows } = await client.query<{ identity: string; head: string }>(
    'select identity::text, position::text as head from event_log_head',
  );
  return { kind: 'database', identity: rows[0]?.identity ?? '', head: rows[0]?.head ?? '0' };
};

const copySecret = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to);
  await chmod(to, 0o600);
};

const writeManifest = async (folder: string, manifest: BackupManifest): Promise<void> => {
  const draft = join(folder, `${MANIFEST_FILE}.draft`);
  await writeFile(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, join(folder, MANIFEST_FILE));
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
};
