const WARM_UPS = 2;

type Side<T> = () => Promise<T>;

/**
 * Measures two sides in turn, A B A B, so that a slow moment of the machine meets both; the first two rounds of
 * each only warm up. `ratio` is the median of the ratios of neighbours.
 */
export const interleave = async <T>(
  rounds: number,
  sides: { ours: Side<T>; bare: Side<T> },
  rateOf: (result: T) => number,
): Promise<{ ours: readonly T[]; bare: readonly T[]; ratio: number }> => {
  const ours: T[] = [];
  const bare: T[] = [];
  for (let round = 0; round < WARM_UPS + rounds; round += 1) {
    const [one, other] = [await sides.ours(), await sides.bare()];
    if (round < WARM_UPS) continue;
    ours.push(one);
    bare.push(other);
  }
  const ratios = ours.flatMap((result, round) => {
    const neighbour = bare[round];
    return neighbour === undefined ? [] : [rateOf(result) / rateOf(neighbour)];
  });
  return { ours, bare, ratio: median(ratios) };
};

/** The upper one of two in the middle. */
export const median = (values: readonly number[]): number => {
  const middle = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
};
