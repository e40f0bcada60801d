import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { migrate } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { excessRights } from '../../../src/adapters/sql/roles.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { chained } from '../../support/harness/event-log.js';
import { openOn } from '../../support/harness/open-engines.js';
import { runSetupDatabase } from '../../support/harness/setup-database.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

describeWithPostgres('nfse setup database', () => {
  let server: FreshDatabase;
  let name: string;
  let folder: string;
  beforeEach(async () => {
    server = await emptyDatabase();
    name = `nfse_set_${randomUUID().replaceAll('-', '')}`;
    folder = temporaryFolder();
    const { connectionString = '' } = server.admin.options;
    writeFileSync(join(folder, 'admin-url'), `${connectionString}\n`);
  });
  afterEach(() => server.close());

  const address = (user: string, password = 'p%40ss'): string => {
    const url = new URL(server.connectionString);
    return `postgres://${user}:${password}@${url.host}/${name}`;
  };
  const ofService = () => address(`${name}_s`);
  const ofOwner = () => address(`${name}_o`);

  const setUp = (more: NodeJS.ProcessEnv = {}, ...args: readonly string[]) =>
    runSetupDatabase({ DATABASE_URL: ofService(), DATABASE_OWNER_URL: ofOwner(), ...more }, ...args);
  const asAdmin = () => setUp({}, '--admin-url-file', join(folder, 'admin-url'));

  const ask = async (connectionString: string, statement: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    return (await client.query(statement).finally(() => client.end())).rows;
  };

  const rightsOf = async (connectionString: string): Promise<readonly string[]> => {
    const pool = new pg.Pool({ connectionString, max: 1 });
    return await excessRights(pool).finally(() => pool.end());
  };

  it('makes roles, database and tables, on which the service starts with least rights, and changes nothing the second time', async () => {
    expect(await asAdmin()).toEqual({
      exit: 0,
      output: `the database is ready: ${migrations.length} steps of its schema made`,
    });
    expect(await openOn(ofService())).toBe('opened');
    expect(await rightsOf(ofService())).toEqual([]);
    expect(await asAdmin()).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
    expect(await setUp()).toMatchObject({ exit: 0, output: expect.stringContaining('0 steps') });
    expect(await openOn(ofService())).toBe('opened');
  });

  it('takes over a database that the user of the service has owned, with what it holds', async () => {
    await server.admin.query(`create role ${name}_s login createdb password 'old'`);
    await server.admin.query(`create database ${name} owner ${name}_s`);
    const before = address(`${name}_s`, 'old');
    const pool = new pg.Pool({ connectionString: before, max: 1 });
    await migrate(
      pool,
      migrations.filter(({ id }) => id < 35),
    ).finally(() => pool.end());
    await ask(
      before,
      `insert into event_log select n, 's', n - 1, gen_random_uuid(), 't', '', '' from generate_series(1, 3) n;
      update event_log_head set position = 3`,
    );
    await ask(
      before,
      'create schema p_x_v1_g1; create table p_x_v1_g1.rows (n int); create view read.x as table p_x_v1_g1.rows',
    );
    expect(await asAdmin()).toMatchObject({ exit: 0 });
    expect(await rightsOf(ofService())).toEqual([]);
    expect(await ask(ofService(), 'select count(*)::int as n from event_log')).toEqual([{ n: 3 }]);
    await ask(
      ofService(),
      `insert into p_x_v1_g1.rows values (1); drop view read.x; select projection_schema_drop('p_x_v1_g1')`,
    );
    expect(await openOn(ofService())).toBe('opened');
    const log = postgresEventLog({ connectionString: ofService() });
    expect(await log.append('s', { kind: 'exact', revision: 2 }, [chained('s', 3)])).toEqual({ ok: true, revision: 3 });
    await log.close();
  });

  it('refuses one user for two of the three, before anything is made', async () => {
    const same = await setUp({ DATABASE_OWNER_URL: ofService() }, '--admin-url-file', join(folder, 'admin-url'));
    expect(same).toEqual({ exit: 1, output: expect.stringContaining('three different users') });
    const { rowCount } = await server.admin.query('select from pg_database where datname = $1', [name]);
    expect(rowCount).toBe(0);
  });

  it('names the variable or the file whose address the server refuses or that leads nowhere', async () => {
    await asAdmin();
    const nowhere = address('x').replace(/@[^/]+/, '@127.0.0.1:1');
    const lineOf = (more: NodeJS.ProcessEnv, ...args: readonly string[]) =>
      setUp(more, ...args).then(
        ({ output }) => output,
        (error: unknown) => startupFault(error).line,
      );
    const passwordOf = (setBy: string) => `user, password, database name and sslmode in ${setBy} (28P01)`;
    expect(await lineOf({ DATABASE_OWNER_URL: address(`${name}_o`, 'wrong') })).toContain(
      passwordOf('DATABASE_OWNER_URL'),
    );
    expect(await lineOf({ DATABASE_URL: address(`${name}_s`, 'wrong') })).toContain(passwordOf('DATABASE_URL'));
    expect(await lineOf({ DATABASE_OWNER_URL: nowhere })).toMatch(/check DATABASE_OWNER_URL, .*\(ECONNREFUSED\)$/);
    expect(await lineOf({ DATABASE_URL: nowhere })).toMatch(/check DATABASE_URL, .*\(ECONNREFUSED\)$/);
    const file = join(folder, 'other-url');
    writeFileSync(file, nowhere);
    expect(await lineOf({}, '--admin-url-file', file)).toContain(`check ${file}, `);
  });

  it('lets a service without owner start only where no step is missing, and says what to do', async () => {
    await asAdmin();
    await ask(ofOwner(), `delete from schema_migrations where id = ${migrations.at(-1)?.id}`);
    expect(await openOn(ofService())).toEqual({
      exit: 2,
      line: 'the database lacks 1 step of its schema, which the user of DATABASE_URL may not make: run nfse setup database, or set DATABASE_OWNER_URL',
    });
  });

  it('is wanted by name when one user is given for both, or the owner does not own the tables', async () => {
    await asAdmin();
    expect(await setUp({ DATABASE_OWNER_URL: ofService() }).catch((error: Error) => error.message)).toMatch(
      /name one user/,
    );
    await server.admin.query(`create role ${name}_other login password 'p'`);
    const other = { DATABASE_OWNER_URL: address(`${name}_other`, 'p') };
    expect(await setUp(other).catch((error: Error) => error.message)).toMatch(/does not own the tables/);
  });
});
