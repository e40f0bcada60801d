import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import { type Migration, migrate } from '../sql/migrate.js';
import { type BackupManifest, BackupRefused, type BackupTable } from './backup-manifest.js';

const ROWS_AT_ONCE = 500;
const TEXT_AT_ONCE = 8 * 1024 * 1024;

/**
 * Loads a backup whose files were checked into an empty database: first the steps of the schema that it was made with, then its
 * rows in one transaction, then the steps that came later. Throws `BackupRefused` for a backup of a newer version, and what
 * PostgreSQL says.
 */
export const loadBackup = async (
  folder: string,
  manifest: BackupManifest,
  { db, migrations }: { db: pg.Pool; migrations: readonly Migration[] },
  onProgress: (table: string, rows: number) => void,
): Promise<void> => {
  const last = manifest.schema.at(-1)?.id ?? 0;
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
  const client = await db.connect();
  try {
    await client.query('begin');
    await client.query('set local statement_timeout = 0');
    for (const table of manifest.tables) {
      await loadTable(client, table, folder);
      onProgress(table.name, table.rows);
    }
    await client.query('commit');
  } finally {
    client.release(true);
  }
  await migrate(db, migrations);
};

/** The steps have the same text as when the backup was made, so that its rows fit. */
const checkSteps = async (db: pg.Pool, { schema }: BackupManifest): Promise<void> => {
  const { rows } = await db.query<{ id: number; checksum: string }>('select id, checksum from schema_migrations');
  const made = new Map(rows.map(({ id, checksum }) => [id, checksum]));
  const other = schema.find(({ id, checksum }) => made.get(id) !== checksum);
  if (other !== undefined)
    throw new BackupRefused(
      `step ${other.id}-${other.name} of the schema is not the one that the backup was made with`,
    );
};

const loadTable = async (client: pg.PoolClient, table: BackupTable, folder: string): Promise<void> => {
  const name = `"${table.name.replaceAll('"', '""')}"`;
  // What a step of the schema puts in by itself: the backup has its own.
  await client.query(`delete from ${name}`);
  let loaded = 0;
  let page: string[] = [];
  let size = 0;
  const save = async (): Promise<void> => {
    const insert = `insert into ${name} select * from json_populate_recordset(null::${name}, $1::json)`;
    loaded += (await client.query(insert, [`[${page.join(',')}]`])).rowCount ?? 0;
    page = [];
    size = 0;
  };
  for await (const line of linesOf(join(folder, table.file))) {
    page.push(line);
    size += line.length;
    if (page.length === ROWS_AT_ONCE || size > TEXT_AT_ONCE) await save();
  }
  if (page.length > 0) await save();
  if (loaded !== table.rows) throw new BackupRefused(`${table.file} holds ${loaded} rows in place of ${table.rows}`);
};

/** Ends at line feeds only: other characters that end lines elsewhere may stand inside a row. */
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
