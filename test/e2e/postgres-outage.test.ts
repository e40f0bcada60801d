import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabaseLine, openDatabaseLine } from '../support/database-line.js';
import { eventually } from '../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { type SteadyLoad, startSteadyLoad } from '../support/harness/steady-load.js';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.js';
import { describeWithPostgres } from '../support/postgres.js';
import { embeddedPostgres } from '../support/postgres-programs.js';
import { becomesNotReady, becomesReady } from '../support/readiness.js';

const OUTAGE_MS = 300_000;
const RESETS = 10;
/** Longer than every bound of a request: two seconds for the server, two more for its silence, and what waits before it. */
const ANSWERED_WITHIN_MS = 20_000;

describeWithPostgres('a service under load whose database server fails', () => {
  let server: OwnPostgres;
  let line: DatabaseLine;
  let running: RunningService;
  let load: SteadyLoad;
  beforeEach(async () => {
    server = await startOwnPostgres(await embeddedPostgres());
    line = await openDatabaseLine(server.url);
    running = await startRunningService({
      ...PROMPT,
      DATABASE_URL: line.connectionString,
      DATABASE_STATEMENT_TIMEOUT_S: '2',
      DATABASE_LOCK_TIMEOUT_S: '2',
    });
    load = startSteadyLoad(running);
    await load.goesOn();
  }, OUTAGE_MS);
  afterEach(async () => {
    await load?.stop();
    await running?.close();
    await line?.close();
    await server?.close();
  });

  const isReadyWithNothingLost = async (): Promise<void> => {
    await becomesReady(running.service.opsUrl);
    await load.goesOn();
    await load.stop();
    await load.expectNothingLost();
  };

  it.each(['stop', 'kill'] as const)(
    'survives that it is away for a while (%s) and comes back',
    async (how) => {
      const { opsUrl } = running.service;
      await becomesReady(opsUrl);
      await server[how]();
      await becomesNotReady(opsUrl, /^database: unreachable$/);
      await eventually(
        async () => load.refusals().length,
        (count) => count > 0,
      );
      await server.start();
      await isReadyWithNothingLost();
    },
    OUTAGE_MS,
  );

  it(
    'survives connections that are reset, or ended by the server, in the middle of anything',
    async () => {
      for (let n = 0; n < RESETS; n += 1) {
        if (n % 2 === 0) line.reset();
        else await server.ask(END_SESSIONS);
        await load.goesOn();
      }
      await isReadyWithNothingLost();
    },
    OUTAGE_MS,
  );

  it(
    'answers every request within a bound while it is silent, and goes on when it speaks again',
    async () => {
      const { url, opsUrl } = running.service;
      await becomesReady(opsUrl);
      line.silence();
      await becomesNotReady(opsUrl, /^database: (?:no answer within 2 s|unreachable)$/);
      const authorization = `Bearer ${running.keys.test}`;
      const asked = await fetch(`${url}/v1/nfse/nfse_00000000-0000-4000-8000-000000000000`, {
        headers: { authorization },
        signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
      });
      expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '5']);
      const refused = load.refusals().length;
      await eventually(
        async () => load.refusals().length,
        (count) => count > refused,
      );
      line.goOn();
      await isReadyWithNothingLost();
    },
    OUTAGE_MS,
  );
});

const END_SESSIONS = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'nfse%'`;
