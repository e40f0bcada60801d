type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Leaves out fields that are undefined. A loop, because every answer and log line is made with it. */
export const present = <T extends object>(fields: T): Present<T> => {
  const all = fields as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(all)) if (all[name] !== undefined) kept[name] = all[name];
  return kept as Present<T>;
};
