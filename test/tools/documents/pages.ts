import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';
import { commandSections, exampleTable } from './commands.js';
import { variableTables } from './configuration.js';
import { withRegion } from './regions.js';

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The pages with tables of variables and commands, as the code says today. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  'docs/operations/configuration.md': withRegion(
    readPage('docs/operations/configuration.md'),
    'variables',
    variableTables(),
  ),
  'docs/cli.md': withRegion(
    withRegion(readPage('docs/cli.md'), 'examples', exampleTable()),
    'commands',
    commandSections(),
  ),
});
