/** One count, which begins at 0. */
type Count<Name extends string> = { readonly name: Name; readonly limit: number; value: number };

/**
 * Counts that are held against limits. Each is an object that is named once: counts that were looked up by their names took a quarter of the time of a
 * pass over a document.
 */
export const countsWithin = <Name extends string>(limits: Readonly<Record<Name, number>>) => {
  const names = Object.keys(limits) as Name[];
  const all = names.map((name): Count<Name> => ({ name, limit: limits[name], value: 0 }));
  let exceeded: Name | undefined;
  return {
    counts: Object.fromEntries(all.map((count) => [count.name, count])) as Record<Name, Count<Name>>,
    /** Raises a count to a value; a lower value changes nothing. */
    raise: (count: Count<Name>, value: number): void => {
      if (value > count.value) count.value = value;
      if (value > count.limit) exceeded ??= count.name;
    },
    /** The first limit that was exceeded. */
    exceededLimit: (): Name | undefined => exceeded,
    values: (): Record<Name, number> =>
      Object.fromEntries(all.map(({ name, value }) => [name, value])) as Record<Name, number>,
  };
};
