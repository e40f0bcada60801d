import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';

/** Every row of every table and materialized view, of all schemas but PostgreSQL's own, each as text; bytes as they read. */
export const everyRow = async (pool: pg.Pool): Promise<readonly { table: string; text: string }[]> => {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'm') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg_toast%'`,
  );
  const found: { table: string; text: string }[] = [];
  for (const { name: table } of tables) {
    const { rows } = await pool.query<{ line: string }>(`select row_to_json(t)::text as line from ${table} t`);
    for (const { line } of rows) found.push({ table, text: line.replace(/\\\\x((?:[0-9a-f]{2})+)/g, unhexed) });
  }
  return found;
};

const unhexed = (_whole: string, hex: string): string => Buffer.from(hex, 'hex').toString('utf8');

/** Files below the folder, by their names from there on, in which one of the words stands. */
export const filesWith = async (folder: string, words: readonly string[]): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of names.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    if (words.some((word) => bytes.includes(word))) found.push(path.slice(folder.length + 1));
  }
  return found;
};
