import { afterAll, beforeAll, expect, it } from 'vitest';
import { integerArray, textArray, uuidArray } from '../../../src/adapters/sql/arrays.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('arrays in binary form', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  const texts = ['', null, 'a', '"{},\\\\', "it's", 'ação', '日本', '🎉', 'x'.repeat(70_000), 'NULL'];
  const numbers = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
  const ids = ['00000000-0000-0000-0000-000000000000', 'AABBCCDD-eeff-4000-8000-0123456789ab'];

  it.each([
    ['text', textArray, texts],
    ['integer', integerArray, numbers],
    ['uuid', uuidArray, ids],
  ])('arrive as they were sent: %s', async (type, encode, values) => {
    const sent = async (some: readonly (string | number | null)[]) => {
      const text = `select array(select v::text from unnest($1::${type}[]) v) as got`;
      const { rows } = await database.pool.query(text, [(encode as (v: typeof some) => Buffer)(some)]);
      return rows[0]?.got as readonly (string | null)[];
    };
    expect(await sent(values)).toEqual(
      values.map((value) => (value === null ? null : type === 'uuid' ? `${value}`.toLowerCase() : `${value}`)),
    );
    expect(await sent([])).toEqual([]);
  });

  it('refuse what the type cannot hold', () => {
    expect(() => integerArray([2 ** 31])).toThrow(RangeError);
    expect(() => uuidArray(['no uuid'])).toThrow(RangeError);
  });
});
