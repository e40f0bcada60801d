import { seeded } from '../crash/seeded.js';

/**
 * Every decision of a run is one number from here, so that a run is its list of numbers. 0 is always the peaceful choice; a list that
 * has ended goes on with 0.
 */
export type Choices = {
  /** From 0 to below the bound. */
  below(bound: number): number;
  /** True in so many of a thousand. */
  chance(perThousand: number): boolean;
  /** All numbers so far. */
  made(): readonly number[];
};

const recorded = (next: (bound: number) => number): Choices => {
  const made: number[] = [];
  const below = (bound: number): number => {
    if (bound <= 1) return 0;
    const choice = next(bound);
    made.push(choice);
    return choice;
  };
  return { below, chance: (perThousand) => below(1_000) > 999 - perThousand, made: () => made };
};

export const seededChoices = (seed: number): Choices => {
  const random = seeded(seed);
  return recorded((bound) => random.below(bound));
};

export const listedChoices = (list: readonly number[]): Choices => {
  let next = 0;
  return recorded((bound) => {
    const choice = list[next] ?? 0;
    next += 1;
    return Math.min(choice, bound - 1);
  });
};
