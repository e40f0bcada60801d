import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { withoutMask } from '../domain/common/masks.js';
import type { Command, Option, Outcome } from './command.js';
import { badUsage, done, textFlag } from './command.js';
import type { Session, SessionNeeds } from './session.js';
import type { Terminal } from './terminal.js';

const COMMON: Readonly<Record<string, Option>> = {
  json: { type: 'boolean', help: 'print one JSON document on stdout' },
  help: { type: 'boolean', help: 'show this help' },
};

const ACTOR: Option = { type: 'string', help: 'who runs this (default: the OS user)' };

/** Finds the command in argv, runs it and prints its outcome. Returns the exit code. `version` is the text of `--version`. */
export const runCommand = async (
  argv: readonly string[],
  commands: readonly Command[],
  open: (needs?: SessionNeeds) => Promise<Session>,
  terminal: Terminal,
  version = '',
): Promise<number> => {
  const say = (outcome: Outcome): number => print(outcome, argv.includes('--json'), terminal);
  if (argv[0] === '--version') return say(done(`nfse ${version}`, { version }));
  const command = findCommand(argv, commands);
  if (command === undefined) {
    if (argv.length === 0 || argv[0] === '--help' || argv[0] === 'help') {
      terminal.out(overview(commands));
      return 0;
    }
    const group = argv[1] === '--help' ? groupOf(argv[0], commands) : [];
    if (group.length === 0) return say(unknownCommand(argv, commands));
    terminal.out(listOf(group).join('\n'));
    return 0;
  }
  const usage = usageOf(command);
  const parsed = parse(argv.slice(command.name.split(' ').length), optionsOf(command));
  if ('problem' in parsed) return say(badUsage(`${parsed.problem}\n${usage}`));
  const { flags, positionals } = withoutMasks(command, parsed);
  const json = flags.json === true;
  if (flags.help === true) return print(done(usage, { usage }), json, terminal);
  const { positionals: names = [] } = command;
  const required = names.filter((name) => !name.startsWith('['));
  if (positionals.length < required.length || positionals.length > names.length)
    return print(badUsage(usage), json, terminal);
  const actor = command.changes ? (textFlag(flags, 'actor') ?? osUser()) : '';
  return print(await command.run({ positionals, flags, actor, session: open, terminal }), json, terminal);
};

/** A uid without a passwd entry, usual in containers, has no name. */
export const osUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid:${process.geteuid?.() ?? 'unknown'}`;
  }
};

/** Names the second word only if the first one begins commands of two words, and then lists those commands. */
const unknownCommand = ([first = '', second = '']: readonly string[], commands: readonly Command[]): Outcome => {
  const group = groupOf(first, commands).map(({ name }) => name);
  const typed = group.length > 0 && second !== '' && !second.startsWith('-') ? `${first} ${second}` : first;
  const known = group.length > 0 ? `known: ${group.join(', ')}` : 'nfse --help lists them';
  return badUsage(`unknown command ${typed}; ${known}`);
};

/** The commands of two words that begin with `first`. */
const groupOf = (first: string | undefined, commands: readonly Command[]): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));

const findCommand = (argv: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(' ').every((word, index) => argv[index] === word));

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

const parse = (
  args: readonly string[],
  options: Readonly<Record<string, Option>>,
): { values: Values; positionals: string[] } | { problem: string } => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'bad usage' };
  }
};

/** A CNPJ is pasted with its mask as often as without. */
const withoutMasks = (
  { positionals: names = [] }: Command,
  { values, positionals }: { values: Values; positionals: readonly string[] },
): { flags: Values; positionals: readonly string[] } => {
  const { company } = values;
  return {
    flags: typeof company === 'string' ? { ...values, company: withoutMask(company, 'cnpj') } : values,
    positionals: positionals.map((text, index) => (names[index] === 'CNPJ' ? withoutMask(text, 'cnpj') : text)),
  };
};

const print = (outcome: Outcome, json: boolean, terminal: Terminal): number => {
  // Streaming commands have already printed their output and return neither text nor JSON.
  if (json && outcome.json !== undefined) terminal.out(JSON.stringify(outcome.json));
  else if (!json && outcome.text !== '')
    terminal[outcome.exit === 0 || outcome.isReport === true ? 'out' : 'err'](outcome.text);
  return outcome.exit;
};

const optionsOf = (command: Command): Readonly<Record<string, Option>> => ({
  ...command.options,
  ...COMMON,
  ...(command.changes ? { actor: ACTOR } : {}),
});

/** The help of a command: how it is typed, what it does, its options. */
export const usageOf = (command: Command): string => {
  const places = (command.positionals ?? []).map((name) => ` ${name}`).join('');
  const lines = Object.entries(optionsOf(command)).map(([name, { type, multiple, help }]) => {
    const shown = `--${name}${type === 'string' ? ' VALUE' : ''}${multiple === true ? ' (repeatable)' : ''}`;
    return `  ${shown.padEnd(32)}${help}`;
  });
  return [`nfse ${command.name}${places} [options]`, `  ${command.summary}`, '', ...lines].join('\n');
};

const listOf = (commands: readonly Command[]): readonly string[] =>
  commands.map(({ name, positionals = [], summary }) => `  ${[name, ...positionals].join(' ').padEnd(34)}${summary}`);

const overview = (commands: readonly Command[]): string =>
  [
    'nfse COMMAND [options]: the operator command of the NFS-e issuance service',
    '',
    ...listOf(commands),
    `  ${'--version'.padEnd(34)}show the version`,
    '',
    'Every command has --help and --json. Exit codes: 0 done, 1 refused or found, 2 bad usage, 3 an engine cannot be reached.',
  ].join('\n');
