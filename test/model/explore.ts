/** One thing that may happen in a state, and the state after it. */
export type Move<World> = { name: string; after: World };

export type Model<World> = {
  starts: readonly World[];
  movesOf(world: World): readonly Move<World>[];
  /** The breach in a state, or in the step into it; undefined without one. */
  breachOf(world: World, before: World | undefined): string | undefined;
  /** Everything that tells two states apart, and nothing else; short, because one is kept for each state (`createNames`). */
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
    const key = model.keyOf(visit.world);
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

export type Names = {
  /** The same short name for the same text. */
  ofText(text: string): string;
  /** The name of a text that is made of an object which never changes: it is made once for each object. */
  of<Part extends object>(part: Part, textOf?: (part: Part) => string): string;
};

/** States share most of their parts: a key made of names is short, and the text of a part is made once. */
export const createNames = (): Names => {
  const byText = new Map<string, string>();
  const byPart = new WeakMap<object, string>();
  const ofText = (text: string): string => {
    const known = byText.get(text);
    if (known !== undefined) return known;
    const name = byText.size.toString(36);
    byText.set(text, name);
    return name;
  };
  return {
    ofText,
    of: (part, textOf = JSON.stringify) => {
      const known = byPart.get(part);
      if (known !== undefined) return known;
      const name = ofText(textOf(part));
      byPart.set(part, name);
      return name;
    },
  };
};
