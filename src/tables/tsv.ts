import { readFileSync } from 'node:fs';

/** Reads a shipped table: each row as text by column name. Throws when a column is missing. */
export const readTable = <Column extends string>(
  file: string,
  columns: readonly Column[],
): readonly Record<Column, string>[] => {
  const [header = '', ...lines] = readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const places = columns.map((column) => {
    const place = header.split('\t').indexOf(column);
    if (place < 0) throw new Error(`${file} has no column ${column}`);
    return [column, place] as const;
  });
  return lines.map((line) => {
    const cells = line.split('\t');
    // Filled in a loop: a start waits for tables of thousands of rows.
    const row: Partial<Record<Column, string>> = {};
    for (const [column, place] of places) row[column] = cells[place] ?? '';
    return row as Record<Column, string>;
  });
};

/** Rows by the value of one column, in the order of the file. */
export const grouped = <Column extends string>(
  rows: readonly Record<Column, string>[],
  column: NoInfer<Column>,
): ReadonlyMap<string, readonly Record<Column, string>[]> => {
  const groups = new Map<string, Record<Column, string>[]>();
  for (const row of rows) {
    const group = groups.get(row[column]);
    if (group === undefined) groups.set(row[column], [row]);
    else group.push(row);
  }
  return groups;
};

/** Computed for a key when it is first asked for. Undefined is not kept, because clients choose keys. */
export const lazyByKey = <T>(make: (key: string) => T | undefined): ((key: string) => T | undefined) => {
  const made = new Map<string, T>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    if (value !== undefined) made.set(key, value);
    return value;
  };
};

/** Computed at the first use, kept for the life of the process. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};
