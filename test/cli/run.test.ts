import { expect, it } from 'vitest';
import { done } from '../../src/cli/command.js';
import { runCommand } from '../../src/cli/run.js';
import { allCommands } from '../../src/runtime/main.js';

const unused = (): never => {
  throw new Error('a command that is not there needs nothing');
};

/** What is said on stderr, and the exit code. */
const typed = async (...argv: string[]) => {
  const commands = allCommands({}, unused).map((command) => ({ ...command, run: async () => done('', {}) }));
  const said: string[] = [];
  const terminal = { out: () => undefined, err: (text: string) => void said.push(text) };
  const exit = await runCommand(argv, commands, unused, terminal);
  return { exit, said: said.join('\n') };
};

it.each([
  [['key', 'remove', 'x'], 'there is no command key remove: there are key create, key list, key revoke'],
  [['key'], 'there is no command key: there are key create, key list, key revoke'],
  [['key', '--help'], 'there is no command key: there are key create, key list, key revoke'],
  [['keys', 'list'], 'there is no command keys: nfse --help lists them'],
])('%j is bad usage and is told what there is', async (argv, line) => {
  expect(await typed(...argv)).toEqual({ exit: 2, said: line });
});
