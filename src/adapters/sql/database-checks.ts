import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** Thrown at start-up for a server or database that this service cannot use, or tables that were changed by hand; nothing was changed. */
export class DatabaseUnsuitable extends Error {
  override readonly name = 'DatabaseUnsuitable';
}

/** What the migrations make, as `schemaLines` reads it; written by test/tools/expected-schema.ts. */
export const expectedSchema: readonly string[] = readFileSync(new URL('./expected-schema.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');

const SHOWN = 5;

/**
 * Throws `DatabaseUnsuitable`, which names what the migrations made and the database lacks or has otherwise. Additional objects are allowed: an
 * operator may add an index.
 */
export const checkSchema = async (db: Pick<pg.Pool, 'query'>): Promise<void> => {
  const there = new Set(await schemaLines(db));
  const missing = expectedSchema.filter((line) => !there.has(line));
  if (missing.length === 0) return;
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  throw new DatabaseUnsuitable(
    `the tables of the database were changed by hand, missing: ${missing.slice(0, SHOWN).join('; ')}${more}: make them again as the migrations do, or restore a backup`,
  );
};

/**
 * One line per object, in the words of the catalogue: `table t`, `column t.c type`, `constraint t: …`, `index …`, `function f [definer] …`. The same
 * text from every supported version of PostgreSQL. An invalid index counts as missing.
 */
export const schemaLines = async (db: Pick<pg.Pool, 'query'>): Promise<readonly string[]> => {
  const { rows } = await db.query<{ line: string }>(LINES);
  return rows.map(({ line }) => line);
};

/**
 * NOT NULL is shown with its column, because only PostgreSQL 18 and later make it a constraint too. The server writes types and definitions with quotes
 * where an administrator has set `quote_all_identifiers`; each of them needs a row of `own`, which comes after the setting of this transaction.
 */
const LINES = `
with unquoted as materialized (
  select set_config('quote_all_identifiers', 'off', true)
), own as materialized (
  select c.oid, c.relname from unquoted, pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
)
select line from (
  select 'table ' || relname as line from own
  union all
  select 'column ' || o.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || case when a.attnotnull then ' not null' else '' end
    || case when n.collname is null or n.collname = 'default' then '' else ' collate ' || n.collname end
  from own o
  join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
  left join pg_collation n on n.oid = a.attcollation
  union all
  select 'constraint ' || o.relname || ': ' || pg_get_constraintdef(k.oid)
  from own o join pg_constraint k on k.conrelid = o.oid and k.contype in ('c', 'u', 'p', 'f', 'x') and k.convalidated
  union all
  select 'index ' || case when i.indisunique then 'unique ' else '' end || o.relname || ': '
    || regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING ', '')
  from own o join pg_index i on i.indrelid = o.oid and i.indisvalid
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  union all
  select 'function ' || p.proname || case when p.prosecdef then ' definer ' else ' ' end
    || left(encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 16)
  from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.prokind = 'f'
) lines
order by line collate "C"`;

/** The oldest major version that every statement is tested on. */
const OLDEST = 15;
/** `server_version_num` is major * 10000 + minor. */
const PER_MAJOR = 10_000;

type Server = { version: number; shown: string; encoding: string };

/** Throws `DatabaseUnsuitable` with a line for the operator, or the error of the server. */
export const checkServer = async (db: Pick<pg.Pool, 'query'>): Promise<void> => {
  const { rows } = await db.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as shown,
       current_setting('server_encoding') as encoding`,
  );
  const server = rows[0];
  if (server === undefined) throw new DatabaseUnsuitable('the database does not say which version it is');
  if (server.version < OLDEST * PER_MAJOR) {
    throw new DatabaseUnsuitable(`the database is PostgreSQL ${server.shown}: this service needs ${OLDEST} or newer`);
  }
  if (server.encoding !== 'UTF8') {
    throw new DatabaseUnsuitable(`the database's encoding is ${server.encoding}: make one with encoding UTF8`);
  }
};
