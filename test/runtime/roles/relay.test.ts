import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { createPostgresGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { leaderSession } from '../../../src/adapters/sql/leader-lock.js';
import { pause } from '../../../src/lib/pause.js';
import { WorkQueueUnavailable } from '../../../src/ports/work-queue.js';
import type { Parts } from '../../../src/runtime/roles/parts.js';
import { relayStart, runRelayRole } from '../../../src/runtime/roles/relay.js';
import { accepted, streamOf } from '../../support/fixture/histories.js';
import { retried } from '../../support/harness/event-log.js';
import { appendEvents, emptyProjections } from '../../support/harness/projector.js';
import { collectingQueue } from '../../support/harness/workers.js';
import { loseEndUnder } from '../../support/lost-end.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('the relay of a process that lives through a failover which lost the last event', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  beforeEach(async () => {
    database = await freshDatabase();
    database.pool.on('error', () => undefined);
    log = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    await emptyProjections(database.pool, log);
  });
  afterEach(async () => {
    await log.close();
    await database.close();
  });

  it.each([
    ['in this process', false],
    ['that is durable', true],
  ])('puts the work that is accepted at the lost positions into a queue %s', async (_name, isDurable) => {
    const queue = Object.assign(collectingQueue(), { isDurable, status: () => ({ ok: true }) });
    const guards = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 60 });
    const engines = { log, pool: database.pool, guards };
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const parts = { engines, queue, logger } as unknown as Parts;
    const stop = new AbortController();
    const running = runRelayRole(await relayStart(parts), parts, stop.signal);
    const accept = (n: number) => appendEvents(log, streamOf('live', n), [accepted('live', n)]);
    const worked = () => queue.items.map(({ stream }) => stream);
    for (const n of [1, 2, 3]) await accept(n);
    await expect.poll(worked).toHaveLength(3);
    await database.pool.query(`update checkpoints set position = '3' where name = 'deadlines'`);
    await loseEndUnder(log, database, 2n);
    for (const n of [4, 5]) await retried(() => accept(n));
    await expect.poll(worked).toEqual(expect.arrayContaining([streamOf('live', 4), streamOf('live', 5)]));
    stop.abort();
    await running;
  });

  it('logs one line while the queue takes nothing, however often the relay tries', async () => {
    const taking = collectingQueue();
    const lines: object[] = [];
    let tries = 0;
    const put: typeof taking.put = async (item) => {
      tries += 1;
      if (tries <= 3) throw new WorkQueueUnavailable('the work queue is not reachable', 'not connected');
      await taking.put(item);
    };
    const queue = { ...taking, put, isDurable: false };
    const parts = {
      engines: { log, pool: database.pool },
      queue,
      logger: { warn: (line: object) => lines.push(line), info: () => undefined, error: () => undefined },
    };
    const stop = new AbortController();
    const running = runRelayRole(null, parts as unknown as Parts, stop.signal);
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    await expect.poll(() => taking.items).toHaveLength(1);
    stop.abort();
    await running;
    const [line] = lines;
    expect([tries, lines]).toEqual([4, [line]]);
    expect(line).toMatchObject({ msg: 'the relay was interrupted and continues', code: 'not connected' });
  });
});

describeWithPostgres('relays over a durable queue', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  let stop: AbortController;
  let running: Promise<void>[];
  let lines: object[];
  beforeEach(async () => {
    database = await freshDatabase();
    database.pool.on('error', () => undefined);
    log = postgresEventLog({ connectionString: database.connectionString, onIdleError: () => undefined });
    await emptyProjections(database.pool, log);
    stop = new AbortController();
    running = [];
    lines = [];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    await log.close();
    await database.close();
  });

  type Reached = 'yes' | 'not connected' | 'takes nothing';

  /** A process with the role, and its way to the queue. */
  const relayOf = (reached: Reached) => {
    const taking = collectingQueue();
    const state = { reached, tries: 0, failing: 0, failingMoves: 0, putMs: 0, seesAnother: 0, items: taking.items };
    const put: typeof taking.put = async (item) => {
      state.tries += 1;
      await pause(state.putMs);
      state.failing -= 1;
      if (state.reached !== 'yes' || state.failing >= 0)
        throw new WorkQueueUnavailable('the work queue takes nothing', state.reached);
      await taking.put(item);
    };
    const status = () => {
      if (state.reached === 'yes') return { ok: true };
      return { ok: false, reason: state.reached, isConnected: state.reached === 'takes nothing' };
    };
    const anotherPuts = (): void => {
      state.seesAnother += 1;
    };
    const guards = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 60 });
    const move: typeof guards.relay.move = async (...to) => {
      state.failingMoves -= 1;
      if (state.failingMoves >= 0) throw Object.assign(new Error('could not extend file'), { code: '53100' });
      await guards.relay.move(...to);
    };
    const parts = {
      engines: { log, pool: database.pool, guards: { ...guards, relay: { ...guards.relay, move } } },
      queue: { ...taking, put, status, isDurable: true, anotherPuts },
      logger: { warn: (line: object) => lines.push(line), info: () => undefined, error: () => undefined },
    };
    running.push(runRelayRole(null, parts as unknown as Parts, stop.signal));
    return state;
  };
  const accept = (n: number) => appendEvents(log, streamOf('live', n), [accepted('live', n)]);

  it.each([
    ['has lost its connection to the queue', 'not connected'],
    ['gets no answer from the queue', 'takes nothing'],
  ] as const)('hand the lead of a process that %s to one that reaches it', async (_what, reached) => {
    const first = relayOf('yes');
    await accept(1);
    await expect.poll(() => first.items).toHaveLength(1);
    const second = relayOf('yes');
    first.reached = reached;
    await accept(2);
    await expect.poll(() => second.items.map(({ stream }) => stream)).toContain(streamOf('live', 2));
    const { tries } = first;
    await accept(3);
    await expect.poll(() => second.items.map(({ stream }) => stream)).toContain(streamOf('live', 3));
    expect(first.tries).toBe(tries);
    // A process without a connection does not ask who leads.
    await expect.poll(() => first.seesAnother).toBe(reached === 'takes nothing' ? 1 : 0);
    expect(second.seesAnother).toBe(0);
    expect(lines).toEqual([expect.objectContaining({ msg: 'the relay was interrupted and continues', code: reached })]);
  });

  it('stay not ready while another process leads and its puts fail too', async () => {
    const first = relayOf('takes nothing');
    await accept(1);
    await expect.poll(() => first.tries).toBe(2);
    const second = relayOf('takes nothing');
    // Longer than the first stands back, so the first sees that the second leads.
    second.putMs = 4_000;
    await expect.poll(() => first.tries).toBe(3);
    expect([second.tries, first.seesAnother, second.seesAnother]).toEqual([2, 0, 0]);
  });

  it('leave the lead where it is after one put that failed', async () => {
    const first = relayOf('yes');
    await accept(1);
    await expect.poll(() => first.items).toHaveLength(1);
    const second = relayOf('yes');
    first.failing = 1;
    await accept(2);
    await expect.poll(() => first.items).toHaveLength(2);
    expect([first.tries, second.tries]).toEqual([3, 0]);
  });

  it('say once that the checkpoint cannot be stored, although each try puts the work', async () => {
    const relay = relayOf('yes');
    relay.failingMoves = 3;
    await accept(1);
    await expect.poll(() => relay.failingMoves).toBe(-1);
    expect(relay.items).toHaveLength(4);
    expect(lines).toEqual([expect.objectContaining({ msg: 'the relay was interrupted and continues', code: '53100' })]);
  });

  it('leave the lead free while none is connected to the queue, and lead when one is', async () => {
    const relays = [relayOf('not connected'), relayOf('not connected')];
    await accept(1);
    const session = leaderSession(database.pool);
    expect(await session.tryLead('relay')).toBeDefined();
    await session.resign('relay');
    const [, second] = relays;
    if (second !== undefined) second.reached = 'yes';
    await expect.poll(() => second?.items).toHaveLength(1);
    expect([relays[0]?.tries, lines]).toEqual([0, []]);
    await session.close();
  });

  it('try again while the queue takes nothing of any of them, with one line each, until it does', async () => {
    const relays = [relayOf('takes nothing'), relayOf('takes nothing')];
    await accept(1);
    const tries = () => relays.map((relay) => relay.tries);
    await expect.poll(tries).toSatisfy((counts: number[]) => counts.every((count) => count >= 2));
    expect(lines).toHaveLength(2);
    for (const relay of relays) relay.reached = 'yes';
    await expect.poll(() => relays.flatMap(({ items }) => items)).toHaveLength(1);
  });
});
