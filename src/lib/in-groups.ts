/**
 * Runs the work on each item, at most `size` at once, a group after the other; results in the order of the items. `onGroup` gets, after each group, how
 * many items are done; no group begins after it has thrown.
 */
export const inGroups = async <T, R>(
  size: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
  onGroup?: (done: number) => void,
): Promise<readonly R[]> => {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += size) {
    results.push(...(await Promise.all(items.slice(start, start + size).map(work))));
    onGroup?.(results.length);
  }
  return results;
};
