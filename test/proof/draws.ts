import { createHash } from 'node:crypto';
import { type Seeded, seeded } from '../crash/seeded.js';

/**
 * The generator of one stream of decisions. Each stream depends on the seed and its name alone, so that a slower machine, which
 * makes fewer of some decisions, still makes the same ones.
 */
export const drawsOf = (seed: number, stream: string): Seeded =>
  seeded(createHash('sha256').update(`${seed} ${stream}`).digest().readUInt32BE(0));

/** True in so many of a hundred. */
export const inPercent = (draws: Seeded, percent: number): boolean => draws.below(100) < percent;

export const oneOf = <T>(draws: Seeded, items: readonly [T, ...T[]]): T => items[draws.below(items.length)] ?? items[0];

/** From the first to below the second. */
export const between = (draws: Seeded, from: number, to: number): number => from + draws.below(to - from);
