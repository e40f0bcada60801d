import { putRegistryEntries } from '../../app/reference-data/commands.js';
import { parseRegistryFile } from '../../app/reference-data/registry-file.js';
import { badUsage, type Command, done } from '../command.js';
import { readJsonFile } from '../json-file.js';
import { counted } from '../text.js';
import { withProblems } from './catalog.js';

const put: Command = {
  name: 'registry put',
  positionals: ['FILE.json'],
  summary: 'record names of the local tax registry: one entry or a list',
  options: {},
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const json = await readJsonFile(file);
    if ('problem' in json) return badUsage(json.problem);
    const parsed = parseRegistryFile(json.value);
    if ('problems' in parsed) return withProblems(`${file} was not recorded:`, parsed.problems);
    const changed = await putRegistryEntries(parsed.entries, (await session()).companyDeps(actor));
    return done(`${counted(parsed.entries.size, 'entry', 'entries')} on record, ${changed} changed`, {
      ...{ entries: parsed.entries.size, changed },
    });
  },
};

export const registryCommands: readonly Command[] = [put];
