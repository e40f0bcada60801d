import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../tools/root.js';
import type { BenchResult } from '../report.js';

/** The result of one group with where, when and of what it was measured. `load`: the load average of a minute before and after. */
export type KeptResult = {
  group: string;
  at: string;
  commit: string;
  machine: string;
  versions: string;
  load: readonly [before: number, after: number];
  seconds: number;
  result: BenchResult;
};

/** Results of this machine, newest of each group, which git ignores. */
const KEPT = join(ROOT, 'out/bench');

/** Those that docs/performance.md shows. */
export const SHOWN = join(ROOT, 'docs/performance/results.json');

const fileOf = (group: string): string => join(KEPT, `${group.replaceAll(':', '-')}.json`);

export const keepResult = async (kept: KeptResult): Promise<void> => {
  await mkdir(KEPT, { recursive: true });
  await writeFile(fileOf(kept.group), JSON.stringify(kept));
};

const parsed = async <T>(file: string, otherwise: T): Promise<T> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? otherwise : (JSON.parse(text) as T);
};

/** The newest result of each of these groups, in their order: of this machine, or what the page shows already. */
export const newestResults = async (groups: readonly string[]): Promise<readonly KeptResult[]> => {
  const shown = await parsed<readonly KeptResult[]>(SHOWN, []);
  const files = await readdir(KEPT).catch(() => []);
  const own = await Promise.all(files.map((file) => parsed<KeptResult | undefined>(join(KEPT, file), undefined)));
  const all = [...shown, ...own.filter((kept) => kept !== undefined)];
  return groups.flatMap((group) => {
    const [newest] = all
      .filter((kept) => kept.group === group)
      .toSorted((one, other) => other.at.localeCompare(one.at));
    return newest === undefined ? [] : [newest];
  });
};
