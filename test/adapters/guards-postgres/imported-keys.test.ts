import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { idempotencyKeys, importedKeys } from '../../../src/adapters/guards-postgres/idempotency-keys.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const NOW = '2026-11-21T12:00:00.000Z';
const INVOICE = '11111111-1111-4111-8111-111111111111';
const WINDOW = { idempotencySeconds: 86_400 };
const GIVEN = { holder: INVOICE, token: expect.any(String) };

describeWithPostgres('a key that an import takes', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  const owner = (keyHash: string) => ({ mode: 'live', companyId: 'C', keyHash }) as const;
  const keyOf = (keyHash: string) => ({ ...owner(keyHash), invoiceId: INVOICE, acceptedAt: NOW });
  /** A request claims the key, and works on it until 15 s after this instant. */
  const claim = async (keyHash: string, at: string) => {
    const keys = idempotencyKeys(database.pool, { ...WINDOW, leaseSeconds: 15, logApart: undefined });
    const fresh = { leaseToken: 'token', commandId: 'c', acceptedAt: at };
    expect(await keys.claim(owner(keyHash), 'body', fresh, at)).toMatchObject({ kind: 'claimed' });
    return { ...keys, fresh };
  };
  /** `before` runs before each statement, which it gets the number of. */
  const takeWith = (before: (statement: number) => Promise<unknown>, keyHash: string) => {
    const { pool } = database;
    let statements = 0;
    const query = async (text: string, values: unknown[]) => {
      statements += 1;
      await before(statements);
      return await pool.query(text, values);
    };
    const db: pg.Pool = Object.assign(Object.create(pool) as pg.Pool, { query });
    return importedKeys(db, WINDOW).take(keyOf(keyHash), NOW);
  };
  const only = (wanted: number, work: () => Promise<unknown>) => async (statement: number) => {
    if (statement === wanted) await work();
  };

  it.each([
    ['before it is shared', 2],
    ['before its holder is read', 3],
  ])('is given where a request or another import frees it %s', async (_when, statement) => {
    const [released, deleted] = [`released-${statement}`, `deleted-${statement}`];
    const { release } = await claim(released, NOW);
    const free = only(statement, () => release(owner(released), 'token', NOW));
    expect(await takeWith(free, released)).toEqual(GIVEN);
    const held = importedKeys(database.pool, WINDOW);
    expect(await held.holderOf(owner(released), NOW)).toBe(INVOICE);
    expect(await held.take(keyOf(deleted), NOW)).toEqual(GIVEN);
    const remove = () => database.admin.query('delete from idempotency_keys where key_hash = $1', [deleted]);
    expect(await takeWith(only(statement, remove), deleted)).toEqual(GIVEN);
    expect(await held.holderOf(owner(deleted), NOW)).toBe(INVOICE);
  });

  it('is in use while a request works on it, also when the day of the first try is over', async () => {
    const { claim: again, fresh } = await claim('resumed', addSeconds(NOW, -86_400));
    const late = { ...fresh, leaseToken: 'other' };
    expect(await again(owner('resumed'), 'body', late, addSeconds(NOW, -5))).toMatchObject({ kind: 'claimed' });
    const { holderOf, take } = importedKeys(database.pool, WINDOW);
    expect(await holderOf(owner('resumed'), NOW)).toBe('in_use');
    expect(await take(keyOf('resumed'), NOW)).toEqual({ holder: 'in_use' });
    expect(await holderOf(owner('resumed'), addSeconds(NOW, 10))).toBeUndefined();
  });

  it('is in use where requests claim and free it at each try', async () => {
    const { claim: again, release, fresh } = await claim('busy', NOW);
    const give = async (statement: number) => {
      if (statement % 3 === 0) await release(owner('busy'), 'token', NOW);
      if (statement % 3 === 1) await again(owner('busy'), 'body', fresh, NOW);
    };
    expect(await takeWith(give, 'busy')).toEqual({ holder: 'in_use' });
  });
});
