import { sha256 } from '../../src/lib/sha256.js';

/** One thing that may happen in a state, and the state after it. */
export type Move<World> = { name: string; after: World };

export type Model<World> = {
  starts: readonly World[];
  movesOf(world: World): readonly Move<World>[];
  /** The breach in a state, or in the step into it; undefined without one. */
  breachOf(world: World, before: World | undefined): string | undefined;
  /** Everything that tells two states apart, and nothing else. */
  keyOf(world: World): string;
};

export type Exploration = {
  states: number;
  /** The first breach found by breadth, so that no shorter story leads to one. */
  breach?: { what: string; story: readonly string[] };
};

/** How a state was reached; the states on the way are not kept. */
type Trail = { name: string; from: Trail | undefined };

type Visit<World> = { world: World; trail: Trail };

/** Visits every reachable state once. Throws when there are more than `most`, because nothing is shown then. */
export const explore = <World>(model: Model<World>, most: number): Exploration => {
  const seen = new Set<string>();
  let row: Visit<World>[] = [];
  const enter = (visit: Visit<World>): boolean => {
    const key = sha256(model.keyOf(visit.world), 'binary');
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
  for (const world of model.starts) row.push({ world, trail: { name: 'start', from: undefined } });
  row = row.filter(enter);
  while (row.length > 0) {
    const next: Visit<World>[] = [];
    for (const visit of row) {
      for (const { name, after } of model.movesOf(visit.world)) {
        const reached = { world: after, trail: { name, from: visit.trail } };
        const what = model.breachOf(after, visit.world);
        if (what !== undefined) return { states: seen.size, breach: { what, story: storyOf(reached.trail) } };
        if (enter(reached)) next.push(reached);
      }
    }
    if (seen.size > most) throw new Error(`more than ${most} states`);
    row = next;
  }
  return { states: seen.size };
};

const storyOf = (last: Trail): readonly string[] => {
  const story: string[] = [];
  for (let trail: Trail | undefined = last; trail !== undefined; trail = trail.from) story.unshift(trail.name);
  return story;
};

/** Processes in the same state do the same things, and which of them does one makes no difference (`keyOf`): each state counts once. */
export const isFirstOfItsKind = <Worker>(worker: Worker, index: number, workers: readonly Worker[]): boolean =>
  workers.indexOf(worker) === index;
