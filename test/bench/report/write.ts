import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPage } from '../../tools/documents/pages.js';
import { withRegion } from '../../tools/documents/regions.js';
import { ROOT } from '../../tools/root.js';
import { groups } from '../groups.js';
import { type KeptResult, newestResults, SHOWN } from './kept.js';
import { performancePages, readmeLines } from './page.js';

const SHOWN_GROUPS = Object.keys(groups).filter((name) => groups[name]?.when !== 'part');

/** Writes docs/performance.md with its charts, and the lines of the README, from the newest result of each group. */
export const writeReport = async (): Promise<void> => {
  const results = await newestResults(SHOWN_GROUPS);
  await mkdir(dirname(SHOWN), { recursive: true });
  await writeFile(SHOWN, `${JSON.stringify(results, undefined, 1)}\n`);
  for (const [path, text] of Object.entries(reportPages(results))) await writeFile(join(ROOT, path), text);
};

/** Every file that follows from the results, by its path. */
export const reportPages = (results: readonly KeptResult[]): Readonly<Record<string, string>> => ({
  ...performancePages(results),
  'README.md': withRegion(readPage('README.md'), 'performance', readmeLines(results)),
});
