import { readFile } from 'node:fs/promises';
import { parseCatalogFile, renderCatalogFile } from '../../app/reference-data/catalog-file.js';
import { importCatalog } from '../../app/reference-data/commands.js';
import type { ImportedLines } from '../../domain/catalog/catalog.js';
import type { OperatorLine } from '../../domain/catalog/events.js';
import type { Catalogue } from '../../domain/company/line-selection.js';
import { badUsage, type Command, done, type Outcome } from '../command.js';
import { counted } from '../text.js';

/** The catalogue that the product ships, and which CNAEs it has. */
export type ShippedCatalogue = Catalogue & { cnaes: readonly string[] };

const importCommand = (shipped: ShippedCatalogue): Command => ({
  name: 'catalog import',
  positionals: ['FILE.tsv'],
  summary: 'replace the activity lines of the CNAEs in the file, all or nothing',
  options: {},
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return badUsage(`${file} cannot be read`);
    const parsed = parseCatalogFile(text, shipped.isServiceCode);
    if ('problems' in parsed) return withProblems(`${file} was not imported:`, parsed.problems);
    const changed = await importCatalog(parsed.lines, (await session()).companyDeps(actor));
    const lines = [...parsed.lines.values()].flat().length;
    return done(
      `${counted(lines, 'line')} of ${counted(parsed.lines.size, 'CNAE')} on record, ${counted(changed, 'CNAE')} changed`,
      {
        ...{ cnaes: parsed.lines.size, lines, changed },
      },
    );
  },
});

const exportCommand = (shipped: ShippedCatalogue): Command => ({
  name: 'catalog export',
  positionals: [],
  summary: 'the shipped activity lines under the imported ones, tab-separated',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const lines = allLines(shipped, await (await session()).readModel.catalogLines('all'));
    return done(renderCatalogFile(lines), { lines: lines.map(describe) });
  },
});

export const catalogCommands = (shipped: ShippedCatalogue): readonly Command[] => [
  importCommand(shipped),
  exportCommand(shipped),
];

/** Exit 1, with a line for each problem. */
export const withProblems = (headline: string, problems: readonly string[]): Outcome => ({
  exit: 1,
  text: [headline, ...problems.map((problem) => `  ${problem}`)].join('\n'),
  json: { error: headline, problems },
});

const allLines = (shipped: ShippedCatalogue, imported: ImportedLines): readonly OperatorLine[] =>
  [...new Set([...shipped.cnaes, ...imported.keys()])]
    .sort()
    .flatMap((cnae) => imported.get(cnae) ?? shipped.linesOf(cnae))
    // A CNAE for which the published tables know no service is shipped without a code: nothing to look at or to import.
    .filter((line) => line.serviceCode !== '');

const describe = (line: OperatorLine) => ({
  cnae: line.cnae,
  service_code: line.serviceCode,
  nbs: line.nbs ?? '',
  description: line.description,
  is_default: line.isDefault,
  is_blocked: line.isBlocked,
  ...(line.municipalCode === undefined ? {} : { municipal_code: line.municipalCode }),
  ...(line.incidence === undefined ? {} : { incidence: line.incidence }),
});
