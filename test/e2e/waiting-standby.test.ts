import { afterEach, expect } from 'vitest';
import { postgresEventLog } from '../../src/adapters/eventlog-postgres/event-log.js';
import { createPostgresGuards } from '../../src/adapters/guards-postgres/guards.js';
import { migrate } from '../../src/adapters/sql/migrate.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { createEventStore } from '../../src/app/event-store/event-store.js';
import { eventually } from '../support/eventually.js';
import { acceptHarness, codeOf } from '../support/harness/accept.js';
import { fixedKeys } from '../support/harness/event-store.js';
import { itWith } from '../support/needs.js';
import { startOwnPostgres } from '../support/own-postgres.js';
import { installedPostgres } from '../support/postgres-programs.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

itWith(
  'postgres15',
  'a request without a key is accepted once, however often it comes while no standby answers',
  async () => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    const server = await startOwnPostgres(programs, { synchronous_commit: 'on' });
    closing.push(() => server.close());
    const connectionString = server.url;
    const pool = openPool({ connectionString, max: 4, applicationName: 'test' });
    const guardPool = openPool({ connectionString, max: 4, applicationName: 'test-guards', synchronousCommit: false });
    const log = postgresEventLog({ connectionString, onIdleError: () => undefined });
    closing.push(
      () => pool.end(),
      () => guardPool.end(),
      () => log.close(),
    );
    await migrate(pool, migrations);
    const guards = createPostgresGuards(guardPool, { idempotencySeconds: 86_400, leaseSeconds: 30 });
    const harness = acceptHarness({ isOneDatabase: true });
    Object.assign(harness.deps, { store: createEventStore(log, fixedKeys()), ...guards });
    const answers: string[] = [];
    const post = async (): Promise<void> => {
      answers.push(await harness.post().then(codeOf, () => '503'));
    };
    const waitFor = async (standbys: string): Promise<void> => {
      await server.ask(`alter system set synchronous_standby_names = '${standbys}'`);
      await server.ask('select pg_reload_conf()');
      const isSet = async () =>
        (await server.ask<{ names: string }>(`select current_setting('synchronous_standby_names') names`))?.names;
      await eventually(isSet, (names) => names === standbys);
    };
    /** Sessions whose commit waits for a standby, of those whose last statement has this text in it. */
    const waiting = async (statement = ''): Promise<number> => {
      const sessions = `from pg_stat_activity where wait_event = 'SyncRep' and query like '%${statement}%'`;
      return Number((await server.ask<{ n: string }>(`select count(*) n ${sessions}`))?.n);
    };
    await waitFor('standby1');
    // A session shows the names before another process of the server has them heeded: commits are made until one waits.
    await eventually(async () => {
      void server.ask(`select pg_logical_emit_message(true, 'test', '')`).catch(() => undefined);
      return (await waiting()) > 0;
    });
    await post();
    expect(await waiting('event_log_append')).toBeGreaterThan(0);
    harness.clock.pass(25);
    await post();
    await waitFor('');
    await eventually(waiting, (count) => count === 0);
    harness.clock.pass(5);
    await post();
    const accepted = await log.readAll({ prefixes: ['nfse'], after: null, limit: 100 });
    expect({ answers, accepted: accepted.length }).toEqual({
      answers: ['503', '503', 'duplicate_suspected'],
      accepted: 1,
    });
  },
);
