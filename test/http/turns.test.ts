import { expect, it } from 'vitest';
import { createTurns } from '../../src/http/turns.js';

/** Turns of a loop that the test ends one by one. */
const heldTurns = (perTurn: number) => {
  const ends: (() => void)[] = [];
  const takeTurn = createTurns(perTurn, () => new Promise<void>((resolve) => ends.push(resolve)));
  const out: number[] = [];
  const take = async (n: number, size: number): Promise<void> => {
    await takeTurn(size);
    out.push(n);
  };
  const endTurn = async (): Promise<void> => {
    expect(ends).toHaveLength(1);
    ends.pop()?.();
    for (let n = 0; n < 10; n += 1) await Promise.resolve();
  };
  return { take, endTurn, out };
};

it('serves one caller in each turn of the event loop, in the order of the calls', async () => {
  const { take, endTurn, out } = heldTurns(1);
  const all = Promise.all([1, 2, 3].map((n) => take(n, 1)));
  await Promise.resolve();
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    expect(out).toEqual(expected);
    await endTurn();
  }
  await all;
});

it('shares a turn among the callers that fit, and lets none pass one that waits for room', async () => {
  const { take, endTurn, out } = heldTurns(10);
  const all = Promise.all([4, 5, 25, 1, 9].map((size, n) => take(n, size)));
  await Promise.resolve();
  for (const expected of [
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3, 4],
  ]) {
    expect(out).toEqual(expected);
    await endTurn();
  }
  await all;
});
