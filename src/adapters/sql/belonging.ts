import type pg from 'pg';
import { DatabaseUnsuitable } from './database-checks.js';

/**
 * A condition on a row `c` of pg_class: it is a table of steps as `migrate` makes it. Other programs have tables of the same name with other
 * columns (Rails, golang-migrate). Only the catalogue is asked, because an administrator need not have the right to read the table.
 */
export const IS_HISTORY = `c.relname = 'schema_migrations' and c.relkind in ('r', 'p') and 3 = (
  select count(*) from pg_attribute a
  where a.attrelid = c.oid and a.attname in ('id', 'name', 'checksum') and not a.attisdropped)`;

/** A condition on the same row: the first step of the schema ran beside it. No later step removes or renames that table. */
export const HAS_LOG = `exists (
  select from pg_class l where l.relnamespace = c.relnamespace and l.relname = 'event_log' and l.relkind in ('r', 'p') and 4 = (
    select count(*) from pg_attribute a
    where a.attrelid = l.oid and a.attname in ('stream', 'revision', 'record', 'hash') and not a.attisdropped))`;

/** A condition on the same row and its schema `n`: it is a table, and no part of the server or of an extension. */
export const IS_TABLE_OF_A_USER = `c.relkind in ('r', 'p', 'f', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (
  select from pg_depend d where d.deptype = 'e'
  and ((d.classid = 'pg_class'::regclass and d.objid = c.oid) or (d.classid = 'pg_namespace'::regclass and d.objid = n.oid)))`;

/**
 * Throws `DatabaseUnsuitable` for a database that holds tables and has never been this product's. Only tables count, because a server may put
 * its functions and views into each new database. A table of steps without any step, which a killed setup leaves, does not count. A
 * database of ours may hold what others made.
 */
export const checkBelongs = async (db: Pick<pg.Pool, 'query'>): Promise<void> => {
  const { rows } = await db.query<{ ours: boolean; place: string; found: string | null; more: number }>(HELD);
  const held = rows[0];
  if (held === undefined || held.ours || held.found === null) return;
  const more = held.more > 0 ? ` and ${held.more} more` : '';
  throw new DatabaseUnsuitable(
    `the database ${held.place} belongs to another program, it holds ${held.found}${more}: check the name in DATABASE_URL and DATABASE_OWNER_URL; nothing was changed`,
  );
};

const HELD = `
with foreigners as (
  select 'table ' || format('%I.%I', n.nspname, c.relname) as shown, row_number() over (order by n.nspname, c.relname) as place
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${IS_TABLE_OF_A_USER} and not (${IS_HISTORY})
)
select exists (select from pg_class c where ${IS_HISTORY} and ${HAS_LOG}) as ours,
  quote_ident(current_database()) as place,
  (select shown from foreigners where place = 1) as found,
  (select count(*)::int - 1 from foreigners) as more`;

/** For a condition on the same row: tables of steps and logs that sessions have for themselves do not count. */
const LOGS = `pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${IS_HISTORY} and ${HAS_LOG} and n.nspname !~ '^pg_'`;

/** A schema beside that of the search path which holds a log of this product; undefined without one. */
export const schemaOfOtherLog = async (db: Pick<pg.Pool, 'query'>): Promise<string | undefined> => {
  const { rows } = await db.query<{ schema: string }>(
    `select quote_ident(n.nspname) as schema from ${LOGS} and n.nspname is distinct from current_schema() order by c.oid limit 1`,
  );
  return rows[0]?.schema;
};

/**
 * Throws `DatabaseUnsuitable` when the log of this product lies in another schema than that in which the user of `db` would make tables. An
 * installation made there would be empty, and would share the schemas of the read models with the full one. A copy of the tables in another schema is
 * allowed where the log of the search path has held events.
 */
export const checkSearchPath = async (db: Pick<pg.Pool, 'query'>): Promise<void> => {
  const there = (await schemaOfOtherLog(db)) === undefined ? undefined : (await db.query<Hidden>(HIDDEN)).rows[0];
  if (there === undefined) return;
  if (there.mayUse) throw await elsewhere(db, there.schema);
  throw new DatabaseUnsuitable(
    `the tables of this service are in the schema ${there.schema}, which ${there.user} may not use: run nfse setup database --admin-url-file FILE, where FILE holds the address of the administrator`,
  );
};

type Hidden = { schema: string; user: string; mayUse: boolean };

/** A table that has never held a row has no size, and the size of a table may be asked without a right to read the table. */
const HIDDEN = `
with logs as (
  select c.oid, n.nspname, has_schema_privilege(n.oid, 'usage') as may_use, coalesce(n.nspname = current_schema(), false) as is_here,
    pg_relation_size((select l.oid from pg_class l where l.relnamespace = n.oid and l.relname = 'event_log')) > 0 as is_filled
  from ${LOGS}
)
select quote_ident(nspname) as schema, quote_ident(current_user) as user, may_use as "mayUse" from logs
where not is_here and not exists (select from logs h where h.is_here and (h.is_filled or not logs.is_filled))
order by is_filled desc, oid limit 1`;

/** Throws `DatabaseUnsuitable` when the user of `db` finds no log, or that of another schema than `owner`, who makes the tables, has for its own. */
export const checkSameSchema = async (db: Pick<pg.Pool, 'query'>, owner: Pick<pg.Pool, 'query'>): Promise<void> => {
  const found = await db.query<{ schema: string }>(
    `select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('event_log')`,
  );
  const made = await owner.query<{ schema: string; shown: string }>(
    'select current_schema() as schema, quote_ident(current_schema()) as shown',
  );
  const own = made.rows[0];
  if (own !== undefined && found.rows[0]?.schema !== own.schema) throw await elsewhere(db, own.shown);
};

/** The setting of a role in a database wins over those of the role and of the database. */
const elsewhere = async (db: Pick<pg.Pool, 'query'>, schema: string): Promise<DatabaseUnsuitable> => {
  const { rows } = await db.query<{ line: string }>(
    `select format('the search_path of %I leads to %s: alter role %1$I in database %3$I set search_path = ',
       current_user, coalesce('the schema ' || quote_ident(current_schema()), 'no schema'), current_database()) as line`,
  );
  return new DatabaseUnsuitable(
    `the tables of this service are in the schema ${schema}, and ${rows[0]?.line ?? ''}${schema}`,
  );
};

/** A database beside `database` in which the role `name` owns something or has a right; undefined without one, or without such a role. */
export const otherDatabaseOf = async (
  db: Pick<pg.Pool, 'query'>,
  name: string,
  database: string,
): Promise<string | undefined> => {
  const { rows } = await db.query<{ other: string }>(
    `select quote_ident(d.datname) as other from pg_database d join pg_roles r on r.rolname = $1
     where d.datname <> $2 and (d.datdba = r.oid or exists (
       select from pg_shdepend s where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid
       and (s.dbid = d.oid or (s.classid = 'pg_database'::regclass and s.objid = d.oid))))
     order by d.datname limit 1`,
    [name, database],
  );
  return rows[0]?.other;
};
