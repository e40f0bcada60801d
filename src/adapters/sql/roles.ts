import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import pg from 'pg';
import { errorCode } from '../../lib/error-code.js';
import { HAS_LOG, IS_HISTORY, IS_TABLE_OF_A_USER } from './belonging.js';
import { DatabaseUnsuitable, expectedSchema } from './database-checks.js';
import { withSchemaLock } from './migrate.js';

export type Login = { name: string; password: string };

type Roles = {
  /** Owns the schema of the database and runs the migrations. */
  owner: Login;
  /** The service and the operator's commands connect as this role. */
  service: Login;
};

/**
 * Creates the two roles, or sets their passwords and removes attributes that they must not have. An administrator calls it. Roles belong to the
 * whole server, so any of its databases will do. Throws `DatabaseUnsuitable` when a module of the server refuses a password.
 */
export const prepareRoles = (admin: pg.Pool, { owner, service }: Roles): Promise<void> =>
  withSchemaLock(admin, async (client) => {
    for (const login of [owner, service]) await prepareRole(client, login);
  });

const ATTRIBUTES = ['superuser', 'createrole', 'createdb', 'replication', 'bypassrls'];

/** Whether the role has attributes that `prepareRoles` takes away; undefined when there is no such role. */
export const hasExcess = async (db: Pick<pg.Pool, 'query'>, name: string): Promise<boolean | undefined> => {
  const { rows } = await db.query<{ excess: boolean }>(
    `select rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as excess
     from pg_roles where rolname = $1`,
    [name],
  );
  return rows[0]?.excess;
};

const prepareRole = async (client: pg.PoolClient, { name, password }: Login): Promise<void> => {
  const role = pg.escapeIdentifier(name);
  const excess = await hasExcess(client, name);
  if (excess === undefined) await client.query(`create role ${role}`);
  // Only a superuser may name these attributes, even to remove them.
  if (excess === true)
    await client.query(`alter role ${role} ${ATTRIBUTES.map((attribute) => `no${attribute}`).join(' ')}`);
  const verifier = pg.escapeLiteral(await scramVerifier(password));
  await client.query(`alter role ${role} login password ${verifier}`).catch((error: unknown) => {
    const line = refusals[errorCode(error) ?? ''];
    throw line === undefined ? error : new DatabaseUnsuitable(line(name));
  });
};

const noVerifier = (code: string) => (role: string) =>
  `a module of the server takes no SCRAM verifier for the role ${role} (${code}): allow verifiers for this command (credcheck: encrypted_password_allowed)`;

/** By the SQLSTATE with which a module of the server refuses: passwordcheck 22023, credcheck 28000, older ones the code of a fault. */
const refusals: Readonly<Record<string, (role: string) => string>> = {
  '22023': (role) =>
    `the server refuses the password of the role ${role} (22023): choose another one, which is not the role's name`,
  '28000': noVerifier('28000'),
  XX000: noVerifier('XX000'),
};

/** As PostgreSQL and libpq have it. */
const ROUNDS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5803), which PostgreSQL stores as it is sent. The password itself is in no statement, so it cannot
 * reach the server's log or pg_stat_statements.
 */
const scramVerifier = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const salted = await promisify(pbkdf2)(prepared(password), salt, ROUNDS, KEY_BYTES, 'sha256');
  const stored = createHash('sha256').update(keyOf(salted, 'Client Key')).digest();
  const parts = [salt, stored, keyOf(salted, 'Server Key')].map((part) => part.toString('base64'));
  return `SCRAM-SHA-256$${ROUNDS}:${parts[0]}$${parts[1]}:${parts[2]}`;
};

const keyOf = (salted: Buffer, name: string): Buffer => createHmac('sha256', salted).update(name).digest();

/**
 * SASLprep (RFC 4013) without its prohibitions, exactly as the driver prepares the password of a sign-in. libpq signs in with the raw password where
 * it holds a prohibited or newer character, so the two differ only for such a password that these steps change as well.
 */
const prepared = (password: string): string =>
  password.replace(OTHER_SPACES, ' ').replace(MAPPED_TO_NOTHING, '').normalize('NFKC');

/** RFC 3454, table C.1.2. */
const OTHER_SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g;

/** RFC 3454, table B.1. An alternation, because some of these characters join with their neighbours in a class. */
const MAPPED_TO_NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g;

/**
 * Makes `owner` the owner of what the product has made in the database, and `service` the owner of the read models. What others made stays theirs,
 * and the database too where it holds tables of others; otherwise `owner` gets it. An administrator of the database calls it before the migrations.
 * It runs in one transaction and may be repeated, so it takes over a database of a version with one user from any state.
 */
export const assignOwners = (admin: pg.Pool, owner: string, service: string): Promise<void> =>
  withSchemaLock(admin, async (client) => {
    await client.query('begin');
    const joined = await joinRoles(client, [owner, service]);
    const { rows } = await client.query<{ statement: string }>(STATEMENTS, [
      owner,
      service,
      namesOf('table'),
      namesOf('function'),
    ]);
    for (const { statement } of rows) await client.query(statement);
    for (const role of joined) await client.query(`revoke ${pg.escapeIdentifier(role)} from current_user`);
    await client.query('commit');
  });

/** Makes the current user a member of the roles, because only a superuser may give objects to other roles. Returns the roles that were granted. */
const joinRoles = async (client: pg.PoolClient, roles: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await client.query<{ role: string }>(
    `select role from unnest($1::text[]) role where not pg_has_role(current_user, role, 'usage')`,
    [roles],
  );
  for (const { role } of rows) await client.query(`grant ${pg.escapeIdentifier(role)} to current_user`);
  return rows.map(({ role }) => role);
};

/** Names of all that any version has made in the home schema: no step has removed or renamed a table or a function. */
const namesOf = (kind: 'table' | 'function'): readonly string[] =>
  expectedSchema.flatMap((line) => {
    const [what, name = ''] = line.split(' ');
    return what === kind ? [name] : [];
  });

/**
 * The home schema is that of our table of migrations, otherwise `public` if there is one; another program's table of that name may be in another
 * schema. Each turn of the statements needs the turns before.
 */
const STATEMENTS = `
with home as (
  select coalesce(
    (select c.relnamespace from pg_class c where ${IS_HISTORY} order by ${HAS_LOG} desc, c.oid limit 1),
    to_regnamespace('public')) as oid
), parts as (
  select n.oid, n.nspname, n.nspowner,
    case when n.oid = home.oid then 'home' when n.nspname = 'read' then 'read' else 'projection' end as part
  from pg_namespace n, home
  where n.oid = home.oid or n.nspname = 'read' or n.nspname ~ '^p_[a-z0-9_]+_v[0-9]+_g[0-9]+$'
), roles as (
  select $1::text as owner, $2::text as service
), shared as (
  select exists (
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace left join parts p on p.oid = n.oid
    where ${IS_TABLE_OF_A_USER} and (p.part is null or (p.part = 'home' and c.relname <> all($3)))) as with_others
), given as (
  select 1 as turn, format('alter database %I owner to %I', datname, owner) as statement, datdba as has, owner as gets
  from pg_database, roles, shared where datname = current_database() and not with_others
  union all
  select 3, format('alter schema %I owner to %I', nspname, owner), nspowner, owner from parts, roles where part <> 'home'
  union all
  select 4, format('alter %s %I.%I owner to %I', case c.relkind when 'v' then 'view' else 'table' end, p.nspname, c.relname, gets),
    c.relowner, gets
  from roles, parts p join pg_class c on c.relnamespace = p.oid and c.relkind in ('r', 'p', 'v'),
    lateral (select case p.part when 'home' then owner else service end as gets) g
  where p.part <> 'home' or c.relname = any($3)
  union all
  select 5, format('alter function %s owner to %I', f.oid::regprocedure, owner), f.proowner, owner
  from roles, parts p join pg_proc f on f.pronamespace = p.oid and f.prokind = 'f'
  where p.part = 'home' and f.proname = any($4)
), statements as (
  select turn, statement from given where has <> quote_ident(gets)::regrole
  union all
  select 2, format('revoke temporary on database %I from public', current_database()) from shared where not with_others
  union all
  select 2, format('grant create on database %I to %I', current_database(), owner) from roles, shared where with_others
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

/** Only functions of the owner change or remove rows of these tables (ADR 33). */
const LOG_TABLES = ['event_log', 'event_log_head'];
/** A service without the owner's address reads `schema_migrations` to see whether a migration is missing. */
const READ_ONLY = [...LOG_TABLES, 'schema_migrations'];
const OWNERS_FUNCTIONS = [
  'event_log_append',
  'event_log_append_guarded',
  'event_log_cut',
  'projection_schema_make',
  'projection_schema_drop',
];

/**
 * Grants the role `service` what the product needs and revokes rights beyond that. The owner of the tables calls it after the migrations, and it
 * covers all tables of the owner. Repeating it does no harm.
 */
export const grantService = async (owner: pg.Pool, service: string): Promise<void> => {
  // Every operator's command calls this, and a grant writes into the catalogue even when it changes nothing.
  if ((await owner.query(WRONG_RIGHTS, [service, READ_ONLY, OWNERS_FUNCTIONS])).rowCount === 0) return;
  await withSchemaLock(owner, async (client) => {
    const { rows } = await client.query<OwnObjects>(OWN_OBJECTS);
    const owned = rows[0];
    if (owned !== undefined) await client.query(['begin', ...grants(owned, service), 'commit'].join(';\n'));
  });
};

/** Quoted names. Objects of other owners in these schemas are left alone. */
type OwnObjects = { schema: string; tables: string[]; projections: string[] };

const OWN_OBJECTS = `
select quote_ident(current_schema()) as schema,
  array(select quote_ident(c.relname) from pg_class c where c.relnamespace = quote_ident(current_schema())::regnamespace
    and c.relkind in ('r', 'p') and c.relowner = quote_ident(current_user)::regrole) as tables,
  array(select quote_ident(n.nspname) from pg_namespace n where n.nspname ~ '^p_.*_g[0-9]+$'
    and n.nspowner = quote_ident(current_user)::regrole) as projections`;

/** A row for each object of the owner on which the service has too few or too many rights. */
const WRONG_RIGHTS = `
with tables as (
  select c.oid, c.relname = any($2) as read_only from pg_class c
  where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relkind in ('r', 'p') and c.relowner = quote_ident(current_user)::regrole
)
select oid from tables, (values ('insert'), ('update'), ('delete')) r (privilege)
where has_table_privilege($1, oid, privilege) = read_only or not has_table_privilege($1, oid, 'select')
union all
select oid from tables where read_only
  and (has_table_privilege($1, oid, 'truncate') or has_any_column_privilege($1, oid, 'insert, update'))
union all
select p.oid from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace and p.proname = any($3)
  and (not has_function_privilege($1, p.oid, 'execute') or p.proacl is null or p.proacl::text ~ '[{,]=X')
union all
select n.oid from pg_namespace n
where (n.nspname = 'read' or n.nspname ~ '^p_.*_g[0-9]+$') and n.nspowner = quote_ident(current_user)::regrole
  and not (has_schema_privilege($1, n.oid, 'usage') and has_schema_privilege($1, n.oid, 'create'))
union all
select quote_ident(current_schema())::regnamespace where not has_schema_privilege($1, current_schema(), 'usage')`;

const grants = ({ schema, tables, projections }: OwnObjects, service: string): readonly string[] => {
  const to = pg.escapeIdentifier(service);
  const within = (names: readonly string[]): string => names.map((name) => `${schema}.${name}`).join(', ');
  return [
    `grant usage on schema ${[schema, 'read', ...projections].join(', ')} to ${to}`,
    `grant create on schema ${['read', ...projections].join(', ')} to ${to}`,
    `revoke all on ${within(READ_ONLY)} from ${to}`,
    `grant select on ${within(READ_ONLY)} to ${to}`,
    `grant select, insert, update, delete on ${within(tables.filter((table) => !READ_ONLY.includes(table)))} to ${to}`,
    // After a restore without privileges every role may call these functions.
    `revoke all on function ${within(OWNERS_FUNCTIONS)} from public`,
    `grant execute on function ${within(OWNERS_FUNCTIONS)} to ${to}`,
  ];
};

/** Rights of the user of `db` that the product never needs, in words for an operator; empty for a user with least rights. */
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
    where c.relnamespace = quote_ident(current_schema())::regnamespace and c.relname = any($1)),
  (select string_agg(r.privilege || ' on ' || t.name, ', ' order by t.name, r.privilege)
    from unnest($1::text[]) t (name), (values ('delete'), ('insert'), ('truncate'), ('trigger')) r (privilege)
    where has_table_privilege(t.name, r.privilege)),
  (select 'update on ' || string_agg(t.name, ', ' order by t.name) from unnest($1::text[]) t (name)
    where has_any_column_privilege(t.name, 'update')),
  case when has_schema_privilege(current_schema(), 'create') then 'create in schema ' || current_schema() end,
  case when has_database_privilege(current_database(), 'create') then 'create in the database' end
], null) as excess`;
