import type pg from 'pg';
import { expect, it } from 'vitest';
import { readsByKey } from '../../../src/adapters/sql/reads-by-key.js';

/** A database whose statements answer when the test says so, with the keys that a row has. */
const database = () => {
  const sent: { keys: readonly string[]; answer(...keys: readonly string[]): void }[] = [];
  const query = ({ values: [array] }: { values: [Buffer] }) =>
    new Promise((resolve) => {
      const keys = array.toString('latin1').match(/[a-z]\d/g) ?? [];
      sent.push({ keys, answer: (...found) => resolve({ rows: found.map((key) => ({ key })) }) });
    });
  return { sent, read: readsByKey({ query } as unknown as pg.Pool, { name: 'reads', text: 'select' }) };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('asks once for a key that several ask for in one turn, and gives each its rows', async () => {
  const { sent, read } = database();
  const answers = Promise.all(['k1', 'k2', 'k1', 'k3'].map(read));
  await turn();
  expect(sent.map(({ keys }) => keys)).toEqual([['k1', 'k2', 'k3']]);
  sent[0]?.answer('k3', 'k1', 'k3');
  expect(await answers).toEqual([[{ key: 'k1' }], [], [{ key: 'k1' }], [{ key: 'k3' }, { key: 'k3' }]]);
});

it('asks again for a key whose statement was sent, because the answer may be older than the question', async () => {
  const { sent, read } = database();
  const first = read('k1');
  await turn();
  const second = read('k1');
  await turn();
  expect(sent.map(({ keys }) => keys)).toEqual([['k1'], ['k1']]);
  sent[1]?.answer('k1');
  sent[0]?.answer();
  expect(await Promise.all([first, second])).toEqual([[], [{ key: 'k1' }]]);
});
