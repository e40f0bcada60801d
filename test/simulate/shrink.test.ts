import { describe, expect, it } from 'vitest';
import { shrink } from './shrink.js';

describe('a list of choices that fails', () => {
  it('is cut down to what makes it fail', async () => {
    const list = Array.from({ length: 60 }, (_, place) => place);
    const fails = async (candidate: readonly number[]) => candidate.includes(17) && candidate.includes(42);
    expect(await shrink(list, fails)).toEqual([17, 42]);
  });

  it('keeps what must stand in its place, and makes the rest peaceful', async () => {
    const list = Array.from({ length: 20 }, () => 7);
    const fails = async (candidate: readonly number[]) => candidate[9] === 7;
    expect(await shrink(list, fails)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
  });

  it('ends after so many tries, with the best that it has', async () => {
    let tries = 0;
    const list = Array.from({ length: 200 }, () => 7);
    const fails = async () => {
      tries += 1;
      return tries === 1;
    };
    expect((await shrink(list, fails, 5)).length).toBeLessThan(200);
    expect(tries).toBe(5);
  });
});
