import { describe, expect, it } from 'vitest';
import { createKeyedBatches } from '../../src/lib/batches.js';

/** Batches that are answered when the test says so. */
const held = () => {
  const sent: { items: readonly string[]; answer(): void; refuse(): void }[] = [];
  const send = createKeyedBatches<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const answer = (): void => resolve(items.map((item) => item.toUpperCase()));
        sent.push({ items, answer, refuse: () => reject(new Error('refused')) });
      }),
  );
  return { sent, send, batches: () => sent.map(({ items }) => items.join()) };
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('batches of a key', () => {
  it('gather while the one before is under way, and answer each item', async () => {
    const { sent, send, batches } = held();
    const answers = Promise.all([send('k', 'a'), send('k', 'b'), send('k', 'c')]);
    expect(batches()).toEqual(['a']);
    sent[0]?.answer();
    await turn();
    expect(batches()).toEqual(['a', 'b,c']);
    sent[1]?.answer();
    expect(await answers).toEqual(['A', 'B', 'C']);
  });

  it('start again after the last one, and hold up no other key', async () => {
    const { sent, send, batches } = held();
    const first = send('k', 'a');
    void send('other', 'b');
    expect(batches()).toEqual(['a', 'b']);
    sent[0]?.answer();
    await first;
    await turn();
    void send('k', 'c');
    expect(batches()).toEqual(['a', 'b', 'c']);
  });

  it('reject only their own items', async () => {
    const { sent, send } = held();
    const first = send('k', 'a').catch((error: Error) => error.message);
    const second = send('k', 'b');
    sent[0]?.refuse();
    expect(await first).toBe('refused');
    await turn();
    sent[1]?.answer();
    expect(await second).toBe('B');
  });
});
