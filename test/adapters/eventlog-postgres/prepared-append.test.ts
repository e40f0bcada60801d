import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import { createPostgresGuards, type PostgresGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { AppendOutcomeUnknown } from '../../../src/ports/event-log.js';
import type { KeyedGuards } from '../../../src/ports/keyed-guards.js';
import { claimAt, freshGuards, guardedAppendContract, NOW } from '../../contracts/guarded-append.js';
import { chained, freshStream } from '../../support/harness/event-log.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { createMemoryGuards } from '../../support/memory/guards.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase, lockWaits } from '../../support/postgres.js';

describe('the log of unit tests, with the guards of unit tests', () => {
  const guards = createMemoryGuards();
  const log = memoryEventLog(() => guards);
  guardedAppendContract(() => ({ log, ...guards }));
});

describeWithPostgres('the postgres event log, with the guards of its database', () => {
  let database: FreshDatabase;
  let log: PostgresEventLog;
  let other: PostgresEventLog;
  let guards: PostgresGuards;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    other = postgresEventLog({ connectionString: database.connectionString });
    guards = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 15 });
  });
  afterAll(async () => {
    await Promise.all([log.close(), other.close()]);
    await database.close();
  });

  guardedAppendContract(() => ({ log, ...guards }));

  type Held = { own: KeyedGuards; stream: string };

  /** Accepts while another transaction holds the rows of `hold`, and ends that one. Returns what was accepted, and the result. */
  const whileHeld = async (
    hold: (own: KeyedGuards) => [text: string, values?: unknown[]],
    during: (held: Held) => Promise<void>,
  ) => {
    const held = { own: freshGuards(), stream: freshStream() };
    const holder = await database.admin.connect();
    try {
      await holder.query('begin');
      await holder.query(...hold(held.own));
      const accepting = log
        .appendGuarded(held.stream, chained(held.stream, 0), held.own)
        .catch((error: unknown) => error);
      await lockWaits(database, 1);
      await during(held);
      await holder.query('rollback');
      return { held, result: await accepting };
    } finally {
      holder.release();
    }
  };

  const shown = async ({ stream, own }: Held) => ({
    event: (await log.lastEvent(stream))?.revision ?? null,
    isFinished: await guards.idempotency.isFinished(own.owner, NOW),
    marks: (
      await database.pool.query('select stream from duplicate_marks where fingerprint = any($1)', [
        own.fingerprints.placed,
      ])
    ).rows,
  });
  const nothing = { event: null, isFinished: false, marks: [] };
  const lockOfLog = (): [string] => ['select from event_log_head for update'];

  /** The statement waits at each of its steps in turn. */
  describe.each([
    [
      'the key',
      ({ owner }: KeyedGuards): [string, unknown[]] => [
        `insert into idempotency_keys values ('live', '12345678000195', $1, '', '', '', '', '', null)`,
        [owner.keyHash],
      ],
    ],
    ['the lock of the log', lockOfLog],
    [
      'the mark',
      ({ fingerprints }: KeyedGuards): [string, unknown[]] => [
        `insert into duplicate_marks values ($1, '', '', gen_random_uuid())`,
        [fingerprints.placed[0]],
      ],
    ],
  ])('while it waits for %s', (_step, hold) => {
    it('shows none of its parts, and then all', async () => {
      const { held, result } = await whileHeld(hold, async (waiting) => {
        expect(await shown(waiting)).toEqual(nothing);
      });
      expect(result).toBe(true);
      expect(await shown(held)).toEqual({ event: 0, isFinished: true, marks: [{ stream: held.stream }] });
    });

    it('leaves nothing when its session ends', async () => {
      const { held, result } = await whileHeld(hold, async () => {
        await database.admin.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        await lockWaits(database, 0);
      });
      expect(result).toBeInstanceOf(AppendOutcomeUnknown);
      expect(await shown(held)).toEqual(nothing);
    });
  });

  it('makes a claim of the key wait until it is decided', async () => {
    let claiming: Promise<unknown> | undefined;
    const { held, result } = await whileHeld(lockOfLog, async ({ own }) => {
      claiming = guards.idempotency.claim(own.owner, 'body', claimAt(NOW), NOW);
      await lockWaits(database, 2);
    });
    expect(result).toBe(true);
    expect(await claiming).toEqual({ kind: 'done', invoiceId: held.own.invoiceId });
  });

  it('never waits in a circle with claims, marks and appends of another process', async () => {
    const at = NOW;
    for (let round = 0; round < 10; round += 1) {
      const own = Array.from({ length: 40 }, () => ({ guards: freshGuards(), stream: freshStream() }));
      const accept = (by: PostgresEventLog) => (one: (typeof own)[number]) =>
        by.appendGuarded(one.stream, chained(one.stream, 0), { ...one.guards, claim: claimAt(at) });
      const mark = { stream: 's', at };
      const results = await Promise.all([
        Promise.all(own.map(accept(log))),
        Promise.all(own.toReversed().map(accept(other))),
        Promise.all(own.toReversed().map((one) => guards.idempotency.claim(one.guards.owner, 'body', claimAt(at), at))),
        Promise.all(own.toReversed().map((one) => guards.duplicates.place(one.guards.fingerprints, mark, null))),
        Promise.all(
          own.map((one) => guards.duplicates.takeOver(one.guards.fingerprints, mark, { ...mark, stream: 't' }, at)),
        ),
      ]);
      const [one, another] = [results[0], results[1].toReversed()];
      expect(one.filter((stored, index) => stored && another[index])).toEqual([]);
      const last = await Promise.all(own.map(({ stream }) => log.lastEvent(stream)));
      expect(last.map((event) => event?.revision === 0)).toEqual(one.map((stored, index) => stored || another[index]));
    }
  });
});
