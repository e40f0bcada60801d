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
  const err: string[] = [];
  const out: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const exit = await runCommand(argv, commands, unused, terminal);
  return { exit, err: err.join('\n'), out: out.join('\n') };
};

it.each([
  [['key', 'remove', 'x'], 'unknown command key remove; known: key create, key list, key revoke'],
  [['key'], 'unknown command key; known: key create, key list, key revoke'],
  [['keys', 'list'], 'unknown command keys; nfse --help lists them'],
])('%j is bad usage and is told what there is', async (argv, line) => {
  expect(await typed(...argv)).toEqual({ exit: 2, err: line, out: '' });
});

it('the help of a group lists its commands', async () => {
  const { exit, out } = await typed('key', '--help');
  expect(exit).toBe(0);
  expect(out.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
    ...['key create', 'key list', 'key revoke'],
  ]);
});

it.each<[string, Outcome, 'out' | 'err']>([
  ['a report that finds nothing', reported(true, 'all is well', {}), 'out'],
  ['a report that finds something', reported(false, 'a finding', {}), 'out'],
  ['a refusal', refused('no'), 'err'],
])('%s is said where it is looked for', async (_what, outcome, where) => {
  const command = { name: 'look', positionals: [], summary: '', options: {}, changes: false, run: async () => outcome };
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (text: string) => void lines.out.push(text),
    err: (text: string) => void lines.err.push(text),
  };
  expect(await runCommand(['look'], [command], unused, terminal)).toBe(outcome.exit);
  expect(lines).toEqual({ out: [], err: [], [where]: [outcome.text] });
});
