import { afterEach, beforeEach, expect, it } from 'vitest';
import { allProjections } from '../../../projections/registry.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { openOn } from '../../support/harness/open-engines.js';
import { runSetupDatabase } from '../../support/harness/setup-database.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { OWNER, SERVICE } from '../../support/roles.js';

const nameOf = ({ connectionString }: FreshDatabase): string => new URL(connectionString).pathname.slice(1);

/** Every table of the database with the number that it keeps as long as it is not made again. */
const tablesOf = async ({ admin }: FreshDatabase): Promise<readonly unknown[]> => {
  const { rows } = await admin.query(
    `select n.nspname, c.relname, c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by c.oid`,
  );
  return rows;
};

const misled = (database: FreshDatabase, user: string, leads: string, schema = 'public') => ({
  exit: 2,
  line: `the tables of this service are in the schema ${schema}, and the search_path of ${user} leads to ${leads}: alter role ${user} in database ${nameOf(database)} set search_path = ${schema}`,
});

describeWithPostgres('a database of one user whose search_path was changed', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await emptyDatabase();
    expect(await openOn(database.connectionString)).toBe('opened');
  });
  afterEach(() => database.close());

  it.each([
    ['another schema', `create schema app authorization ${OWNER.name}`, 'app', 'the schema app'],
    ['a schema of its name', `create schema ${OWNER.name} authorization ${OWNER.name}`, '', `the schema ${OWNER.name}`],
    ['a schema before its own', `create schema app authorization ${OWNER.name}`, 'app, public', 'the schema app'],
    ['no schema', 'select 1', 'missing', 'no schema'],
  ])(
    'is refused when it leads to %s, changes nothing, and opens when it leads back',
    async (_to, made, path, leads) => {
      await database.admin.query(made);
      if (path !== '') await database.admin.query(`alter database ${nameOf(database)} set search_path = ${path}`);
      const before = await tablesOf(database);
      expect(before.length).toBeGreaterThan(allProjections.length);
      expect(await openOn(database.connectionString)).toEqual(misled(database, OWNER.name, leads));
      expect(await tablesOf(database)).toEqual(before);
      // What the line says.
      await database.admin.query(`alter role ${OWNER.name} in database ${nameOf(database)} set search_path = public`);
      expect(await openOn(database.connectionString)).toBe('opened');
      expect(await tablesOf(database)).toEqual(before);
    },
  );

  const event = (schema: string): string =>
    `insert into ${schema}.event_log values (1, 's', 0, gen_random_uuid(), 't', '', '')`;
  const copied = `create schema kept authorization ${OWNER.name};
    create table kept.schema_migrations as table schema_migrations; create table kept.event_log as table event_log`;

  it('may hold a copy of the tables in another schema', async () => {
    await database.admin.query(`${event('public')}; ${copied}`);
    expect(await openOn(database.connectionString)).toBe('opened');
  });

  it('is refused when the log here never held an event and one in another schema did', async () => {
    await database.admin.query(`${copied}; ${event('kept')}`);
    expect(await openOn(database.connectionString)).toEqual(misled(database, OWNER.name, 'the schema public', 'kept'));
  });
});

describeWithPostgres('a database of two users whose search_path was changed', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await freshDatabase();
    await database.admin.query(`create schema app authorization ${OWNER.name}; grant usage on schema app to public`);
  });
  afterEach(() => database.close());

  const setUp = () =>
    runSetupDatabase({
      DATABASE_URL: database.connectionString,
      DATABASE_OWNER_URL: database.ownerConnectionString,
    }).catch(startupFault);

  it('is refused to every command and to nfse setup database, which changes nothing', async () => {
    await database.admin.query(`alter database ${nameOf(database)} set search_path = app`);
    const before = await tablesOf(database);
    expect(await openOn(database.connectionString)).toEqual(misled(database, SERVICE.name, 'the schema app'));
    expect(await setUp()).toEqual(misled(database, OWNER.name, 'the schema app'));
    expect(await tablesOf(database)).toEqual(before);
  });

  it('is refused when that of the service alone leads elsewhere', async () => {
    await database.admin.query(`alter role ${SERVICE.name} in database ${nameOf(database)} set search_path = app`);
    expect(await setUp()).toEqual(misled(database, SERVICE.name, 'the schema app'));
  });

  it('is set up where the server quotes all names for the service alone', async () => {
    const quoting = `alter role ${SERVICE.name} in database ${nameOf(database)} set quote_all_identifiers = on`;
    await database.admin.query(quoting);
    expect(await setUp()).toMatchObject({ exit: 0 });
  });

  it('is refused when the service may not use the schema, with the cure', async () => {
    await database.admin.query('revoke usage on schema public from public');
    await database.admin.query(`revoke usage on schema public from ${SERVICE.name}`);
    expect(await openOn(database.connectionString)).toEqual({
      exit: 2,
      line: `the tables of this service are in the schema public, which ${SERVICE.name} may not use: run nfse setup database --admin-url-file FILE, where FILE holds the address of the administrator`,
    });
  });
});
