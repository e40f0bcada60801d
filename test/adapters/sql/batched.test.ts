import { describe, expect, it } from 'vitest';
import { batched } from '../../../src/adapters/sql/batched.js';

const fault = (code: string): Error => Object.assign(new Error(code), { code });

/** A server that answers when the test says so. */
const held = () => {
  const batches: { items: readonly number[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = batched<number, string>(
    (items) =>
      new Promise((resolve, reject) => batches.push({ items, answer: () => resolve(items.map(String)), fail: reject })),
  );
  return { batches, ask };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('calls that share statements', () => {
  it('travel together when they come in one turn, and each gets its own answer', async () => {
    const { batches, ask } = held();
    const answers = Promise.all([1, 2, 3].map(ask));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    batches[0]?.answer();
    expect(await answers).toEqual(['1', '2', '3']);
  });

  it('gather while two statements are under way, and never join one that was sent before', async () => {
    const { batches, ask } = held();
    const first = ask(1);
    await turn();
    const second = ask(2);
    await turn();
    const later = Promise.all([3, 4].map(ask));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2]]);
    batches[0]?.answer();
    expect(await first).toBe('1');
    await turn();
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2], [3, 4]]);
    batches[2]?.answer();
    batches[1]?.answer();
    expect(await later).toEqual(['3', '4']);
    expect(await second).toBe('2');
  });

  it('are spread over statements of bounded size', async () => {
    const { batches, ask } = held();
    const answers = Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)));
    await turn();
    await turn();
    expect(batches.map(({ items }) => items.length)).toEqual([128, 72]);
    for (const { answer } of batches) answer();
    expect(await answers).toHaveLength(200);
  });

  it('do not suffer from the one that the server refuses', async () => {
    const sent: (readonly number[])[] = [];
    const ask = batched<number, number>(async (items) => {
      sent.push(items);
      if (items.includes(2)) throw fault('22021');
      return items;
    });
    const answers = await Promise.allSettled([1, 2, 3].map(ask));
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(sent).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('all fail with a lost server, which is not asked again for each of them', async () => {
    const sent: (readonly number[])[] = [];
    const ask = batched<number, number>(async (items) => {
      sent.push(items);
      throw fault('ECONNRESET');
    });
    const answers = await Promise.allSettled([1, 2, 3].map(ask));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(sent).toEqual([[1, 2, 3]]);
  });

  it('refuse answers that do not belong to their questions', async () => {
    const ask = batched<number, number>(async () => []);
    await expect(ask(1)).rejects.toThrow('did not answer each');
  });
});
