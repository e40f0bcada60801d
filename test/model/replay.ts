import { createHash } from 'node:crypto';
import type { Exploration } from './explore.js';

/**
 * A run of real, asynchronous code of which every step is chosen from outside. It must be repeatable: the same moves lead
 * to the same state, whatever ids chance gave.
 */
export type Run = {
  /** Names of everything that may happen next. */
  moves(): readonly string[];
  /** Resolves when the run waits for the next move. */
  make(move: string): Promise<void>;
  /** The breach in the present state; undefined without one. */
  breach(): string | undefined;
  /** Everything that tells two states apart, and nothing else. */
  key(): string;
};

type Reached = { story: readonly string[]; moves: readonly string[] };

/**
 * Visits every state that the run can reach, once. A state of running code cannot be copied, so each is reached again by its
 * story; shorter stories come first. Every story begins with the moves of `begin`. Throws above `most` states, because nothing is shown then.
 */
export const exploreRuns = async (
  start: () => Run,
  most: number,
  begin: readonly string[] = [],
): Promise<Exploration> => {
  const seen = new Set<string>();
  const isNew = (key: string): boolean => {
    const digest = createHash('md5').update(key).digest('base64');
    if (seen.has(digest)) return false;
    seen.add(digest);
    return true;
  };
  const first = start();
  for (const move of begin) await first.make(move);
  isNew(first.key());
  let row: Reached[] = [{ story: begin, moves: first.moves() }];
  while (row.length > 0) {
    const next: Reached[] = [];
    for (const { story, moves } of row) {
      for (const move of moves) {
        const run = start();
        for (const earlier of story) await run.make(earlier);
        await run.make(move);
        const reached = { story: [...story, move], moves: run.moves() };
        const what = run.breach();
        if (what !== undefined) return { states: seen.size, breach: { what, story: reached.story } };
        if (isNew(run.key())) next.push(reached);
      }
    }
    if (seen.size > most) throw new Error(`more than ${most} states`);
    row = next;
  }
  return { states: seen.size };
};
