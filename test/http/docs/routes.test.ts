import { expect, it } from 'vitest';
import { createAnswerTurns } from '../../../src/http/docs/routes.js';

it('lets one answer out in each turn of the event loop, in the order of the requests', async () => {
  const ends: (() => void)[] = [];
  const turn = createAnswerTurns(() => new Promise<void>((resolve) => ends.push(resolve)));
  const out: number[] = [];
  const all = Promise.all([1, 2, 3].map((n) => turn().then(() => out.push(n))));
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await expect.poll(() => ends.length).toBe(1);
    ends.pop()?.();
    await expect.poll(() => out).toEqual(expected);
  }
  await all;
});
