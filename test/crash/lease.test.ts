import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LeaderSession, leaderSession } from '../../src/adapters/sql/leader-lock.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { openDatabaseLine } from '../support/database-line.js';
import { waitFor } from '../support/harness/careful-client.js';
import { type Program, startProgram } from '../support/harness/processes.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

/** A third of it is the time limit of an answer, which is enough for a busy machine. */
const LEASE_MS = 9_000;
const WITHIN_MS = 120_000;
/** Before a pool itself would give up an answer, which is after 17 s. */
const LOST_WITHIN_MS = 14_000;

describeWithPostgres('the lease of a leader', () => {
  let database: FreshDatabase;
  let other: LeaderSession;
  const programs: Program[] = [];
  beforeEach(async () => {
    database = await freshDatabase();
    other = leaderSession(database.pool);
  });
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.kill()));
    await other.close();
    await database.close();
  });

  const startLeader = async (env: Readonly<Record<string, string>>): Promise<Program> => {
    const program = await startProgram(['test/crash/leader-child.ts'], {
      DATABASE_URL: database.connectionString,
      ...env,
    });
    programs.push(program);
    return program;
  };

  const takesOver = () => waitFor('the lead', WITHIN_MS, () => other.tryLead('frozen'));

  /** How long the server has heard nothing of the leader, in milliseconds. */
  const silence = async (): Promise<number> => {
    const { rows } = await database.pool.query<{ ms: number }>(
      `select extract(epoch from clock_timestamp() - state_change)::float8 * 1000 as ms
       from pg_stat_activity where application_name = 'leader-child'`,
    );
    return rows[0]?.ms ?? Number.POSITIVE_INFINITY;
  };

  it('ends with a process that is frozen; thawed, it learns that it does not lead any more', async () => {
    const leader = await startLeader({ LEASE_MS: String(LEASE_MS) });
    expect(await other.tryLead('frozen')).toBeUndefined();
    leader.signal('SIGSTOP');
    await takesOver();
    leader.signal('SIGCONT');
    expect(await leader.ended, leader.complaint()).toEqual({ code: 0, signal: null });
  });

  it('is renewed by a process that has nothing else to ask', async () => {
    const born = Date.now();
    await startLeader({ LEASE_MS: String(LEASE_MS) });
    await waitFor('twice the lease to pass', WITHIN_MS, async () =>
      Date.now() - born > 2 * LEASE_MS ? true : undefined,
    );
    expect(await other.tryLead('frozen')).toBeUndefined();
  });

  it('ends by itself for a leader that gets no answer, also where the server does not end it', async () => {
    const line = await openDatabaseLine(database.connectionString);
    const pool = openPool({ connectionString: line.connectionString, max: 1, applicationName: 'unheard' });
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...asked: unknown[]) => unknown;
      const lenient = (first: unknown, ...rest: unknown[]): unknown =>
        query(JSON.stringify(first).includes('idle_session_timeout') ? 'select 1' : first, ...rest);
      client.query = lenient as typeof client.query;
    });
    const unheard = leaderSession(pool, LEASE_MS);
    const lost = await unheard.tryLead('frozen');
    line.silence();
    await waitFor('the loss', LOST_WITHIN_MS, async () => (lost?.aborted === true ? true : undefined));
    await unheard.close();
    await line.close();
    await pool.end();
    await takesOver();
  });

  it('ends by itself for a leader whose server has vanished without a word, before another process leads', async () => {
    const line = await openDatabaseLine(database.connectionString);
    const pool = openPool({ connectionString: line.connectionString, max: 1, applicationName: 'vanished' });
    const unheard = leaderSession(pool, LEASE_MS);
    const lost = await unheard.tryLead('frozen');
    expect(lost?.aborted).toBe(false);
    line.vanish();
    await takesOver();
    expect(lost?.aborted).toBe(true);
    await unheard.close();
    await line.close();
    await pool.end();
  });

  it('is without an end where a second holder would do harm', async () => {
    const leader = await startLeader({});
    leader.signal('SIGSTOP');
    await waitFor('twice the lease to pass', WITHIN_MS, async () =>
      (await silence()) > 2 * LEASE_MS ? true : undefined,
    );
    expect(await other.tryLead('frozen')).toBeUndefined();
    leader.signal('SIGCONT');
  });
});
