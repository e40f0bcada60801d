import { expect, it } from 'vitest';
import { done, type Outcome, refused, reported } from '../../src/cli/command.js';
import { runCommand } from '../../src/cli/run.js';
import { allCommands } from '../../src/runtime/commands/main.js';

const unused = (): never => {
  throw new Error('a command that is not there needs nothing');
};

/** What is said on stderr and shown on stdout, and the exit code. */
const typed = async (...argv: string[]) => {
  const commands = allCommands({}, unused).map((command) => ({ ...command, run: async () => done('', {}) }));
  const said: string[] = [];
  const shown: string[] = [];
  const terminal = { out: (text: string) => void shown.push(text), err: (text: string) => void said.push(text) };
  const exit = await runCommand(argv, commands, unused, terminal);
  return { exit, said: said.join('\n'), shown: shown.join('\n') };
};

it.each([
  [['key', 'remove', 'x'], 'unknown command key remove; known: key create, key list, key revoke'],
  [['key'], 'unknown command key; known: key create, key list, key revoke'],
  [['keys', 'list'], 'unknown command keys; nfse --help lists them'],
])('%j is bad usage and is told what there is', async (argv, line) => {
  expect(await typed(...argv)).toEqual({ exit: 2, said: line, shown: '' });
});

it('the help of a group lists its commands', async () => {
  const { exit, shown } = await typed('key', '--help');
  expect(exit).toBe(0);
  expect(shown.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
    ...['key create', 'key list', 'key revoke'],
  ]);
});

it.each<[string, Outcome, 'out' | 'err']>([
  ['a report that finds nothing', reported(true, 'all is well', {}), 'out'],
  ['a report that finds something', reported(false, 'a finding', {}), 'out'],
  ['a refusal', refused('no'), 'err'],
])('%s is said where it is looked for', async (_what, outcome, where) => {
  const command = { name: 'look', positionals: [], summary: '', options: {}, changes: false, run: async () => outcome };
  const said = { out: [] as string[], err: [] as string[] };
  const terminal = { out: (text: string) => void said.out.push(text), err: (text: string) => void said.err.push(text) };
  expect(await runCommand(['look'], [command], unused, terminal)).toBe(outcome.exit);
  expect(said).toEqual({ out: [], err: [], [where]: [outcome.text] });
});
