import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createPostgresGuards, type PostgresGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { pauseIssuing } from '../../../src/adapters/guards-postgres/incomplete-log.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { IssuingPaused } from '../../../src/ports/event-log.js';
import { claimAt, NOW } from '../../contracts/guarded-append.js';
import { knownAs } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const LOG = 'the log in EventStoreDB';
const WINDOW = addSeconds(NOW, -60);

describeWithPostgres('guards of a log in another engine while a pause of issuing is recorded', () => {
  let database: FreshDatabase;
  let guards: PostgresGuards;
  beforeAll(async () => {
    database = await freshDatabase();
    guards = createPostgresGuards(database.pool, {
      idempotencySeconds: 86_400,
      leaseSeconds: 15,
      logApart: async () => LOG,
    });
  });
  afterEach(() => database.admin.query('delete from log_set_back'));
  afterAll(() => database.close());

  const claim = (keyHash: string) =>
    guards.idempotency.claim({ mode: 'live', companyId: 'C', keyHash }, 'body', claimAt(NOW), NOW);
  const mark = () => ({ stream: `nfseLive-${randomUUID()}`, at: NOW });
  const rows = async (table: string) => (await database.admin.query(`select from ${table}`)).rowCount;

  it('no key is claimed, known or not, and the refusal leaves no row', async () => {
    expect((await claim('known')).kind).toBe('claimed');
    await pauseIssuing(database.pool, LOG, null, NOW);
    const before = await rows('idempotency_keys');
    for (const key of ['known', 'new']) await expect(claim(key)).rejects.toThrow(IssuingPaused);
    expect(await rows('idempotency_keys')).toBe(before);
    await database.admin.query('delete from log_set_back');
    expect((await claim('new')).kind).toBe('claimed');
  });

  it.each([1, 2])('no request without a key reserves its mark, under %i fingerprints', async (count) => {
    await pauseIssuing(database.pool, LOG, null, NOW);
    const before = await rows('duplicate_marks');
    const prints = knownAs(randomUUID(), ...Array.from({ length: count - 1 }, () => randomUUID()));
    await expect(guards.duplicates.place(prints, mark(), WINDOW)).rejects.toThrow(IssuingPaused);
    expect(await rows('duplicate_marks')).toBe(before);
    await database.admin.query('delete from log_set_back');
    expect(await guards.duplicates.place(prints, mark(), WINDOW)).toBeUndefined();
  });

  it('what was accepted before the pause gets its mark, also in one batch with a refused one', async () => {
    await pauseIssuing(database.pool, LOG, null, NOW);
    const [reserving, accepted] = await Promise.allSettled([
      guards.duplicates.place(knownAs(randomUUID()), mark(), WINDOW),
      guards.duplicates.place(knownAs(randomUUID()), mark(), null),
    ]);
    expect([reserving, accepted]).toMatchObject([{ reason: expect.any(IssuingPaused) }, { value: undefined }]);
  });

  it('a mark that was taken over is put back', async () => {
    const [prints, first, second] = [knownAs(randomUUID()), mark(), mark()];
    await guards.duplicates.place(prints, first, WINDOW);
    expect(await guards.duplicates.takeOver(prints, first, second, WINDOW)).toBe(true);
    await pauseIssuing(database.pool, LOG, null, NOW);
    expect(await guards.duplicates.takeOver(prints, second, first, WINDOW)).toBe(true);
  });

  it('keys are claimed while only another log is paused', async () => {
    await pauseIssuing(database.pool, 'another log', null, NOW);
    expect((await claim('over another log')).kind).toBe('claimed');
  });
});
