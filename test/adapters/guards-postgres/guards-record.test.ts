import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresGuards, type PostgresGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { guardCheckpoint, readGuardReadiness } from '../../../src/adapters/guards-postgres/guards-record.js';
import {
  pauseIssuing,
  pauseIssuingAtEnd,
  readPause,
  resumeIssuing,
} from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { createDistributionProgressStore } from '../../../src/adapters/reconciliation/distribution-progress.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { LogPosition } from '../../../src/ports/event-log.js';
import type { AcceptedKey, AcceptedMark, GuardsSession } from '../../../src/ports/guard-checkpoint.js';
import type { Claim } from '../../../src/ports/idempotency-keys.js';
import { knownAs } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const NOW = '2026-11-21T12:00:00.000Z';
/** Later than the clock of the database, which decides between two instants. */
const AHEAD = '2126-11-21T12:00:00.000Z';
const TTL = { idempotencySeconds: 86_400 };
const ago = (seconds: number): string => addSeconds(NOW, -seconds);
const at = (position: number): LogPosition => BigInt(position) as LogPosition;

const owner = { mode: 'live', companyId: '12345678000195', keyHash: 'key' } as const;
const keyOf = (changes: Partial<AcceptedKey> = {}): AcceptedKey => ({
  ...owner,
  bodyHash: 'body',
  commandId: 'command',
  invoiceId: 'invoice',
  acceptedAt: ago(60),
  ...changes,
});
const markOf = (changes: Partial<AcceptedMark> = {}): AcceptedMark => ({
  fingerprint: 'f',
  stream: 'nfseLive-1',
  at: ago(10),
  ...changes,
});
const claimAt = (acceptedAt: string, commandId = 'command'): Claim => ({
  leaseToken: randomUUID(),
  commandId,
  acceptedAt,
});

describeWithPostgres('the record of how much of the log the guards hold', () => {
  let database: FreshDatabase;
  let guards: PostgresGuards;
  const sessions: GuardsSession[] = [];
  beforeAll(async () => {
    database = await freshDatabase();
    guards = createPostgresGuards(database.pool, { ...TTL, leaseSeconds: 5 });
  });
  beforeEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
    // The server frees the lock of the leading session only when its process ends.
    const left = `select from pg_stat_activity where application_name = 'test-guards' and datname = current_database()`;
    await expect.poll(async () => (await database.admin.query(left)).rowCount).toBe(0);
    await database.reset();
  });
  afterAll(() => database.close());

  const openSession = async (identity = 'log'): Promise<GuardsSession> => {
    const pool = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'test-guards' });
    const session = await guardCheckpoint(pool, TTL).open(identity);
    sessions.push({ ...session, close: () => session.close().then(() => pool.end()) });
    return session;
  };

  it('has no position in a log that it never read, and never moves backwards', async () => {
    const session = await openSession();
    const nothing = { guards: null, operatorRows: null, furthest: null, logWasIncomplete: false };
    expect(await session.look()).toEqual({ ...nothing, leads: true });
    await session.move({ guards: at(7), operatorRows: null });
    await session.move({ guards: at(5), operatorRows: at(3) });
    expect(await session.look()).toMatchObject({ guards: 7n, operatorRows: 3n, furthest: 7n });
    expect(await readGuardReadiness(database.pool, 'another log')).toEqual({ ...nothing, leads: false });
  });

  it('is not moved by a session under which it was set back, removed or begun by another', async () => {
    for (const meddle of ['truncate guards_position', 'update guards_position set guards = 4']) {
      const session = await openSession();
      await session.look();
      await session.move({ guards: at(7), operatorRows: at(7) });
      await database.admin.query(meddle);
      await expect(session.move({ guards: at(9), operatorRows: at(9) })).rejects.toThrow('another process moved');
      await expect(session.look()).rejects.toThrow('over');
      expect((await readGuardReadiness(database.pool, 'log')).guards).not.toBe(9n);
      await database.reset();
    }
    const [late, early] = [await openSession(), await openSession()];
    await late.look();
    await early.move({ guards: at(3), operatorRows: null });
    await expect(late.move({ guards: at(9), operatorRows: null })).rejects.toThrow('another process moved');
  });

  it('finds the furthest position that any row was made from, of this log alone', async () => {
    const session = await openSession();
    await guards.relay.move('log', at(12));
    await guards.relay.move('another log', at(99));
    expect(await session.look()).toMatchObject({ furthest: 12n });
    await database.pool.query(
      `insert into checkpoints (name, version, log_identity, position, updated_at, generation, role, compatible_from)
       values ('invoices', 1, 'log', '40', $1, 1, 'live', 1)`,
      [NOW],
    );
    expect(await session.look()).toMatchObject({ furthest: 40n });
  });

  it('keeps the relay at the end of a log of this database, which a failover may have shortened', async () => {
    const { rows } = await database.pool.query<{ identity: string }>('select identity::text from event_log_head');
    const identity = rows[0]?.identity ?? '';
    await guards.relay.move(identity, at(12));
    expect(await guards.relay.read(identity)).toBeNull();
    await database.admin.query('update event_log_head set position = 12');
    await guards.relay.move(identity, at(12));
    expect(await guards.relay.read(identity)).toBe(12n);
    await database.admin.query('update event_log_head set position = 10');
    await guards.relay.move(identity, at(14));
    expect(await guards.relay.read(identity)).toBe(12n);
  });

  const heldPause = async () => {
    const held = await readPause(database.pool, 'log');
    if (held === undefined) throw new Error('issuing is not paused');
    return held;
  };
  /** Ends the pause that is held, or one that begins now. */
  const resume = async (head: LogPosition, stored: 'made from the log' | 'stored with the log'): Promise<boolean> => {
    if ((await readPause(database.pool, 'log')) === undefined) await pauseIssuing(database.pool, 'log', head, NOW);
    return await resumeIssuing(database.pool, 'log', await heldPause(), { head, guards: stored });
  };

  it('lets one session lead, and the next one when the first is closed', async () => {
    const [first, second] = [await openSession(), await openSession()];
    expect([await first.look(), await second.look()]).toMatchObject([{ leads: true }, { leads: false }]);
    expect(await readGuardReadiness(database.pool, 'log')).toMatchObject({ leads: false });
    await first.close();
    await expect.poll(async () => (await second.look()).leads).toBe(true);
  });

  it('is ended by the database once its process has asked nothing for 20 s, so that a frozen one does not lead on', async () => {
    const pool = openPool({ connectionString: database.connectionString, max: 1, applicationName: 'test-guards' });
    const connected = once(pool, 'connect');
    const session = await guardCheckpoint(pool, TTL).open('log');
    sessions.push({ ...session, close: () => session.close().then(() => pool.end()) });
    const [client]: pg.PoolClient[] = await connected;
    expect((await client?.query('show idle_session_timeout'))?.rows).toEqual([{ idle_session_timeout: '20s' }]);
    expect(await session.look()).toMatchObject({ leads: true });
  });

  it('remembers that the log was set back', async () => {
    const session = await openSession();
    await guards.relay.move('log', at(12));
    await session.noteIncompleteLog(at(3), NOW, 'positions');
    await session.noteIncompleteLog(null, NOW, 'positions');
    expect(await session.look()).toMatchObject({ logWasIncomplete: true });
  });

  it('pauses issuing over a log of any length that lacks an event which was in it', async () => {
    const session = await openSession();
    await guards.relay.move('log', at(12));
    await session.noteIncompleteLog(at(40), NOW, 'positions');
    expect(await session.look()).toMatchObject({ logWasIncomplete: false });
    await session.noteIncompleteLog(at(40), NOW, 'events');
    expect(await session.look()).toMatchObject({ logWasIncomplete: true });
  });

  it('knows when a loss was last seen, also over a pause that a backup has brought back', async () => {
    expect(await readPause(database.pool, 'log')).toBeUndefined();
    await pauseIssuing(database.pool, 'log', at(3), addSeconds(AHEAD, -86_400));
    await pauseIssuing(database.pool, 'log', at(9), AHEAD);
    expect(await readPause(database.pool, 'log')).toMatchObject({ head: at(3), seenAt: AHEAD });
  });

  it('pauses issuing at the end of the log of this database, behind an append that is under way', async () => {
    const { pool } = database;
    const headOf = async () =>
      (await pool.query<{ identity: string; position: string }>('select identity::text, position from event_log_head'))
        .rows[0];
    const { identity = '', position = '' } = (await headOf()) ?? {};
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    const writer = await pool.connect();
    try {
      await writer.query('begin');
      await writer.query(`select event_log_append(array['nfseTest-a'], array[-1], array[1],
        array['nfseTest-a'], array[0], array[gen_random_uuid()], array['T'], array['{}'], array['hash'])`);
      const recorded = pauseIssuingAtEnd(pool, identity, AHEAD);
      await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
      await writer.query('commit');
      await recorded;
    } finally {
      writer.release();
    }
    expect(await readPause(pool, identity)).toMatchObject({ head: at(Number(position) + 1), seenAt: AHEAD });
    expect((await headOf())?.position).toBe(String(Number(position) + 1));
    await pauseIssuingAtEnd(pool, identity, addSeconds(AHEAD, 1));
    expect(await readPause(pool, identity)).toMatchObject({ seenAt: addSeconds(AHEAD, 1) });
  });

  it('does not pause issuing again when a log recovery has ended since the look', async () => {
    const session = await openSession();
    await guards.relay.move('log', at(12));
    await session.noteIncompleteLog(at(3), NOW, 'positions');
    expect(await session.look()).toMatchObject({ furthest: 12n, logWasIncomplete: true });
    await resume(at(3), 'made from the log');
    await session.noteIncompleteLog(at(3), NOW, 'positions');
    expect(await session.look()).toMatchObject({ furthest: 3n, logWasIncomplete: false });
  });

  it.each<[by: string, again: (session: GuardsSession) => Promise<void>]>([
    ['an operator in the same millisecond', () => pauseIssuing(database.pool, 'log', at(3), NOW)],
    ['a process that sees a loss', (session) => session.noteIncompleteLog(at(3), NOW, 'events')],
    ['an operator a minute later', () => pauseIssuing(database.pool, 'log', at(9), addSeconds(NOW, 60))],
  ])('leaves a pause that was recorded again since it was read, by %s', async (_by, again) => {
    const session = await openSession();
    await session.move({ guards: at(2), operatorRows: at(2) });
    await pauseIssuing(database.pool, 'log', at(3), NOW);
    const seen = await heldPause();
    await again(session);
    const end = { head: at(3), guards: 'made from the log' } as const;
    expect(await resumeIssuing(database.pool, 'log', seen, end)).toBe(false);
    expect(await session.look()).toMatchObject({ guards: 2n, logWasIncomplete: true });
    expect(await resumeIssuing(database.pool, 'log', await heldPause(), end)).toBe(true);
    expect(await readPause(database.pool, 'log')).toBeUndefined();
  });

  describe('the end of a pause', () => {
    const finish = async (keyHash: string, invoiceId: string): Promise<void> => {
      const claim = claimAt(ago(120));
      await guards.idempotency.claim({ ...owner, keyHash }, 'body', claim, ago(120));
      await guards.idempotency.markDone({ ...owner, keyHash }, claim.leaseToken, invoiceId);
    };
    const asked = (keyHash: string) =>
      guards.idempotency.claim({ ...owner, keyHash }, 'body', claimAt(NOW, 'fresh'), NOW);

    it('forgets finished keys, so that only those of the log come back', async () => {
      await finish('lost', 'lost');
      await finish('kept', 'invoice');
      await guards.duplicates.place(knownAs('f'), { stream: 'nfseLive-lost', at: ago(5) }, null);
      const session = await openSession();
      await session.move({ guards: at(2), operatorRows: at(2) });
      await session.noteIncompleteLog(at(1), NOW, 'positions');
      await resume(at(3), 'made from the log');
      // Also a position that the log reaches: the guards of what it has lost would count until they end.
      expect(await (await openSession()).look()).toMatchObject({ guards: null, operatorRows: null });
      expect(await (await openSession()).fill([keyOf({ keyHash: 'kept' })], [], NOW)).toBe(1);
      expect(await asked('kept')).toEqual({ kind: 'done', invoiceId: 'invoice' });
      expect(await asked('lost')).toMatchObject({ kind: 'claimed', claim: { commandId: 'fresh' } });
      const twin = { stream: 'nfseLive-new', at: NOW } as const;
      expect(await guards.duplicates.place(knownAs('f'), twin, ago(60))).toMatchObject({ stream: 'nfseLive-lost' });
    });

    it('leaves the key of an acceptance that is under way', async () => {
      const claim = claimAt(ago(2));
      await guards.idempotency.claim(owner, 'body', claim, ago(2));
      await resume(at(3), 'made from the log');
      expect(await asked('key')).toEqual({ kind: 'in_use' });
      expect(await guards.idempotency.markDone(owner, claim.leaseToken, 'invoice')).toBe(true);
      expect(await asked('key')).toEqual({ kind: 'done', invoiceId: 'invoice' });
    });

    it('leaves keys that are stored with the log, which nothing would fill in again', async () => {
      await finish('kept', 'invoice');
      await resume(at(3), 'stored with the log');
      expect(await asked('kept')).toEqual({ kind: 'done', invoiceId: 'invoice' });
    });

    it.each([
      [
        'lets the queues of the ADN be read again, because the log may have lost what they told of',
        'made from the log',
        0,
      ],
      ['leaves the place in the queues of the ADN that is stored with the log', 'stored with the log', 7],
    ] as const)('%s', async (_name, stored, nsu) => {
      const queues = createDistributionProgressStore(database.pool);
      await queues.save(owner, { nsu: 7, waiting: [], unmatchedNotes: [], askedAt: NOW, queueDueAt: NOW, dueAt: NOW });
      await resume(at(3), stored);
      expect((await queues.all('live')).get(owner.companyId)?.nsu ?? 0).toBe(nsu);
    });

    it('moves the checkpoint of live rows to the head, and gives up generations beside them that are further', async () => {
      await database.pool.query(
        `insert into checkpoints (name, version, log_identity, position, updated_at, generation, role, compatible_from)
         select 'invoices', 1, 'log', position, $1, generation, role, 1
         from (values (1, 'live', '40'), (2, 'previous', '41'), (3, 'building', '2')) as of (generation, role, position)`,
        [NOW],
      );
      await resume(at(3), 'made from the log');
      const { rows } = await database.pool.query('select role, position from checkpoints order by generation');
      expect(rows).toEqual([
        { role: 'live', position: '3' },
        { role: 'building', position: '2' },
      ]);
    });

    it.each([
      ['moves the relay to the head of a log apart, which may have passed its lost position', 'made from the log', 20n],
      ['leaves the relay where a log of this database has it', 'stored with the log', 12n],
    ] as const)('%s', async (_name, stored, position) => {
      await guards.relay.move('log', at(12));
      const session = await openSession();
      await session.noteIncompleteLog(at(3), NOW, 'positions');
      await resume(at(20), stored);
      expect(await guards.relay.read('log')).toBe(position);
    });

    it('changes nothing when it fails', async () => {
      await finish('lost', 'lost');
      const session = await openSession();
      await session.move({ guards: at(2), operatorRows: at(2) });
      await pauseIssuing(database.pool, 'log', at(3), NOW);
      await database.admin.query('alter table distribution_progress rename to away');
      const ended = resume(at(3), 'made from the log');
      await expect(
        ended.finally(() => database.admin.query('alter table away rename to distribution_progress')),
      ).rejects.toThrow('distribution_progress');
      expect(await session.look()).toMatchObject({ guards: 2n, logWasIncomplete: true });
      expect(await asked('lost')).toEqual({ kind: 'done', invoiceId: 'lost' });
    });
  });

  it('pauses issuing over an empty log when any row was made from it', async () => {
    const session = await openSession();
    await session.noteIncompleteLog(null, NOW, 'positions');
    expect(await session.look()).toMatchObject({ logWasIncomplete: false });
    await guards.relay.move('log', at(0));
    await session.noteIncompleteLog(null, NOW, 'positions');
    expect(await session.look()).toMatchObject({ logWasIncomplete: true });
  });

  it('ends with its connection, and says so at once', async () => {
    const session = await openSession();
    const lost = new Promise((resolve) => session.lost.addEventListener('abort', resolve));
    await database.admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'test-guards' and datname = current_database()`,
    );
    await lost;
    await expect(session.look()).rejects.toThrow('over');
    await expect(session.move({ guards: at(1), operatorRows: null })).rejects.toThrow('over');
  });

  describe('filling a key', () => {
    const filled = async (key: AcceptedKey): Promise<number> => (await openSession()).fill([key], [], NOW);
    const asked = (bodyHash: string) => guards.idempotency.claim(owner, bodyHash, claimAt(NOW, 'fresh'), NOW);

    it('that is missing lets the same body be answered with its invoice, and no other body', async () => {
      expect(await filled(keyOf())).toBe(1);
      expect(await asked('body')).toEqual({ kind: 'done', invoiceId: 'invoice' });
      expect(await asked('other')).toMatchObject({ kind: 'reuse' });
      expect(await filled(keyOf())).toBe(0);
    });

    it('takes the younger one of two acceptances', async () => {
      const session = await openSession();
      const keys = [keyOf({ acceptedAt: ago(86_500), invoiceId: 'older' }), keyOf({ invoiceId: 'younger' })];
      expect(await session.fill(keys.toReversed(), [], NOW)).toBe(1);
      expect(await asked('body')).toEqual({ kind: 'done', invoiceId: 'younger' });
    });

    it('leaves a finished key that is not over', async () => {
      const claim = claimAt(ago(120));
      await guards.idempotency.claim(owner, 'body', claim, ago(120));
      await guards.idempotency.markDone(owner, claim.leaseToken, 'standing');
      expect(await filled(keyOf())).toBe(0);
      expect(await asked('body')).toEqual({ kind: 'done', invoiceId: 'standing' });
    });

    it('replaces one of before the key was used again', async () => {
      const claim = claimAt(ago(86_500));
      await guards.idempotency.claim(owner, 'old body', claim, ago(86_500));
      await guards.idempotency.markDone(owner, claim.leaseToken, 'old');
      expect(await filled(keyOf())).toBe(1);
      expect(await asked('body')).toEqual({ kind: 'done', invoiceId: 'invoice' });
    });

    it('ends a claim whose invoice is in the log, also one of another request that was given up', async () => {
      await guards.idempotency.claim(owner, 'body', claimAt(ago(2)), ago(2));
      expect(await asked('body')).toEqual({ kind: 'in_use' });
      expect(await filled(keyOf({ acceptedAt: ago(2) }))).toBe(1);
      expect(await asked('body')).toEqual({ kind: 'done', invoiceId: 'invoice' });
      await database.reset();
      await guards.idempotency.claim(owner, 'given up', claimAt(ago(90), 'given up'), ago(90));
      expect(await filled(keyOf())).toBe(1);
      expect(await asked('given up')).toMatchObject({ kind: 'reuse' });
    });

    it('changes neither a claim that is under way nor one that is younger than an acceptance of more than a day ago', async () => {
      await guards.idempotency.claim(owner, 'now', claimAt(NOW, 'at work'), NOW);
      expect(await filled(keyOf())).toBe(0);
      await database.reset();
      await guards.idempotency.claim(owner, 'now', claimAt(ago(30), 'younger'), ago(30));
      expect(await filled(keyOf({ acceptedAt: ago(86_401) }))).toBe(0);
    });
  });

  describe('filling a mark', () => {
    const standing = () => guards.duplicates.place(knownAs('f'), { stream: 'nfseLive-new', at: NOW }, ago(60));

    it('that is missing refuses a twin, and the youngest counts', async () => {
      const session = await openSession();
      const marks = [markOf({ at: ago(50) }), markOf({ stream: 'nfseLive-2', at: ago(10) }), markOf({ at: ago(20) })];
      expect(await session.fill([], marks, NOW)).toBe(1);
      expect(await standing()).toEqual({ stream: 'nfseLive-2', at: ago(10) });
    });

    it('never makes one older', async () => {
      await guards.duplicates.place(knownAs('f'), { stream: 'nfseLive-standing', at: ago(5) }, null);
      expect(await (await openSession()).fill([], [markOf()], NOW)).toBe(0);
      expect(await standing()).toEqual({ stream: 'nfseLive-standing', at: ago(5) });
      expect(await (await openSession()).fill([], [markOf({ at: ago(1) })], NOW)).toBe(1);
    });
  });
});
