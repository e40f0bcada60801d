import { readFile } from 'node:fs/promises';
import { parseCatalogFile, renderCatalogFile } from '../../app/operator/reference-data/catalog-file.js';
import { importCatalog, putRegistryEntries } from '../../app/operator/reference-data/commands.js';
import { parseRegistryFile } from '../../app/operator/reference-data/registry-file.js';
import type { ImportedLines } from '../../domain/catalog/catalog.js';
import type { OperatorLine } from '../../domain/catalog/events.js';
import { counted } from '../../lib/counted.js';
import { shippedCatalogue, shippedCnaes } from '../../tables/catalogue.js';
import { badUsage, type Command, done, withProblems } from '../command.js';
import { readJsonFile } from '../flags.js';

const importCommand: Command = {
  name: 'catalog import',
  positionals: ['FILE.tsv'],
  summary: 'replace the activity lines of the CNAEs in the file, all or nothing',
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return badUsage(`${file} cannot be read`);
    const parsed = parseCatalogFile(text, shippedCatalogue.isServiceCode);
    if ('problems' in parsed) return withProblems(`${file} was not imported:`, parsed.problems);
    const changed = await importCatalog(parsed.lines, (await session()).companyDeps(actor));
    const lines = [...parsed.lines.values()].flat().length;
    return done(
      `${counted(lines, 'line')} of ${counted(parsed.lines.size, 'CNAE')} on record, ${counted(changed, 'CNAE')} changed`,
      { cnaes: parsed.lines.size, lines, changed },
    );
  },
};

const exportCommand: Command = {
  name: 'catalog export',
  summary: 'the shipped activity lines under the imported ones, tab-separated',
  changes: false,
  run: async ({ session }) => {
    const lines = allLines(await (await session()).readModel.catalogLines('all'));
    return done(renderCatalogFile(lines), { lines: lines.map(describe) });
  },
};

export const catalogCommands: readonly Command[] = [importCommand, exportCommand];

const allLines = (imported: ImportedLines): readonly OperatorLine[] =>
  [...new Set([...shippedCnaes(), ...imported.keys()])]
    .sort()
    .flatMap((cnae) => imported.get(cnae) ?? shippedCatalogue.linesOf(cnae))
    // A CNAE without a published service is shipped without a code; such a line needs no review and cannot be imported.
    .filter((line) => line.serviceCode !== '');

const describe = (line: OperatorLine) => ({
  cnae: line.cnae,
  service_code: line.serviceCode,
  nbs: line.nbs ?? '',
  description: line.description,
  is_default: line.isDefault,
  is_blocked: line.isBlocked,
  municipal_code: line.municipalCode,
  incidence: line.incidence,
});

export const registryCommand: Command = {
  name: 'registry put',
  positionals: ['FILE.json'],
  summary: 'record names of the local tax registry: one entry or a list',
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const json = await readJsonFile(file);
    if ('problem' in json) return badUsage(json.problem);
    const parsed = parseRegistryFile(json.value);
    if ('problems' in parsed) return withProblems(`${file} was not recorded:`, parsed.problems);
    const changed = await putRegistryEntries(parsed.entries, (await session()).companyDeps(actor));
    return done(`${counted(parsed.entries.size, 'entry', 'entries')} on record, ${changed} changed`, {
      entries: parsed.entries.size,
      changed,
    });
  },
};
