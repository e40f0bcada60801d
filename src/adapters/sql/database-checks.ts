import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { atAddress } from './errors.js';
import { overPool } from './pool.js';
import { inTransaction } from './transaction.js';

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
  where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind in ('r', 'p')
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
  from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace and p.prokind = 'f'
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

/**
 * Throws `DatabaseUnsuitable` when the addresses of owner and service lead to two databases. Their texts may differ, by host names or a proxy. Therefore
 * the service looks for a lock of the owner, which only sessions of the same database of the same running server see. The locks of a
 * primary do not show on its standby, of which the name of the database has to do.
 */
export const checkSameDatabase = async (owner: pg.Pool, service: Pick<pg.Pool, 'query'>): Promise<void> => {
  const [own, served] = await inTransaction(owner, async (client) => {
    const key = [randomInt(KEYS), randomInt(KEYS)];
    await client.query('select pg_advisory_xact_lock_shared($1::int, $2::int)', key);
    return [await seenBy(client, key), await atAddress('DATABASE_URL', seenBy(service, key))];
  });
  if (own.name === served.name && (served.seesLock || own.isStandby || served.isStandby)) return;
  const shown = own.name === served.name ? `a database ${own.name} of another server` : `the database ${own.name}`;
  throw new DatabaseUnsuitable(
    `DATABASE_OWNER_URL leads to ${shown}, and DATABASE_URL to ${served.name}: both must lead to one database`,
  );
};

/** Keys are positive `int` of PostgreSQL. */
const KEYS = 2 ** 31;

type Seen = { name: string; isStandby: boolean; seesLock: boolean };

const NOTHING: Seen = { name: '', isStandby: false, seesLock: false };

const seenBy = async (db: Pick<pg.Pool, 'query'>, key: number[]): Promise<Seen> => {
  const { rows } = await db.query<Seen>(SEEN, key);
  return rows[0] ?? NOTHING;
};

/** `objsubid` 2: a lock with a key of two parts. */
const SEEN = `
select current_database() as name, pg_is_in_recovery() as "isStandby", exists (
  select from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 2
  and l.classid = $1::bigint::oid and l.objid = $2::bigint::oid) as "seesLock"`;

/** For an operator whose pooler gives a connection another session at any transaction. */
export const SHARED_SESSIONS =
  'the address of the database leads to a pooler that gives each transaction another session, and this service keeps locks in its sessions: set pool_mode = session, or use the address of the server itself (docs/operations/postgresql.md#poolers)';

/** Another client of the pooler may get the session between two questions. */
const ROUNDS = 3;

/**
 * Throws `DatabaseUnsuitable` where the address of the pool leads to a pooler in transaction mode. There the locks of leaders would stay in sessions that
 * no process owns. A pooler gives its clients other numbers than those of the server's sessions; nothing more is asked where the numbers agree.
 */
export const refuseSharedSessions = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    if (numberGivenTo(client) === (await sessionOf(client))) return;
    if (await isShared(client, pool)) throw new DatabaseUnsuitable(SHARED_SESSIONS);
  } finally {
    client.release();
  }
};

/**
 * An idle pooler gives the session that was freed last, so that two connections get the same one. One that takes turns gives a connection
 * another session each time.
 */
const isShared = async (client: pg.PoolClient, { options }: pg.Pool): Promise<boolean> => {
  const { connectionString = '', application_name: applicationName = '' } = options;
  return await overPool({ connectionString, applicationName }, async (others) => {
    const other = await others.connect();
    try {
      const own = await sessionOf(client);
      for (let round = 0; round < ROUNDS; round += 1) {
        if ((await sessionOf(client)) !== own || (await sessionOf(other)) === own) return true;
      }
      return false;
    } finally {
      other.release();
    }
  });
};

/** The number of the session as the server or pooler gave it to the driver, whose types lack it. */
const numberGivenTo = (client: pg.PoolClient & { processID?: number | null }): number | null | undefined =>
  client.processID;

const sessionOf = async (client: pg.PoolClient): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
