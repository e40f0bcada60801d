import { expect, it } from 'vitest';
import { exploreRuns, type Run } from './replay.js';

/** Three letters at most; their order makes no difference. */
const letters = (breachAt?: string) => {
  let begun = 0;
  const start = (): Run => {
    begun += 1;
    let written = '';
    const key = () => [...written].sort().join('');
    return {
      moves: () => (written.length === 3 ? [] : ['a', 'b']),
      make: async (move) => {
        written += move;
      },
      breach: () => (key() === breachAt ? `${key()} is written` : undefined),
      key,
    };
  };
  return { start, begun: () => begun };
};

it('a run is begun again for each move but the last of a state', async () => {
  const { start, begun } = letters();
  expect(await exploreRuns(start, 100)).toEqual({ states: 10 });
  // The first run, and one for the first of two moves in each of six states.
  expect(begun()).toBe(7);
});

it('the shortest story leads to a breach, also by the last move of a state', async () => {
  expect(await exploreRuns(letters('abb').start, 100)).toMatchObject({ breach: { story: ['a', 'b', 'b'] } });
  expect(await exploreRuns(letters('bb').start, 100, ['b'])).toMatchObject({ breach: { story: ['b', 'b'] } });
});

it('more states than expected are an error', async () => {
  await expect(exploreRuns(letters().start, 4)).rejects.toThrow('more than 4 states');
});
