import { constants } from 'node:buffer';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { companyCommands } from '../../src/cli/commands/company.js';
import { importCommand } from '../../src/cli/commands/invoice-import.js';
import { catalogCommands, registryCommand } from '../../src/cli/commands/reference-data.js';
import { runCommand } from '../../src/cli/run.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const unused = (): never => {
  throw new Error('a file that cannot be read needs no engine');
};
const commands = [importCommand(unused), ...companyCommands, ...catalogCommands, registryCommand];

it.each(['invoice import', 'company put', 'catalog import', 'registry put'])(
  'nfse %s says in one line that a file is too large to be a text',
  async (command) => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    // The file has no bytes on the disk.
    truncateSync(file, constants.MAX_STRING_LENGTH + 1);
    const err: string[] = [];
    const terminal = { out: unused, err: (text: string) => void err.push(text) };
    expect(await runCommand([...command.split(' '), file], commands, unused, terminal)).toBe(2);
    expect(err).toEqual([`${file} is too large: a command reads at most ${constants.MAX_STRING_LENGTH} bytes`]);
  },
);
