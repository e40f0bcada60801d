import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createPostgresGuards,
  type PostgresGuards,
  pruneGuards,
} from '../../../src/adapters/guards-postgres/guards.js';
import { knownAs } from '../../app/support.js';
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
    guards = createPostgresGuards(database.pool, { idempotencyTtlSeconds: 86_400, leaseSeconds: 15 });
  });
  afterAll(() => database.close());

  guardsContract(() => guards);
  lookupMemosContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
  relayCheckpointContract(() => guards.relay);

  it('lets statements of two processes meet over the same rows, whatever their order', async () => {
    const other = createPostgresGuards(database.pool, { idempotencyTtlSeconds: 86_400, leaseSeconds: 15 });
    const at = '2026-11-21T12:00:00.000Z';
    const keys = Array.from({ length: 60 }, (_, index) => ({
      owner: { mode: 'live', companyId: 'C', keyHash: `meeting-${index}` } as const,
      claim: { leaseToken: `token-${index}`, commandId: 'c', acceptedAt: at },
    }));
    await Promise.all(keys.map(({ owner, claim }) => guards.idempotency.claim(owner, 'body', claim, at)));
    for (let round = 0; round < 20; round += 1) {
      const [done, claims] = await Promise.all([
        Promise.all(keys.map(({ owner, claim }) => guards.idempotency.markDone(owner, claim.leaseToken, 'invoice'))),
        Promise.all(
          keys.toReversed().map(({ owner }) => other.idempotency.claim(owner, 'body', keys[0]?.claim ?? never(), at)),
        ),
        Promise.all(
          keys.map(({ owner }) => guards.duplicates.place(knownAs(owner.keyHash), { stream: 's', at }, null)),
        ),
        Promise.all(
          keys
            .toReversed()
            .map(({ owner }) => other.duplicates.place(knownAs(owner.keyHash), { stream: 't', at }, null)),
        ),
      ]);
      expect(done).not.toContain(false);
      expect(claims.map(({ kind }) => kind)).not.toContain('reuse');
    }
  });

  it('prunes keys and marks that have no say any more, and no others', async () => {
    await database.admin.query('truncate idempotency_keys, duplicate_marks');
    const [old, young] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.001Z'];
    for (const at of [old, young]) {
      const claim = { leaseToken: at, commandId: at, acceptedAt: at };
      await guards.idempotency.claim({ mode: 'live', companyId: 'C', keyHash: at }, 'body', claim, at);
      await guards.duplicates.place(knownAs(at), { stream: 's', at }, null);
    }
    expect(await pruneGuards(database.pool, { idempotencyTtlSeconds: 86_400 }, '2026-11-21T12:00:00.000Z')).toBe(2);
    expect((await database.pool.query('select key_hash from idempotency_keys')).rows).toEqual([{ key_hash: young }]);
    expect((await database.pool.query('select fingerprint from duplicate_marks')).rows).toEqual([
      { fingerprint: young },
    ]);
  });
});

const never = (): never => {
  throw new Error('there is a first key');
};
