/** How many shorter lists are tried, unless the caller says otherwise. */
const TRIES = 3_000;

/**
 * A shorter list of choices, with more zeros, that still fails: leaves out pieces and makes them peaceful, from large pieces to single
 * numbers, again and again for as long as that helps.
 */
export const shrink = async (
  choices: readonly number[],
  fails: (candidate: readonly number[]) => Promise<boolean>,
  most = TRIES,
): Promise<readonly number[]> => {
  let best = choices;
  let tries = 0;
  const isBetter = async (candidate: readonly number[]): Promise<boolean> => {
    if (tries >= most) return false;
    tries += 1;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before = Number.POSITIVE_INFINITY; weightOf(best) < before && tries < most; ) {
    before = weightOf(best);
    for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < best.length; ) {
        const piece = best.slice(from, from + size);
        const without = [...best.slice(0, from), ...best.slice(from + size)];
        if (await isBetter(without)) continue;
        const isPeaceful = piece.every((choice) => choice === 0);
        if (!isPeaceful) await isBetter([...best.slice(0, from), ...piece.map(() => 0), ...best.slice(from + size)]);
        from += size;
      }
    }
  }
  return withoutLastZeros(best);
};

/** Less is shorter, or as long with fewer faults in it. */
const weightOf = (choices: readonly number[]): number =>
  choices.length * 1_000 + choices.filter((choice) => choice !== 0).length;

/** A list that has ended goes on with zeros. */
const withoutLastZeros = (choices: readonly number[]): readonly number[] =>
  choices.slice(0, choices.findLastIndex((choice) => choice !== 0) + 1);
