import { readFile } from 'node:fs/promises';
import { putRegistryEntries } from '../../app/reference-data/commands.js';
import { parseRegistryFile } from '../../app/reference-data/registry-file.js';
import { badUsage, type Command, done } from '../command.js';
import { withProblems } from './catalog.js';

const put: Command = {
  name: 'registry put',
  positionals: ['FILE.json'],
  summary: 'record names of the local tax registry: one entry or a list',
  options: {},
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const json = await readJson(file);
    if ('problem' in json) return badUsage(json.problem);
    const parsed = parseRegistryFile(json.value);
    if ('problems' in parsed) return withProblems(`${file} was not recorded:`, parsed.problems);
    const changed = await putRegistryEntries(parsed.entries, (await session()).companyDeps(actor));
    return done(`${parsed.entries.size} entries on record, ${changed} changed`, {
      ...{ entries: parsed.entries.size, changed },
    });
  },
};

export const registryCommands: readonly Command[] = [put];

const readJson = async (file: string): Promise<{ value: unknown } | { problem: string }> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { problem: `${file} cannot be read` };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: `${file} is not JSON` };
  }
};
