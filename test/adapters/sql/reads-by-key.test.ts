import type pg from 'pg';
import { expect, it } from 'vitest';
import { readsByKey } from '../../../src/adapters/sql/batched.js';

/** A database whose statements answer when the test says so, with the keys that a row has. */
const database = () => {
  const sent: { keys: readonly string[]; answer(...keys: readonly string[]): void; fail(): void }[] = [];
  const query = ({ values: [array] }: { values: [Buffer] }) =>
    new Promise((resolve, reject) => {
      const keys = array.toString('latin1').match(/[a-z]\d/g) ?? [];
      const fault = Object.assign(new Error('cached plan must not change result type'), {
        code: '0A000',
        severity: 'ERROR',
      });
      sent.push({
        keys,
        answer: (...found) => resolve({ rows: found.map((key) => ({ key })) }),
        fail: () => reject(fault),
      });
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

it('asks a statement once for a key that stands twice in it after a failed statement', async () => {
  const { sent, read } = database();
  const first = Promise.all([read('k1'), read('k2')]);
  await turn();
  const busy = read('k9');
  await turn();
  const queued = read('k1');
  sent[0]?.fail();
  await turn();
  const later = read('k1');
  for (let at = 1; at < 6; at += 1) {
    const { keys = [], answer } = sent[at] ?? {};
    answer?.(...keys);
    await turn();
  }
  const one = [{ key: 'k1' }];
  expect(await Promise.all([queued, later])).toEqual([one, one]);
  expect(await first).toEqual([one, [{ key: 'k2' }]]);
  expect(await busy).toEqual([{ key: 'k9' }]);
});
