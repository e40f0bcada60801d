import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { waitFor } from '../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { describeWithPostgres } from '../support/postgres.js';
import { expectEnd, expectNoDoubles, expectSoundLog, wholeLog } from './aftermath.js';
import { type Crash, issue, issueAgain, type Running, serve, untilSettled } from './crash.js';

const PATIENCE_MS = 600_000;
const WITHIN_MS = 120_000;

vi.setConfig({ maxConcurrency: 4 });

/** The session of the service in which an acceptance waits for a lock. */
const WAITING = `select pid from pg_stat_activity where datname = current_database()
  and wait_event_type = 'Lock' and query like '%event_log_append_guarded%'`;

/** Kills the process while its acceptance waits for `table`, and then lets the statement go on or ends its session. */
const dieWithin = async (
  crash: Crash,
  running: Running,
  { table, server }: { table: string; server: 'goes on' | 'ends' },
): Promise<void> => {
  const { pool } = crash.harness.engines;
  const holder = await pool.connect();
  try {
    await holder.query('begin');
    await holder.query(`lock table ${table} in exclusive mode`);
    const asking = issue(crash, running).catch(() => undefined);
    const pid = await waitFor('the acceptance to wait', WITHIN_MS, async () => {
      const { rows } = await pool.query<{ pid: number }>(WAITING);
      return rows[0]?.pid;
    });
    await running.program.kill();
    expect(await asking).toBeUndefined();
    if (server === 'ends') await pool.query('select pg_terminate_backend($1)', [pid]);
    else await holder.query('rollback');
    await waitFor('the session to end', WITHIN_MS, async () =>
      (await pool.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 0 ? true : undefined,
    );
    await holder.query('rollback');
  } finally {
    holder.release(true);
  }
};

const acceptances = async (harness: CrashHarness): Promise<number> =>
  (await wholeLog(harness, 'nfse')).filter(({ type }) => type === 'InvoiceAccepted').length;

describeWithPostgres('a process killed inside the transaction that accepts, over one database,', () => {
  let simulator: ExternalSimulator;
  beforeAll(async () => {
    simulator = await startExternalSimulator();
  });
  afterAll(async () => {
    await expectNoDoubles(simulator).finally(() => simulator.close());
  });

  it.concurrent.each([
    { step: 'before the key', table: 'idempotency_keys', server: 'goes on', serial: 901 },
    { step: 'before the key', table: 'idempotency_keys', server: 'ends', serial: 902 },
    { step: 'between event and mark', table: 'duplicate_marks', server: 'goes on', serial: 903 },
    { step: 'between event and mark', table: 'duplicate_marks', server: 'ends', serial: 904 },
  ] as const)(
    '$step, leaves all or nothing when the server $server, and one invoice in the end',
    async ({ table, server, serial }) => {
      const harness = await openCrashHarness(simulator, String(serial));
      const scenario = { title: 'issue', kind: 'issue', ends: 'issued', asks: 'with a key' } as const;
      const crash: Crash = {
        point: 'before:accept_invoice',
        scenario,
        harness,
        simulator,
        amountInCents: 10_000 + 10 * serial,
      };
      const open: Running[] = [];
      const start = async (): Promise<Running> => {
        const running = await serve(crash, 'lives');
        open.push(running);
        return running;
      };
      try {
        await dieWithin(crash, await start(), { table, server });
        expect(await acceptances(harness)).toBe(server === 'goes on' ? 1 : 0);
        const restarted = await start();
        const id = await issueAgain(crash, restarted);
        await expectEnd(crash, await untilSettled(restarted, id));
        expect(await acceptances(harness)).toBe(1);
        await expectSoundLog(harness);
      } finally {
        for (const { program } of open) await program.kill();
        await harness.close();
      }
    },
    PATIENCE_MS,
  );
});
