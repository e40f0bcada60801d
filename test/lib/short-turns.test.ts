import { expect, it } from 'vitest';
import { createShortTurns } from '../../src/lib/short-turns.js';

it('ends a turn of the event loop once the steps in it have lasted 3 ms, and no sooner', async () => {
  let nowMs = 0;
  const turns: number[] = [];
  const shortTurn = createShortTurns(
    () => nowMs,
    async () => void turns.push(nowMs),
  );
  for (let step = 0; step < 20; step += 1) {
    await shortTurn();
    nowMs += 1;
  }
  expect(turns).toEqual([3, 6, 9, 12, 15, 18]);
});
