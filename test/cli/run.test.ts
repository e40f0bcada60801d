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
  [['key', 'lst'], 'unknown command key lst (did you mean key list?); known: key create, key list, key revoke'],
  [['compny'], 'unknown command compny (did you mean company?); nfse --help lists them'],
  [
    ['key', 'remove', 'x'],
    'unknown command key remove (did you mean key revoke?); known: key create, key list, key revoke',
  ],
  [['key'], 'key wants another word; known: key create, key list, key revoke'],
  [['keys', 'list'], 'unknown command keys (did you mean key?); nfse --help lists them'],
])('%j is bad usage and is told what there is', async (argv, line) => {
  expect(await typed(...argv)).toEqual({ exit: 2, err: line, out: '' });
});

it.each([
  [['key', 'create', '1', '--mod', 'test'], "required option '--mode <live|test>' not specified"],
  [['key', 'create', '--mode', 'test'], "missing required argument 'CNPJ'"],
  [['key', 'list', '1', '2'], "too many arguments for 'list'"],
  [['company', 'list', '--jsn'], "unknown option '--jsn'\n(Did you mean --json?)"],
  [['api', 'off', '--reason', '--json'], 'Write --reason=--json for a value that begins with a hyphen'],
  [['api', 'off', '--reason'], "option '--reason <TEXT>' argument missing"],
])('%j is bad usage, which is named before the help of the command', async (argv, line) => {
  const { exit, err, out } = await typed(...argv.map((word) => word));
  expect([exit, argv.includes('--json') ? out : err]).toEqual([2, expect.stringContaining(line)]);
});

it('a value may begin with a hyphen behind an equals sign, and an option may be given again', async () => {
  expect(await typed('api', 'off', '--reason=--json')).toMatchObject({ exit: 0 });
  expect(
    await typed('key', 'create', '12345678000195', '--mode=test', '--scope', 'nfse:read', '--scope', 'nfse:write'),
  ).toMatchObject({
    exit: 0,
  });
});

it('help is given in three ways, and as JSON', async () => {
  const { out } = await typed('key', 'create', '--help');
  expect(out).toContain('Usage: nfse key create [options] <CNPJ>');
  expect(await typed('help', 'key', 'create')).toEqual({ exit: 0, err: '', out });
  expect(JSON.parse((await typed('key', 'create', '--help', '--json')).out)).toEqual({ usage: out });
});

it('the overview is JSON with --json, before or behind --help, help, or alone', async () => {
  const { out } = await typed('--help');
  for (const argv of [['--help', '--json'], ['--json', '--help'], ['help', '--json'], ['--json']]) {
    const given = await typed(...argv);
    expect([argv, given.exit, JSON.parse(given.out)]).toEqual([argv, 0, { usage: out }]);
  }
  expect(JSON.parse((await typed('--json', '--version')).out)).toHaveProperty('version');
});

it.each([
  ['company', 'show', '123'],
  ['key', 'list', '12.345.678/0001-9'],
])('%s %s %s is told that this is no CNPJ', async (...argv) => {
  expect(await typed(...argv)).toEqual({ exit: 2, err: `${argv[2]} is no CNPJ: a CNPJ has 14 characters`, out: '' });
});

it('says of a CNPJ in small letters that they are capitals', async () => {
  const err = '12abc345000188 is no CNPJ: its letters are capitals';
  expect(await typed('company', 'show', '12abc345000188')).toEqual({ exit: 2, err, out: '' });
});

it('takes a CNPJ with its mask, and one with letters', async () => {
  expect((await typed('company', 'show', '12.345.678/0001-95')).exit).toBe(0);
  expect((await typed('company', 'show', '12ABC34501DE35')).exit).toBe(0);
});

it('the help of a group lists its commands', async () => {
  const { exit, out } = await typed('key', '--help');
  expect(exit).toBe(0);
  expect(out.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
    'key create',
    'key list',
    'key revoke',
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

it.each([
  [done('a\u001b[31m\r\tb\nc\u009b', {}), 'a\ufffd[31m\ufffd\tb\nc\ufffd'],
  [refused('a\u001b[31m\r\tb\nc\u009b'), 'a\ufffd[31m\ufffd\ufffdb\ufffdc\ufffd'],
])(
  'a text is printed without control characters but line breaks and tabs, a refusal in one line: %j',
  async (outcome, shown) => {
    const said: string[] = [];
    const terminal = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
    const command = { name: 'say', summary: '', changes: false, run: async () => outcome };
    await runCommand(['say'], [command], unused, terminal);
    expect(said).toEqual([shown]);
  },
);

it('JSON is printed without control characters, and says the same', async () => {
  const outcome = done('', { 'k\u007f\u0085': ['a\u001b[31m\n\u007f\u0080\u009b\u009f\u00a0ç'] });
  const out: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: unused };
  const command = { name: 'say', summary: '', changes: false, run: async () => outcome };
  await runCommand(['say', '--json'], [command], unused, terminal);
  expect(out.join()).not.toMatch(/\p{Cc}/u);
  expect(out.join()).toContain('\\u001b[31m\\n\\u007f\\u0080\\u009b\\u009f\u00a0ç');
  expect(JSON.parse(out.join())).toEqual(outcome.json);
});
