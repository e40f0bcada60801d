import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { excessRights } from '../../../src/adapters/sql/roles.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { durabilityChecks } from '../../../src/runtime/operator/database-checks.js';
import { openOn } from '../../support/harness/open-engines.js';
import { runSetupDatabase } from '../../support/harness/setup-database.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Owner and rights of every database, schema, table, function and type, and every role with its password: what setup could change. */
const STATE = `
select 'database' as what, datname::text as name, datdba::regrole::text as owner, datacl::text as rights from pg_database
union all select 'schema', nspname, nspowner::regrole::text, nspacl::text from pg_namespace where nspname !~ '^pg_t'
union all select 'table', oid::regclass::text, relowner::regrole::text, relacl::text from pg_class where oid >= 16384
union all select 'function', oid::regprocedure::text, proowner::regrole::text, proacl::text from pg_proc where oid >= 16384
union all select 'type', oid::regtype::text, typowner::regrole::text, typacl::text from pg_type where oid >= 16384
union all select 'role', rolname, rolpassword, array[rolsuper, rolcreatedb, rolcreaterole, rolcanlogin]::text from pg_authid
union all select 'member', roleid::regrole::text, member::regrole::text, '' from pg_auth_members`;

const RAILS = 'create table orders (n int); create table schema_migrations (version text primary key)';
const GOLANG = 'create table orders (n int); create table schema_migrations (version bigint, dirty boolean)';
const CHECK = 'check the name in DATABASE_URL and DATABASE_OWNER_URL; nothing was changed';

describeWithPostgres('nfse setup database with an administrator', () => {
  let server: FreshDatabase;
  let name: string;
  let folder: string;
  /** The administrator of the server, in the database that the addresses name. */
  let inside: pg.Pool;
  beforeEach(async () => {
    server = await emptyDatabase();
    name = `shop_${randomUUID().replaceAll('-', '')}`;
    folder = temporaryFolder();
    const { connectionString = '' } = server.admin.options;
    writeFileSync(join(folder, 'admin-url'), connectionString);
    await server.admin.query(`create role ${name} login createdb password 'theirs'`);
    await server.admin.query(`create database ${name} owner ${name} template template0`);
    const url = new URL(connectionString);
    url.pathname = `/${name}`;
    inside = new pg.Pool({ connectionString: url.href, max: 1 });
  });
  afterEach(async () => {
    await inside.end();
    await server.close();
  });

  const address = (user: string, password: string, database = name): string =>
    `postgres://${user}:${password}@${new URL(server.connectionString).host}/${database}`;
  const ofService = () => address(`${name}_s`, 's');

  const setUp = (more: NodeJS.ProcessEnv = {}) =>
    runSetupDatabase(
      { DATABASE_URL: ofService(), DATABASE_OWNER_URL: address(`${name}_o`, 'o'), ...more },
      '--admin-url-file',
      join(folder, 'admin-url'),
    ).catch(startupFault);

  /** As the program that has the database. */
  const asShop = async (statements: string): Promise<void> => {
    await inside.query(`set role ${name}`);
    await inside.query(statements);
    await inside.query('reset role');
  };

  /** Rows that other tests change meanwhile have names of their own. */
  const state = async (): Promise<readonly string[]> => {
    const rows = (await inside.query<Record<string, string>>(STATE)).rows;
    return rows
      .map((row) => JSON.stringify(row))
      .filter((row) => row.includes(name) || !/"(role|database|member)"/.test(row));
  };

  it.each([
    ['tables of Rails', RAILS, 'table public.orders and 1 more'],
    ['tables of golang-migrate', GOLANG, 'table public.orders and 1 more'],
    ['tables without migrations', 'create table orders (n int)', 'table public.orders'],
    ['a table in a schema', 'create schema shop; create table shop.orders (n int)', 'table shop.orders'],
    [
      'a log and a history of others',
      'create table event_log (id int); create table schema_migrations (id int, name text, checksum text)',
      'table public.event_log',
    ],
  ])('refuses a database that holds %s, and changes nothing', async (_what, theirs, found) => {
    await asShop(theirs);
    const before = await state();
    expect(before.length).toBeGreaterThan(2);
    expect(await setUp()).toEqual({
      exit: 2,
      line: `the database ${name} belongs to another program, it holds ${found}: ${CHECK}`,
    });
    expect(await state()).toEqual(before);
  });

  it.each([
    ['nothing', 'select 1'],
    ['an extension', 'create extension if not exists hstore'],
    ['an empty schema', 'create schema reports'],
    [
      'functions, views and types that the server puts into each database',
      `create schema watch; create function watch.one() returns int language sql as 'select 1'; create view watch.two as select 2 as n; create type watch.state as enum ('up')`,
    ],
    [
      'a schema of the owner in place of public',
      'drop schema public; create schema nfse authorization OWNER; alter role OWNER set search_path = nfse; alter role SERVICE set search_path = nfse',
    ],
    [
      'a history without a step',
      'create table schema_migrations (id integer primary key, name text not null, checksum text not null)',
    ],
  ])('takes a database that holds %s', async (_what, there) => {
    await server.admin.query(`create role ${name}_o; create role ${name}_s`);
    await inside.query(there.replaceAll('OWNER', `${name}_o`).replaceAll('SERVICE', `${name}_s`));
    expect(await setUp()).toMatchObject({ exit: 0, output: expect.stringContaining(`${migrations.length} steps`) });
    expect(await openOn(ofService())).toBe('opened');
    expect(await setUp()).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
  });

  it.each([1, 12, 34, 41])('takes a database of ours whose last step is %i, of whatever owner', async (last) => {
    const shop = new pg.Pool({ connectionString: address(name, 'theirs'), max: 1 });
    await migrate(
      shop,
      migrations.filter(({ id }) => id <= last),
    ).finally(() => shop.end());
    expect(await setUp()).toMatchObject({ exit: 0 });
    expect(await openOn(ofService())).toBe('opened');
  });

  it('takes a database of ours in a schema of its own, and leaves those beside it to others', async () => {
    await asShop(RAILS);
    await inside.query(
      `create schema nfse authorization ${name}; alter database ${name} set search_path = nfse, public`,
    );
    const shop = new pg.Pool({ connectionString: address(name, 'theirs'), max: 1 });
    await migrate(shop, migrations).finally(() => shop.end());
    expect(await setUp()).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
    expect(await openOn(ofService())).toBe('opened');
    expect(await ownersOf('public')).toEqual([name]);
    expect(await ownersOf('nfse')).toEqual([`${name}_o`]);
    expect(await setUp()).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
    expect(await theirRights()).toEqual({ owner: name, creates: true, temporary: true });
  });

  it('needs no administrator in a database that is shared on purpose', async () => {
    await asShop(RAILS);
    const [owner, service] = [`${name}_o`, `${name}_s`];
    await inside.query(`
      create role ${owner} login password 'o'; create role ${service} login password 's';
      create schema nfse authorization ${owner};
      alter role ${owner} in database ${name} set search_path = nfse;
      alter role ${service} in database ${name} set search_path = nfse;
      grant create on database ${name} to ${owner}`);
    const both = { DATABASE_URL: ofService(), DATABASE_OWNER_URL: address(owner, 'o') };
    expect(await runSetupDatabase(both)).toMatchObject({ exit: 0 });
    expect(await openOn(ofService())).toBe('opened');
    expect(await ownersOf('public')).toEqual([name]);
    expect(await ownersOf('nfse')).toEqual([owner]);
  });

  it('makes the tables in a shared database where the names of schema and roles need quotes', async () => {
    await asShop(RAILS);
    const [owner, service] = [`Owner-${name}`, `Service-${name}`];
    await inside.query(`
      create role "${owner}" login password '%@:/o'; create role "${service}" login password '%@:/s';
      create schema "Nfse-Tables" authorization "${owner}";
      alter role "${owner}" in database ${name} set search_path = "Nfse-Tables";
      alter role "${service}" in database ${name} set search_path = "Nfse-Tables";
      grant create on database ${name} to "${owner}"`);
    const both = {
      DATABASE_URL: address(service, encodeURIComponent('%@:/s')),
      DATABASE_OWNER_URL: address(owner, encodeURIComponent('%@:/o')),
    };
    const ready = (made: number) => `the database is ready: ${made} steps of its schema made`;
    expect(await runSetupDatabase(both)).toEqual({ exit: 0, output: ready(migrations.length) });
    expect(await setUp(both)).toEqual({ exit: 0, output: ready(0) });
    expect(await openOn(both.DATABASE_URL)).toBe('opened');
    expect(await ownersOf('public')).toEqual([name]);
    expect(await ownersOf('"Nfse-Tables"')).toEqual([`"${owner}"`]);
    const pool = new pg.Pool({ connectionString: both.DATABASE_URL, max: 1 });
    const asked = Promise.all([excessRights(pool), durabilityChecks(pool)]).finally(() => pool.end());
    expect(await asked).toEqual([[], expect.any(Array)]);
  });

  it('leaves a table beside ours to whoever made it', async () => {
    const shop = new pg.Pool({ connectionString: address(name, 'theirs'), max: 1 });
    await migrate(shop, migrations).finally(() => shop.end());
    await asShop('create table orders (n int)');
    expect(await setUp()).toMatchObject({ exit: 0 });
    expect(await ownersOf('public', `and relname = 'orders'`)).toEqual([name]);
    expect(await ownersOf('public', `and relname <> 'orders'`)).toEqual([`${name}_o`]);
  });

  /** What the program that has the database can do in it. */
  const theirRights = async (): Promise<unknown> => {
    const { rows } = await inside.query(
      `select datdba::regrole::text as owner, has_schema_privilege('${name}', 'public', 'create') as creates,
         has_database_privilege('${name}', current_database(), 'temporary') as temporary
       from pg_database where datname = current_database()`,
    );
    return rows[0];
  };

  const ownersOf = async (schema: string, more = ''): Promise<readonly string[]> => {
    const { rows } = await inside.query<{ owner: string }>(
      `select distinct relowner::regrole::text as owner from pg_class where relnamespace = '${schema}'::regnamespace and relkind = 'r' ${more}`,
    );
    return rows.map(({ owner }) => owner);
  };

  it.each(['DATABASE_URL', 'DATABASE_OWNER_URL'])('refuses a role in %s that is in use elsewhere', async (variable) => {
    const ours = `${name}_ours`;
    const addresses = {
      DATABASE_URL: address(`${name}_s`, 's', ours),
      DATABASE_OWNER_URL: address(`${name}_o`, 'o', ours),
    };
    const line = `the role of ${variable} is in use in the database ${name} too, and its password or attributes would change: name a role of the service's own, or make the role as the address has it; nothing was changed`;
    const before = await state();
    expect(await setUp({ ...addresses, [variable]: address(name, 'other', ours) })).toEqual({ exit: 2, line });
    // Its password is right, but it would lose CREATEDB.
    expect(await setUp({ ...addresses, [variable]: address(name, 'theirs', ours) })).toEqual({ exit: 2, line });
    expect(await state()).toEqual(before);
  });

  it('takes roles that another database of ours has too, with the passwords that they have', async () => {
    expect(await setUp()).toMatchObject({ exit: 0 });
    const second = {
      DATABASE_URL: address(`${name}_s`, 's', `${name}_2`),
      DATABASE_OWNER_URL: address(`${name}_o`, 'o', `${name}_2`),
    };
    expect(await setUp(second)).toMatchObject({ exit: 0 });
    expect(await setUp(second)).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
    expect(await openOn(ofService())).toBe('opened');
  });

  it('sets another password of a role that is in use here alone', async () => {
    expect(await setUp()).toMatchObject({ exit: 0 });
    const changed = address(`${name}_s`, 'changed');
    expect(await setUp({ DATABASE_URL: changed })).toMatchObject({ exit: 0 });
    expect(await openOn(changed)).toBe('opened');
  });
});
