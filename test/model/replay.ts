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

/** `run`: waits in this state. */
type Reached = { story: readonly string[]; moves: readonly string[]; run: Run | undefined };

/** Runs that wait for their last move; each keeps engines and processes in memory. */
const RUNS_KEPT = 2_000;

/**
 * Visits every state that the run can reach, once. A state of running code cannot be copied, so each is reached again by its
 * story for every move but the last, which the run makes that found the state. Shorter stories come first. Every story begins with the moves of
 * `begin`. Throws above `most` states, because nothing is shown then.
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
  const again = async (story: readonly string[]): Promise<Run> => {
    const run = start();
    for (const earlier of story) await run.make(earlier);
    return run;
  };
  const first = await again(begin);
  isNew(first.key());
  let row: Reached[] = [{ story: begin, moves: first.moves(), run: first }];
  while (row.length > 0) {
    const next: Reached[] = [];
    let kept = 0;
    for (const reached of row) {
      const { story, moves } = reached;
      for (const [index, move] of moves.entries()) {
        const run = (index === moves.length - 1 ? reached.run : undefined) ?? (await again(story));
        await run.make(move);
        const what = run.breach();
        if (what !== undefined) return { states: seen.size, breach: { what, story: [...story, move] } };
        if (!isNew(run.key())) continue;
        kept += 1;
        next.push({ story: [...story, move], moves: run.moves(), run: kept > RUNS_KEPT ? undefined : run });
      }
      reached.run = undefined;
    }
    if (seen.size > most) throw new Error(`more than ${most} states`);
    row = next;
  }
  return { states: seen.size };
};
