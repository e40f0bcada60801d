import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createNatsQueue, type NatsWorkQueue } from '../../src/adapters/queue-nats/nats-queue.js';
import type { StreamName } from '../../src/domain/common/ids.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { openDatabaseLine } from '../support/database-line.js';
import { eventually } from '../support/eventually.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import { type Program, runProgram, startProgram } from '../support/harness/processes.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { loseEnd } from '../support/lost-end.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { becomesNotReady } from '../support/readiness.js';

type Ready = { url: string; ops_url: string };
type Serving = Program & { ready: Ready };

const AMOUNT = 1_001;

describeWith('natsServer', 'two processes that issue over one database', () => {
  describeWithPostgres('which fails over to a standby without an attempt that one of them has made', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let queue: NatsWorkQueue;
    let database: FreshDatabase;
    let harness: CrashHarness;
    const serving: Serving[] = [];
    beforeEach(async () => {
      [simulator, nats, database] = await Promise.all([startExternalSimulator(), startNats(), freshDatabase()]);
      // Live mode has the same authorizer and another series.
      harness = await openCrashHarness(simulator, '7', {
        DATABASE_URL: database.connectionString,
        NATS_URL: nats.url,
        AUTHORIZER_TIMEOUT_S: '6',
        LOG_LEVEL: 'info',
      });
      queue = await createNatsQueue({ servers: nats.url, clock: systemClock });
    }, 300_000);
    afterEach(async () => {
      await queue.close();
      await Promise.all(serving.splice(0).map(({ kill }) => kill()));
      await harness.close();
      await Promise.all([nats.close(), simulator.close(), database.close()]);
    });

    const start = async (name: string, env: Readonly<Record<string, string>> = {}): Promise<void> => {
      const own = { DATA_DIR: join(harness.folder, name), ...env };
      serving.push(await startProgram<Ready>(['src/main.ts', 'serve'], { ...harness.env, ...own }));
    };
    const ask = async (path: string, body?: object) => {
      const answer = await fetch(`${serving[0]?.ready.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${harness.key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as { id: string; status: string } };
    };
    const operate = async (...argv: string[]): Promise<{ exit: number | null; out: string }> => {
      const program = runProgram(['src/main.ts', ...argv], harness.env);
      const { code } = await program.ended;
      return { exit: code, out: program.output().stdout };
    };
    const events = async (types: readonly string[]) => {
      const { rows } = await database.admin.query<{ stream: StreamName; position: string }>(
        'select stream, position from event_log where type = any ($1) order by position',
        [types],
      );
      return rows;
    };

    const untilPaused = async (meanwhile: () => Promise<void> = async () => undefined): Promise<void> => {
      await eventually(async () => {
        await meanwhile();
        return (await database.admin.query('select from log_set_back')).rowCount === 1;
      });
    };
    const expectOneNoteAfterComparison = async (id: string): Promise<void> => {
      const compared = await operate('doctor', '--reconcile');
      expect(compared.exit, compared.out).toBe(0);
      await eventually(
        () => ask(`/v1/nfse/${id}`),
        (answer) => answer.body.status === 'issued',
      );
      expect(await simulator.notes()).toHaveLength(1);
    };

    /** Until the processes see that the database is away, as in each failover that takes longer than a moment; `loseEnd` brings the database back. */
    const takeAway = async (): Promise<void> => {
      const client = await database.admin.connect();
      await client.query('update pg_database set datallowconn = false where datname = current_database()');
      await client.query(
        `select pg_terminate_backend(pid, 60000) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      );
      client.release();
      for (const { ready } of serving) await becomesNotReady(ready.ops_url, /^database: /);
    };

    it('makes one note, also where the work comes to the other process at once', { timeout: 300_000 }, async () => {
      await Promise.all([start('one'), start('other')]);
      await simulator.order({ on: 'issue', kind: 'slow', times: 1, delay_ms: 2_000 }, AMOUNT);
      const { status, body } = await ask('/v1/nfse', { amount_in_cents: AMOUNT, description: 'Consultoria' });
      expect(status).toBe(202);
      const [attempt] = await eventually(
        () => events(['IssuanceAttempted']),
        ({ length }) => length === 1,
      );
      if (attempt === undefined) throw new Error('there is no attempt');
      // The number of the attempt stays given, so a second send would have another number.
      await takeAway();
      await loseEnd(database, BigInt(attempt.position) - 1n);
      await queue.put({ kind: 'issue', stream: attempt.stream, messageId: 'again' });
      await untilPaused();
      await expectOneNoteAfterComparison(body.id);
      expect(await events(['DpsNumberAllocated', 'IssuanceAttempted'])).toHaveLength(1);
      expect(await operate('audit', 'verify', '--documents')).toMatchObject({ exit: 0 });
    });

    it('makes one note, also where all connections of one hang and the other has just started', {
      timeout: 300_000,
    }, async () => {
      const line = await openDatabaseLine(database.connectionString);
      onTestFinished(() => line.close());
      await start('one', { DATABASE_URL: line.connectionString });
      const { body } = await ask('/v1/nfse', { amount_in_cents: AMOUNT, description: 'Consultoria' });
      await eventually(
        () => events(['Authorized']),
        ({ length }) => length === 1,
      );
      const [attempt] = await events(['IssuanceAttempted']);
      if (attempt === undefined) throw new Error('there is no attempt');
      line.vanish();
      await loseEnd(database, BigInt(attempt.position) - 1n);
      await start('other');
      let times = 0;
      // The process that hangs takes the work too, and gives it back.
      await untilPaused(async () => {
        times += 1;
        await queue.put({ kind: 'issue', stream: attempt.stream, messageId: `again-${times}` });
      });
      await expectOneNoteAfterComparison(body.id);
    });
  });
});
