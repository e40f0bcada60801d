import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { openDatabaseLine } from '../../support/database-line.js';
import { runProgram } from '../../support/harness/processes.js';
import { runSetupDatabase } from '../../support/harness/setup-database.js';
import { itWith } from '../../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.js';
import { describeWithPostgres, emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { installedPostgres } from '../../support/postgres-programs.js';
import { as, ensureRoles, migrateAsOwner, OWNER, SERVICE } from '../../support/roles.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const nameOf = (address: string): string => new URL(address).pathname.slice(1);

const setUp = (service: string, owner: string) =>
  runSetupDatabase({ DATABASE_URL: service, DATABASE_OWNER_URL: owner }).catch(startupFault);

const READY = { exit: 0, output: 'the database is ready: 0 steps of its schema made' };

describeWithPostgres('the addresses of owner and service', () => {
  let ours: FreshDatabase;
  let other: FreshDatabase;
  beforeEach(async () => {
    ours = await freshDatabase();
    other = await emptyDatabase();
  });
  afterEach(async () => {
    await ours.close();
    await other.close();
  });

  it('are refused when they lead to two databases, and no table is made', async () => {
    const line = `DATABASE_OWNER_URL leads to the database ${nameOf(other.connectionString)}, and DATABASE_URL to ${nameOf(ours.connectionString)}: both must lead to one database`;
    expect(await setUp(ours.connectionString, other.ownerConnectionString)).toEqual({ exit: 2, line });
    expect((await other.pool.query(`select to_regclass('event_log') as log`)).rows).toEqual([{ log: null }]);
    const masterKey = join(temporaryFolder(), 'master.key');
    writeFileSync(masterKey, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
    const doctor = runProgram(['src/main.ts', 'doctor'], {
      DATABASE_URL: ours.connectionString,
      DATABASE_OWNER_URL: other.ownerConnectionString,
      MASTER_KEY_FILE: masterKey,
      DATA_DIR: temporaryFolder(),
    });
    expect((await doctor.ended).code).toBe(2);
    expect(doctor.complaint().trim()).toBe(line);
  });

  it('may name one database by different hosts and ports', async () => {
    const line = await openDatabaseLine(ours.connectionString);
    expect(await setUp(line.connectionString, ours.ownerConnectionString)).toEqual(READY);
    await line.close();
  });

  itWith(
    'postgres15',
    'are refused when they lead to databases of one name on two servers, but not on a standby',
    async () => {
      const programs = installedPostgres(15);
      if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
      const open = async (): Promise<OwnPostgres> => {
        const own = await startOwnPostgres(programs);
        closing.push(() => own.close());
        return own;
      };
      const [server, second] = [await open(), await open()];
      const made: string[] = [];
      for (const { url } of [server, second]) {
        await ensureRoles(url);
        const admin = new pg.Pool({ connectionString: url, max: 1 });
        await admin.query(`create database nfse owner ${OWNER.name} template template0`).finally(() => admin.end());
        made.push(Object.assign(new URL(url), { pathname: '/nfse' }).href);
      }
      const [first = '', twin = ''] = made;
      expect(await setUp(as(SERVICE, first), as(OWNER, twin))).toEqual({
        exit: 2,
        line: 'DATABASE_OWNER_URL leads to a database nfse of another server, and DATABASE_URL to nfse: both must lead to one database',
      });
      await migrateAsOwner(first);
      const standby = await server.standby();
      closing.push(() => standby.close());
      const copy = Object.assign(new URL(standby.url), { pathname: '/nfse' }).href;
      expect(await setUp(as(SERVICE, copy), as(OWNER, first))).toEqual(READY);
      expect(await setUp(as(SERVICE, first), as(OWNER, copy))).toEqual(READY);
    },
  );
});
