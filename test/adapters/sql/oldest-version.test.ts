import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { createPostgresGuards, type PostgresGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { checkSchema, checkServer } from '../../../src/adapters/sql/database-checks.js';
import { migrate, pendingMigrations } from '../../../src/adapters/sql/migrate.js';
import { migrations } from '../../../src/adapters/sql/migrations/index.js';
import { eventLogContract } from '../../contracts/event-log.js';
import { guardsContract } from '../../contracts/guards.js';
import { lookupProgressContract } from '../../contracts/lookup-progress.js';
import { pendingCutsContract } from '../../contracts/pending-cuts.js';
import { relayCheckpointContract } from '../../contracts/relay-checkpoint.js';
import { invoiceLife } from '../../e2e/invoice-life.js';
import { describeWith } from '../../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.js';
import { emptyDatabase, type FreshDatabase } from '../../support/postgres.js';
import { installedPostgres } from '../../support/postgres-programs.js';

describeWith('postgres15', 'PostgreSQL 15, the oldest that is supported', () => {
  let server: OwnPostgres;
  beforeAll(async () => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    server = await startOwnPostgres(programs);
  });
  afterAll(() => server?.close());

  const migratedDatabase = async (): Promise<FreshDatabase> => {
    const database = await emptyDatabase(server.url);
    await migrate(database.pool, migrations);
    return database;
  };

  it('is what the server is', async () => {
    expect(await server.ask('show server_version_num')).toMatchObject({
      server_version_num: expect.stringMatching(/^15/),
    });
  });

  it('runs every migration and gets the schema that newer versions have', async () => {
    const { pool, close } = await emptyDatabase(server.url);
    await checkServer(pool);
    const all = migrations.map(({ id }) => id);
    expect(await pendingMigrations(pool, migrations)).toEqual(all);
    expect(await migrate(pool, migrations)).toEqual(all);
    await checkSchema(pool);
    await close();
  });

  eventLogContract('PostgreSQL 15', async () => {
    const { connectionString, breakConnections, close } = await migratedDatabase();
    const opened = [postgresEventLog({ connectionString })];
    const [log] = opened;
    if (log === undefined) throw new Error('not opened');
    return {
      log,
      breakConnections,
      reopen: async () => {
        const again = postgresEventLog({ connectionString });
        opened.push(again);
        return again;
      },
      close: async () => {
        await Promise.all(opened.map((each) => each.close()));
        await close();
      },
    };
  });

  describe('guards', () => {
    let database: FreshDatabase;
    let guards: PostgresGuards;
    beforeAll(async () => {
      database = await migratedDatabase();
      guards = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 15 });
    });
    afterAll(() => database?.close());

    guardsContract(() => guards);
    lookupProgressContract(() => guards.lookups);
    pendingCutsContract(() => guards.cuts);
    relayCheckpointContract(() => guards.relay);
  });

  invoiceLife('an invoice on PostgreSQL 15', async () => {
    const { connectionString, close } = await emptyDatabase(server.url);
    return { env: { DATABASE_URL: connectionString }, close };
  });
});
