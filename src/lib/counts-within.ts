/** Counts that are held against limits; all begin at 0. */
export const countsWithin = <Name extends string>(limits: Readonly<Record<Name, number>>) => {
  const counts = Object.fromEntries(Object.keys(limits).map((name) => [name, 0])) as Record<Name, number>;
  let exceeded: Name | undefined;
  return {
    counts,
    /** Raises a count to a value; a lower value changes nothing. */
    raise: (what: Name, value: number): void => {
      if (value > counts[what]) counts[what] = value;
      if (value > limits[what]) exceeded ??= what;
    },
    exceededLimit: (): Name | undefined => exceeded,
  };
};
