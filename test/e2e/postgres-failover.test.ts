import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabaseLine, openDatabaseLine } from '../support/database-line.js';
import { eventually } from '../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { type SteadyLoad, startSteadyLoad } from '../support/harness/steady-load.js';
import { describeWith } from '../support/needs.js';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.js';
import { installedPostgres } from '../support/postgres-programs.js';
import { becomesNotReady, becomesReady } from '../support/readiness.js';

const FAILOVER_MS = 300_000;

/** Settings for synchronous replication: no commit is acknowledged before the standby has it. */
const SYNCHRONOUS = { synchronous_commit: 'on', synchronous_standby_names: '*' };

describeWith('postgres15', 'a service whose primary is replaced, behind an address that follows it', () => {
  let primary: OwnPostgres;
  let standby: OwnPostgres;
  let line: DatabaseLine;
  let running: RunningService;
  let load: SteadyLoad;
  beforeEach(async () => {
    const programs = installedPostgres(15);
    if (programs === undefined) throw new Error('PostgreSQL 15 is not installed');
    primary = await startOwnPostgres(programs, SYNCHRONOUS);
    standby = await primary.standby();
    line = await openDatabaseLine(primary.url);
    running = await startRunningService({ ...PROMPT, DATABASE_URL: line.connectionString });
    load = startSteadyLoad(running);
    await load.goesOn();
  }, FAILOVER_MS);
  afterEach(async () => {
    await load?.stop();
    await running?.close();
    await line?.close();
    await Promise.all([primary?.close(), standby?.close()]);
  });

  it(
    'loses nothing and issues nothing twice when the primary dies, and is ready again by itself',
    async () => {
      const { opsUrl } = running.service;
      await becomesReady(opsUrl);
      await primary.kill();
      await becomesNotReady(opsUrl, /^database: unreachable$/);
      // The address already leads to the new server, which does not know yet that it is the primary.
      line.switchTo(standby.url);
      await becomesNotReady(opsUrl, /^database: read-only$/);
      await eventually(
        async () => load.refusals().length,
        (count) => count > 0,
      );
      await standby.ask('select pg_promote()');
      await becomesReady(opsUrl);
      await load.goesOn();
      await load.stop();
      await load.expectNothingLost();
    },
    FAILOVER_MS,
  );

  it(
    'answers 503 instead of what a standby does not show yet',
    async () => {
      const read = async (path: string) => {
        const { status, body } = await running.call<{ status?: string; data?: readonly unknown[] }>(
          'live',
          'GET',
          path,
        );
        return [status, body.status ?? body.data?.length];
      };
      // As a report on the standby does for up to max_standby_streaming_delay.
      await standby.ask('select pg_wal_replay_pause()');
      const sale = { amount_in_cents: 5_000, description: 'Consultoria', reference: 'pedido-1' };
      const { body } = await running.call<{ id: string }>('live', 'POST', '/v1/nfse', sale);
      await eventually(
        () => read(`/v1/nfse/${body.id}`),
        ([status, found]) => status === 200 && found === 'issued',
      );
      await primary.kill();
      line.switchTo(standby.url);
      await becomesNotReady(running.service.opsUrl, /^database: read-only$/);
      expect(await read(`/v1/nfse/${body.id}`)).toEqual([503, undefined]);
      expect(await read('/v1/nfse?reference=pedido-1')).toEqual([503, undefined]);
      await standby.ask('select pg_wal_replay_resume()');
      await standby.ask('select pg_promote()');
      await becomesReady(running.service.opsUrl);
      expect(await read(`/v1/nfse/${body.id}`)).toEqual([200, 'issued']);
      expect(await read('/v1/nfse?reference=pedido-1')).toEqual([200, 1]);
    },
    FAILOVER_MS,
  );

  it(
    'leaves a primary that was made read-only, also where its old connections still stand',
    async () => {
      const { opsUrl } = running.service;
      await becomesReady(opsUrl);
      await primary.ask('alter system set default_transaction_read_only = on');
      await primary.ask('select pg_reload_conf()');
      await becomesNotReady(opsUrl, /^database: read-only$/);
      line.switchTo(standby.url);
      await standby.ask('select pg_promote()');
      await becomesReady(opsUrl);
      await load.goesOn();
      // Sessions on the old server do not see new writes, and a lock on the old server excludes no process.
      await eventually(
        () => primary.ask<{ left: number }>(SESSIONS_OF_SERVICE),
        (row) => row?.left === SIMULATOR_LOCK,
      );
      await load.stop();
      await load.expectNothingLost();
    },
    FAILOVER_MS,
  );
});

/** The one session that remains: the simulator's lock, held while it runs. A service with a real authorizer has no such session. */
const SIMULATOR_LOCK = 1;

const SESSIONS_OF_SERVICE = `select count(*)::int as left from pg_stat_activity where application_name like 'nfse%'`;
