import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createPostgresGuards,
  type PostgresGuards,
  pruneGuards,
} from '../../../src/adapters/guards-postgres/guards.js';
import { guardsMigration } from '../../../src/adapters/sql/migrations/0010-guards.js';
import { guardsContract } from '../../contracts/guards.js';
import { lookupMemosContract } from '../../contracts/lookup-memos.js';
import { pendingCutsContract } from '../../contracts/pending-cuts.js';
import { relayCheckpointContract } from '../../contracts/relay-checkpoint.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('guards in PostgreSQL', () => {
  let database: FreshDatabase;
  let guards: PostgresGuards;
  beforeAll(async () => {
    database = await freshDatabase();
    await database.pool.query(guardsMigration.sql);
    guards = createPostgresGuards(database.pool, { idempotencyTtlSeconds: 86_400, leaseSeconds: 15 });
  });
  afterAll(() => database.close());

  guardsContract(() => guards);
  lookupMemosContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
  relayCheckpointContract(() => guards.relay);

  it('prunes keys and marks that have no say any more, and no others', async () => {
    await database.pool.query('truncate idempotency_keys, duplicate_marks');
    const [old, young] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.001Z'];
    for (const at of [old, young]) {
      const claim = { leaseToken: at, commandId: at, acceptedAt: at };
      await guards.idempotency.claim({ mode: 'live', companyId: 'C', keyHash: at }, 'body', claim, at);
      await guards.duplicates.place(at, { stream: 's', at }, null);
    }
    expect(await pruneGuards(database.pool, { idempotencyTtlSeconds: 86_400 }, '2026-11-21T12:00:00.000Z')).toBe(2);
    expect((await database.pool.query('select key_hash from idempotency_keys')).rows).toEqual([{ key_hash: young }]);
    expect((await database.pool.query('select fingerprint from duplicate_marks')).rows).toEqual([
      { fingerprint: young },
    ]);
  });
});
