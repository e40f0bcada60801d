import pg from 'pg';
import { withSchemaLock } from './migrate.js';

/** Their rows are changed and removed by functions of their owner alone. */
const LOG_TABLES = ['event_log', 'event_log_head'];
/** `schema_migrations`: a service without its owner's address looks there whether a step is missing. */
const READ_ONLY = [...LOG_TABLES, 'schema_migrations'];
const OWNERS_FUNCTIONS = ['event_log_append', 'event_log_cut', 'projection_schema_make', 'projection_schema_drop'];

/**
 * Gives the role `service` what the product needs, and takes back what is above that; called by the owner of the tables, after the
 * steps of the schema, whose tables it covers whatever they are called. Repeats do no harm.
 */
export const grantService = (owner: pg.Pool, service: string): Promise<void> =>
  withSchemaLock(owner, async (client) => {
    // Every command of an operator comes here, and a grant writes into the catalogue even when it changes nothing.
    if ((await client.query(LACKING, [service, READ_ONLY, OWNERS_FUNCTIONS])).rowCount === 0) return;
    const { rows } = await client.query<Owned>(OWNED);
    const owned = rows[0];
    if (owned !== undefined) await client.query(['begin', ...grants(owned, service), 'commit'].join(';\n'));
  });

/** Quoted names. What somebody else has made in these schemas is not ours to give. */
type Owned = { schema: string; tables: string[]; projections: string[] };

const OWNED = `
select quote_ident(current_schema()) as schema,
  array(select quote_ident(c.relname) from pg_class c where c.relnamespace = current_schema()::regnamespace
    and c.relkind in ('r', 'p') and c.relowner = current_user::regrole) as tables,
  array(select quote_ident(n.nspname) from pg_namespace n where n.nspname ~ '^p_.*_g[0-9]+$'
    and n.nspowner = current_user::regrole) as projections`;

/** A row for each thing of the owner on which the service has a right too few or too many. */
const LACKING = `
with tables as (
  select c.oid, c.relname = any($2) as read_only from pg_class c
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relowner = current_user::regrole
)
select oid from tables, (values ('insert'), ('update'), ('delete')) r (privilege)
where has_table_privilege($1, oid, privilege) = read_only or not has_table_privilege($1, oid, 'select')
union all
select oid from tables where read_only
  and (has_table_privilege($1, oid, 'truncate') or has_any_column_privilege($1, oid, 'insert, update'))
union all
select p.oid from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.proname = any($3)
  and (not has_function_privilege($1, p.oid, 'execute') or p.proacl is null or p.proacl::text ~ '[{,]=X')
union all
select n.oid from pg_namespace n
where (n.nspname = 'read' or n.nspname ~ '^p_.*_g[0-9]+$') and n.nspowner = current_user::regrole
  and not (has_schema_privilege($1, n.oid, 'usage') and has_schema_privilege($1, n.oid, 'create'))
union all
select current_schema()::regnamespace where not has_schema_privilege($1, current_schema(), 'usage')`;

const grants = ({ schema, tables, projections }: Owned, service: string): readonly string[] => {
  const to = pg.escapeIdentifier(service);
  const within = (names: readonly string[]): string => names.map((name) => `${schema}.${name}`).join(', ');
  return [
    `grant usage on schema ${[schema, 'read', ...projections].join(', ')} to ${to}`,
    `grant create on schema ${['read', ...projections].join(', ')} to ${to}`,
    `revoke all on ${within(READ_ONLY)} from ${to}`,
    `grant select on ${within(READ_ONLY)} to ${to}`,
    `grant select, insert, update, delete on ${within(tables.filter((table) => !READ_ONLY.includes(table)))} to ${to}`,
    // A dump that is put back without its privileges lets everybody call them.
    `revoke all on function ${within(OWNERS_FUNCTIONS)} from public`,
    `grant execute on function ${within(OWNERS_FUNCTIONS)} to ${to}`,
  ];
};

/** What the user of `db` may do that the product never does, in words for an operator; empty for one with least rights. */
export const excessRights = async (db: Pick<pg.Pool, 'query'>): Promise<readonly string[]> => {
  const { rows } = await db.query<{ excess: string[] }>(EXCESS, [LOG_TABLES]);
  return rows[0]?.excess ?? [];
};

/** Rights that come by a membership count, whether they are inherited or have to be taken by SET ROLE. */
const EXCESS = `
with me as (select * from pg_roles where rolname = current_user),
mine as (select r.* from pg_roles r, me where r.oid = me.oid or (not me.rolsuper and pg_has_role(current_user, r.oid, 'member')))
select array_remove(array[
  case when (select bool_or(rolsuper) from mine) then 'superuser' end,
  case when (select bool_or(rolcreaterole) from mine) then 'createrole' end,
  case when (select bool_or(rolcreatedb) from mine) then 'createdb' end,
  case when (select bool_or(rolreplication) from mine) then 'replication' end,
  case when (select bool_or(rolbypassrls) from mine) then 'bypassrls' end,
  (select 'member of ' || string_agg(rolname, ', ' order by rolname) from mine where rolname in
    ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_write_all_data')),
  case when (select bool_or(d.datdba = m.oid) from pg_database d, mine m where d.datname = current_database())
    then 'owner of the database' end,
  (select 'owner of ' || string_agg(distinct c.relname, ', ') from pg_class c join mine m on m.oid = c.relowner
    where c.relnamespace = current_schema()::regnamespace and c.relname = any($1)),
  (select string_agg(r.privilege || ' on ' || t.name, ', ' order by t.name, r.privilege)
    from unnest($1::text[]) t (name), (values ('delete'), ('insert'), ('truncate'), ('trigger')) r (privilege)
    where has_table_privilege(t.name, r.privilege)),
  (select 'update on ' || string_agg(t.name, ', ' order by t.name) from unnest($1::text[]) t (name)
    where has_any_column_privilege(t.name, 'update')),
  case when has_schema_privilege(current_schema(), 'create') then 'create in schema ' || current_schema() end,
  case when has_database_privilege(current_database(), 'create') then 'create in the database' end
], null) as excess`;
