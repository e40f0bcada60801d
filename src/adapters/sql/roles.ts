import pg from 'pg';
import { withSchemaLock } from './migrate.js';

export type Login = { name: string; password: string };

export type Roles = {
  /** Owns the database's schema and makes its steps. */
  owner: Login;
  /** What the service and the operator's commands connect as. */
  service: Login;
};

/**
 * Makes the two roles, or sets their passwords and takes their attributes away; called by an administrator. Roles belong to the
 * whole server, so this may be called in any of its databases.
 */
export const prepareRoles = (admin: pg.Pool, { owner, service }: Roles): Promise<void> =>
  withSchemaLock(admin, async (client) => {
    for (const login of [owner, service]) await prepareRole(client, login);
  });

const ATTRIBUTES = ['superuser', 'createrole', 'createdb', 'replication', 'bypassrls'];

const prepareRole = async (client: pg.PoolClient, { name, password }: Login): Promise<void> => {
  const role = pg.escapeIdentifier(name);
  const { rows } = await client.query<{ excess: boolean }>(
    `select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as excess
     from pg_roles where rolname = $1`,
    [name],
  );
  if (rows[0] === undefined) await client.query(`create role ${role}`);
  // An administrator who is no superuser may not even deny these.
  if (rows[0]?.excess === true)
    await client.query(`alter role ${role} ${ATTRIBUTES.map((attribute) => `no${attribute}`).join(' ')}`);
  await client.query(`alter role ${role} login password ${pg.escapeLiteral(password)}`);
};

/**
 * Gives what the product has made in this database to `owner`, and the read models to `service`; called by an administrator of the
 * database before the schema's steps. All or nothing, and repeats do no harm, so that a database of a version that knew one user
 * is taken over in whatever state it was left.
 */
export const handOver = (admin: pg.Pool, owner: string, service: string): Promise<void> =>
  withSchemaLock(admin, async (client) => {
    await client.query('begin');
    const lent = await borrow(client, [owner, service]);
    const { rows } = await client.query<{ statement: string }>(STATEMENTS, [owner, service]);
    for (const { statement } of rows) await client.query(statement);
    for (const role of lent) await client.query(`revoke ${pg.escapeIdentifier(role)} from current_user`);
    await client.query('commit');
  });

/** Who is no superuser must be a member of whom he gives something to. */
const borrow = async (client: pg.PoolClient, roles: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await client.query<{ role: string }>(
    `select role from unnest($1::text[]) role where not pg_has_role(current_user, role, 'usage')`,
    [roles],
  );
  for (const { role } of rows) await client.query(`grant ${pg.escapeIdentifier(role)} to current_user`);
  return rows.map(({ role }) => role);
};

/** The schema of the tables is where the history of the steps is, or where a new one would be. In this order, for each needs the last. */
const STATEMENTS = `
with home as (
  select coalesce((select relnamespace from pg_class where relname = 'schema_migrations' and relkind = 'r' limit 1),
    'public'::regnamespace) as oid
), parts as (
  select n.oid, n.nspname, n.nspowner,
    case when n.oid = home.oid then 'home' when n.nspname = 'read' then 'read' else 'projection' end as part
  from pg_namespace n, home
  where n.oid = home.oid or n.nspname = 'read' or n.nspname ~ '^p_[a-z0-9_]+_v[0-9]+_g[0-9]+$'
), roles as (
  select $1::text as owner, $2::text as service
), given as (
  select 1 as turn, format('alter database %I owner to %I', datname, owner) as statement, datdba as has, owner as gets
  from pg_database, roles where datname = current_database()
  union all
  select 3, format('alter schema %I owner to %I', nspname, owner), nspowner, owner from parts, roles where part <> 'home'
  union all
  select 4, format('alter %s %I.%I owner to %I', case c.relkind when 'v' then 'view' else 'table' end, p.nspname, c.relname, gets),
    c.relowner, gets
  from roles, parts p join pg_class c on c.relnamespace = p.oid and c.relkind in ('r', 'p', 'v'),
    lateral (select case p.part when 'home' then owner else service end as gets) g
  union all
  select 5, format('alter function %s owner to %I', f.oid::regprocedure, owner), f.proowner, owner
  from roles, parts p join pg_proc f on f.pronamespace = p.oid and f.prokind = 'f' where p.part = 'home'
), statements as (
  select turn, statement from given where has <> quote_ident(gets)::regrole
  union all
  select 2, format('revoke temporary on database %I from public', current_database())
  union all
  select 2, format('grant connect on database %I to %I, %I', current_database(), owner, service) from roles
  union all
  select 2, format('grant usage, create on schema %I to %I', nspname, owner) from parts, roles
  union all
  select 2, format('grant usage on schema %I to %I', nspname, service) from parts, roles
  union all
  select 2, format('grant create on schema %I to %I', nspname, service) from parts, roles where part <> 'home'
)
select statement from statements order by turn`;
