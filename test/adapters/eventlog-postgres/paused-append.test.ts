import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type PostgresEventLog, postgresEventLog } from '../../../src/adapters/eventlog-postgres/event-log.js';
import {
  pauseIssuing,
  pauseIssuingAtEnd,
  readPause,
  resumeIssuing,
} from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { IssuingPaused } from '../../../src/ports/event-log.js';
import { freshGuards, NOW } from '../../contracts/guarded-append.js';
import { at, chained, freshStream, NONE } from '../../support/harness/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase, lockWaits } from '../../support/postgres.js';

const ACCEPTED = { type: 'InvoiceAccepted' };

describeWithPostgres('the postgres event log while a pause of issuing is recorded', () => {
  let database: FreshDatabase;
  /** Of a process that has not seen the pause. */
  let log: PostgresEventLog;
  let identity: string;
  beforeAll(async () => {
    database = await freshDatabase();
    log = postgresEventLog({ connectionString: database.connectionString });
    identity = await log.identity();
  });
  afterEach(() => database.admin.query('delete from log_set_back'));
  afterAll(async () => {
    await log.close();
    await database.close();
  });

  it('accepts nothing, with a key or without, and keeps no key', async () => {
    await pauseIssuingAtEnd(database.pool, identity, NOW);
    const [stream, guards] = [freshStream(), freshGuards()];
    const event = chained(stream, 0, ACCEPTED);
    await expect(log.appendGuarded(stream, event, guards)).rejects.toThrow(IssuingPaused);
    await expect(log.append(stream, NONE, [event])).rejects.toThrow(IssuingPaused);
    expect(await log.read(stream)).toEqual([]);
    const kept = 'select from idempotency_keys where key_hash = $1';
    expect((await database.admin.query(kept, [guards.owner.keyHash])).rowCount).toBe(0);

    const paused = await readPause(database.pool, identity);
    if (paused === undefined) throw new Error('the pause is recorded');
    const end = { head: await log.head(), guards: 'stored with the log' } as const;
    expect(await resumeIssuing(database.pool, identity, paused, end)).toBe(true);
    expect(await log.appendGuarded(stream, event, guards)).toBe(true);
  });

  it('takes no request of a cancellation', async () => {
    const stream = freshStream();
    await log.append(stream, NONE, [chained(stream, 0, ACCEPTED)]);
    await pauseIssuingAtEnd(database.pool, identity, NOW);
    const request = chained(stream, 1, { type: 'CancellationRequested' });
    await expect(log.append(stream, at(0), [request])).rejects.toThrow(IssuingPaused);
    expect(await log.lastEvent(stream)).toMatchObject({ revision: 0 });
  });

  it('stores what workers and log recovery append, also in one batch with acceptances', async () => {
    await pauseIssuingAtEnd(database.pool, identity, NOW);
    const [requested, known, recovered] = [freshStream(), freshStream(), freshStream()];
    const results = await Promise.allSettled([
      log.append(known, NONE, [chained(known, 0, { type: 'InvoiceImported' })]),
      log.append(requested, NONE, [chained(requested, 0, ACCEPTED)]),
      log.append(recovered, NONE, [chained(recovered, 0, { type: 'LogRecovered' })]),
    ]);
    expect(results).toMatchObject([
      { value: { ok: true } },
      { reason: expect.any(IssuingPaused) },
      { value: { ok: true } },
    ]);
  });

  it('refuses an acceptance that waited for the lock of the log while the pause was recorded', async () => {
    const recording = await database.admin.connect();
    const stream = freshStream();
    try {
      await recording.query('begin');
      await recording.query('select from event_log_head for update');
      const accepting = log.appendGuarded(stream, chained(stream, 0, ACCEPTED), freshGuards()).catch((error) => error);
      await lockWaits(database, 1);
      await pauseIssuing(recording, identity, null, NOW);
      await recording.query('commit');
      expect(await accepting).toBeInstanceOf(IssuingPaused);
    } finally {
      recording.release();
    }
    expect(await log.read(stream)).toEqual([]);
  });

  it('accepts while only another log is paused', async () => {
    await pauseIssuing(database.pool, 'another log', null, NOW);
    const stream = freshStream();
    expect(await log.appendGuarded(stream, chained(stream, 0, ACCEPTED), freshGuards())).toBe(true);
  });
});
