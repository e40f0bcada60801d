/** Numbers that look like chance and are the same for the same seed. */
export type Seeded = {
  /** From 0 to below this. */
  below(bound: number): number;
  shuffled<T>(items: readonly T[]): T[];
};

/** Mulberry32: 32 bits of state, good enough to choose victims. */
export const seeded = (seed: number): Seeded => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    below,
    shuffled: (items) => {
      const left = [...items];
      return items.flatMap(() => left.splice(below(left.length), 1));
    },
  };
};
