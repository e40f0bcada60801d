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
    return Object.fromEntries(places.map(([column, place]) => [column, cells[place] ?? ''])) as Record<Column, string>;
  });
};

/** Computed at the first use, kept for the life of the process. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};
