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

/**
 * Throws `DatabaseUnsuitable` for a database that holds something and has never been this product's. Extensions, empty schemas and a table of steps
 * without any step, which a killed setup leaves, are nothing. A database of ours may hold what others made.
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
with objects as (
  select 'pg_class'::regclass as class, c.oid, c.relnamespace as schema, c.relname as name,
    case c.relkind when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence' when 'c' then 'type' else 'table' end as kind
  from pg_class c where c.relkind in ('r', 'p', 'f', 'v', 'm', 'S', 'c') and not (${IS_HISTORY})
  union all
  select 'pg_proc'::regclass, p.oid, p.pronamespace, p.proname, 'function' from pg_proc p
  union all
  select 'pg_type'::regclass, t.oid, t.typnamespace, t.typname, 'type' from pg_type t where t.typtype in ('d', 'e', 'r')
), foreigners as (
  select o.kind || ' ' || format('%I.%I', n.nspname, o.name) as shown,
    row_number() over (order by o.kind <> 'table', n.nspname, o.name) as place
  from objects o join pg_namespace n on n.oid = o.schema
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and not exists (
    select from pg_depend d where d.deptype = 'e'
    and ((d.classid = o.class and d.objid = o.oid) or (d.classid = 'pg_namespace'::regclass and d.objid = n.oid)))
)
select exists (select from pg_class c where ${IS_HISTORY} and ${HAS_LOG}) as ours,
  quote_ident(current_database()) as place,
  (select shown from foreigners where place = 1) as found,
  (select count(*)::int - 1 from foreigners) as more`;

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
