import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createPostgresGuards,
  type PostgresGuards,
  pruneGuards,
} from '../../../src/adapters/guards-postgres/guards.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { guardsContract } from '../../contracts/guards.js';
import { lookupProgressContract } from '../../contracts/lookup-progress.js';
import { pendingCutsContract } from '../../contracts/pending-cuts.js';
import { relayCheckpointContract } from '../../contracts/relay-checkpoint.js';
import { knownAs } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase, lockWaits } from '../../support/postgres.js';

describeWithPostgres('guards in PostgreSQL', () => {
  let database: FreshDatabase;
  let guards: PostgresGuards;
  beforeAll(async () => {
    database = await freshDatabase();
    guards = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 15 });
  });
  afterAll(() => database.close());

  guardsContract(() => guards);
  lookupProgressContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
  relayCheckpointContract(() => guards.relay);

  it('lets statements of two processes change the same rows, in any order', async () => {
    const other = createPostgresGuards(database.pool, { idempotencySeconds: 86_400, leaseSeconds: 15 });
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

  const keptKeys = async (): Promise<unknown[]> =>
    (await database.pool.query('select key_hash from idempotency_keys order by 1')).rows.map((row) => row.key_hash);
  const prune = (at: string): Promise<number> => pruneGuards(database.pool, { idempotencySeconds: 86_400 }, at);

  it('prunes keys and marks that no request is compared with any more, and no others', async () => {
    await database.admin.query('truncate idempotency_keys, duplicate_marks');
    const [old, young] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.001Z'];
    for (const at of [old, young]) {
      const claim = { leaseToken: at, commandId: at, acceptedAt: at };
      await guards.idempotency.claim({ mode: 'live', companyId: 'C', keyHash: at }, 'body', claim, at);
      await guards.duplicates.place(knownAs(at), { stream: 's', at }, null);
    }
    // Two minutes more than the windows, for requests under way.
    expect(await prune('2026-11-21T12:01:59.999Z')).toBe(0);
    expect(await prune('2026-11-21T12:02:00.000Z')).toBe(2);
    expect((await database.pool.query('select fingerprint from duplicate_marks')).rows).toEqual([
      { fingerprint: young },
    ]);
    expect(await keptKeys()).toEqual([young]);
  });

  it('prunes the progress of a send that was last looked up 30 days ago', async () => {
    const progress = { asked: 1, lastAskedAt: '2026-10-22T12:00:00.000Z' };
    await guards.lookups.put('nfseLive-1', 'issue', progress);
    expect(await prune('2026-11-21T11:59:59.999Z')).toBe(0);
    expect(await prune('2026-11-21T12:00:00.000Z')).toBe(1);
    expect(await guards.lookups.get('nfseLive-1', 'issue')).toBeUndefined();
  });

  it('prunes a released key a minute after its release', async () => {
    await database.admin.query('truncate idempotency_keys, duplicate_marks');
    const owner = { mode: 'live', companyId: 'C', keyHash: 'released' } as const;
    const at = '2026-11-21T12:00:00.000Z';
    await guards.idempotency.claim(owner, 'body', { leaseToken: 't', commandId: 'c', acceptedAt: at }, at);
    await guards.idempotency.release(owner, 't', at);
    expect(await prune(addSeconds(at, 59))).toBe(0);
    expect(await prune(addSeconds(at, 60))).toBe(1);
    expect(await keptKeys()).toEqual([]);
  });

  /** `a`, `m` and `z` are old and were written in the opposite order. */
  const oldRows = async (write: (name: string) => Promise<unknown>): Promise<void> => {
    await database.admin.query('truncate idempotency_keys, duplicate_marks');
    for (const name of ['z', 'm', 'a']) await write(name);
  };

  /** Prunes while `accept` holds `a` and waits for `m`, which another transaction holds. */
  const pruneDuring = async (lockOfM: string, accept: () => Promise<unknown>): Promise<[unknown, unknown]> => {
    const holder = await database.admin.connect();
    try {
      await holder.query('begin');
      await holder.query(lockOfM);
      const accepting = accept();
      await lockWaits(database, 1);
      const pruning = pruneGuards(database.pool, { idempotencySeconds: 86_400 }, LATER);
      const both = Promise.all([pruning, accepting]);
      await Promise.race([pruning.catch(() => undefined), lockWaits(database, 2)]);
      await holder.query('rollback');
      return await both;
    } finally {
      holder.release();
    }
  };
  it('prunes no key that an acceptance is about to use again, and never deadlocks with it', async () => {
    const ownerOf = (keyHash: string) => ({ mode: 'live', companyId: 'C', keyHash }) as const;
    const claimAt = (name: string, at: string) => ({ leaseToken: `${name} ${at}`, commandId: name, acceptedAt: at });
    await oldRows((name) => guards.idempotency.claim(ownerOf(name), 'body', claimAt(name, OLD), OLD));
    const [pruned, states] = await pruneDuring(`select from idempotency_keys where key_hash = 'm' for update`, () =>
      Promise.all(
        ['a', 'm', 'z'].map((name) => guards.idempotency.claim(ownerOf(name), 'body', claimAt(name, LATER), LATER)),
      ),
    );
    expect(pruned).toBe(1);
    expect(states).toMatchObject([{ kind: 'claimed' }, { kind: 'claimed' }, { kind: 'claimed' }]);
  });

  it('prunes no mark that an acceptance is about to replace, and never deadlocks with it', async () => {
    const place = (name: string, at: string) =>
      guards.duplicates.place(knownAs(name), { stream: 's', at }, addSeconds(at, -60));
    await oldRows((name) => place(name, OLD));
    const [pruned, marks] = await pruneDuring(`select from duplicate_marks where fingerprint = 'm' for update`, () =>
      Promise.all(['a', 'm', 'z'].map((name) => place(name, LATER))),
    );
    expect(pruned).toBe(1);
    expect(marks).toEqual([undefined, undefined, undefined]);
  });
});

const OLD = '2026-11-19T12:00:00.000Z';
const LATER = '2026-11-21T12:00:00.000Z';

const never = (): never => {
  throw new Error('there is a first key');
};
