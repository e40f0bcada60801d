import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { guardCheckpoint } from '../../../src/adapters/guards-postgres/guards-record.js';
import {
  databaseNow,
  pauseIssuing,
  pauseIssuingAtEnd,
  readPause,
  readPauseAndServer,
  resumeIssuing,
} from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { LogPosition } from '../../../src/ports/event-log.js';
import type { GuardsSession } from '../../../src/ports/guard-checkpoint.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

// In the past for the clock of the database too, which may differ.
const NOW: Instant = new Date(Date.now() - 60_000).toISOString();
/** Later than the clock of the database. */
const AHEAD: Instant = addSeconds(NOW, 3_600);
const at = (position: number): LogPosition => BigInt(position) as LogPosition;

describeWithPostgres('the record of a pause of issuing', () => {
  let database: FreshDatabase;
  const sessions: GuardsSession[] = [];
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
    await database.reset();
  });
  afterAll(() => database.close());

  /** A process that has looked and found no pause. */
  const observer = async (): Promise<GuardsSession> => {
    const pool = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'test-pause' });
    const session = await guardCheckpoint(pool, { idempotencySeconds: 86_400 }).open('log');
    sessions.push({ ...session, close: () => session.close().then(() => pool.end()) });
    await session.look();
    return session;
  };
  const held = async () => {
    const pause = await readPause(database.pool, 'log');
    if (pause === undefined) throw new Error('issuing is not paused');
    return pause;
  };
  const ends = async (read: Awaited<ReturnType<typeof held>>): Promise<boolean> =>
    resumeIssuing(database.pool, 'log', read, { head: at(5), guards: 'made from the log' });

  it('is compared with the clock of the database, read as an instant', async () => {
    const now = await databaseNow(database.pool);
    expect(new Date(now).toISOString()).toBe(now);
    expect(Math.abs(Date.now() - Date.parse(now))).toBeLessThan(60_000);
  });

  it('is read with the end of the log and the server that answers, which is the same for each connection', async () => {
    const { pause, end, server } = await readPauseAndServer(database.pool, 'log');
    expect([pause, end, server]).toEqual([undefined, null, expect.stringMatching(/^\d+\.\d+$/)]);
    await database.admin.query('update event_log_head set position = 7');
    await pauseIssuing(database.pool, 'log', at(5), NOW);
    await pauseIssuing(database.pool, 'another', at(6), NOW);
    const other = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'test-pause' });
    onTestFinished(() => other.end());
    expect(await readPauseAndServer(other, 'log')).toEqual({ pause: await held(), end: at(7), server });
  });

  it('keeps the latest instant, whatever the clock of a process that sees the loss says', async () => {
    const [first, second] = [await observer(), await observer()];
    await first.noteIncompleteLog(at(5), AHEAD, 'events');
    await second.noteIncompleteLog(at(5), addSeconds(AHEAD, -600), 'events');
    expect((await held()).seenAt).toBe(AHEAD);
    await second.noteIncompleteLog(at(5), addSeconds(AHEAD, 2), 'events');
    expect((await held()).seenAt).toBe(addSeconds(AHEAD, 2));
  });

  it('has the instant of the database where the clock of the process that sees the loss is behind, so that no wait is shorter', async () => {
    const process = await observer();
    const before = await databaseNow(database.pool);
    await process.noteIncompleteLog(at(5), addSeconds(before, -40), 'events');
    const { seenAt } = await held();
    expect(seenAt >= before && seenAt <= (await databaseNow(database.pool))).toBe(true);
  });

  describe.each<[by: string, record: (seen: Instant) => Promise<void>]>([
    ['an operator', (seen) => pauseIssuing(database.pool, 'log', at(5), seen)],
    ['an operator over one database', (seen) => pauseIssuingAtEnd(database.pool, 'log', seen)],
  ])('by %s', (_by, record) => {
    it('has the instant of the database where the clock of the operator is behind, so that no wait is shorter', async () => {
      for (const _record of ['first', 'again']) {
        const before = await databaseNow(database.pool);
        await record(addSeconds(before, -600));
        const { seenAt } = await held();
        expect(seenAt >= before && seenAt <= (await databaseNow(database.pool))).toBe(true);
      }
    });

    it('has the instant of the operator where that is the later one', async () => {
      await record(addSeconds(NOW, 3_600));
      expect((await held()).seenAt).toBe(addSeconds(NOW, 3_600));
    });

    it('moves an instant that lies ahead back, once the clocks are right', async () => {
      const first = await observer();
      await first.noteIncompleteLog(at(5), addSeconds(NOW, 7_200), 'events');
      await record(addSeconds(NOW, 3_600));
      expect((await held()).seenAt).toBe(addSeconds(NOW, 3_600));
      // This clock is behind, so the clock of the database decides.
      await record(addSeconds(NOW, -600));
      const { seenAt } = await held();
      expect(seenAt >= NOW && seenAt < addSeconds(NOW, 3_600)).toBe(true);
    });
  });

  it.each([
    ['in the same millisecond', 0],
    ['with a clock that is behind', -600],
  ])(
    'is not another one for a second process that sees the same loss, %s, and the comparison that began ends the pause',
    async (_when, seconds) => {
      const [first, second] = [await observer(), await observer()];
      await first.noteIncompleteLog(at(5), NOW, 'events');
      const read = await held();
      await second.noteIncompleteLog(at(5), addSeconds(NOW, seconds), 'events');
      expect(await ends(read)).toBe(true);
    },
  );

  it.each<[what: string, again: (session: GuardsSession) => Promise<void>]>([
    ['sees the loss later', (session) => session.noteIncompleteLog(at(5), addSeconds(AHEAD, 1), 'events')],
    ['sees that the log has lost more', (session) => session.noteIncompleteLog(at(4), AHEAD, 'events')],
    ['finds the log empty', (session) => session.noteIncompleteLog(null, AHEAD, 'events')],
    [
      'knew of the pause',
      async (session) => {
        await session.look();
        await session.noteIncompleteLog(at(5), AHEAD, 'events');
      },
    ],
  ])(
    'is another one for a process that %s, and the comparison that began before ends no pause',
    async (_what, again) => {
      const [first, second] = [await observer(), await observer()];
      await first.noteIncompleteLog(at(5), AHEAD, 'events');
      const read = await held();
      await again(second);
      expect(await ends(read)).toBe(false);
      expect(await ends(await held())).toBe(true);
    },
  );
});
