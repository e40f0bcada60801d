import { userInfo } from 'node:os';
import { CommanderError } from 'commander';
import { codePattern, withoutMask } from '../domain/common/masks.js';
import { printable } from '../lib/printable.js';
import { badUsage, type Command, done, type Outcome, textFlag } from './command.js';
import { noCnpjText } from './flags.js';
import { programOf, type Typed, usageOf } from './program.js';
import type { Session, SessionNeeds } from './session.js';
import { jsonText, type Terminal } from './terminal.js';

/** Finds the command in argv, runs it and prints its outcome. Returns the exit code. `version` is the text of `--version`. */
export const runCommand = async (
  argv: readonly string[],
  commands: readonly Command[],
  open: (needs?: SessionNeeds) => Promise<Session>,
  terminal: Terminal,
  version = '',
): Promise<number> => {
  const say = (outcome: Outcome): number => print(outcome, argv.includes('--json'), terminal);
  // `help company put` is `company put --help`.
  const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
  const [first] = words.filter((word) => word !== '--json');
  if (first === '--version') return say(done(`nfse ${version}`, { version }));
  if (first === undefined || first === '--help') {
    const usage = overview(commands);
    return say(done(usage, { usage }));
  }
  let exit: number | undefined;
  const written: string[] = [];
  const act = async (command: Command, typed: Typed): Promise<void> => {
    const meant = withoutMasks(command, typed);
    const { flags, positionals } = meant;
    const wrong = wrongIn(command, meant);
    if (wrong !== undefined) {
      exit = print(badUsage(wrong), flags.json === true, terminal);
      return;
    }
    const actor = command.changes ? (textFlag(flags, 'actor') ?? osUser()) : '';
    const session = (needs?: SessionNeeds): Promise<Session> =>
      open(command.needsDatabase === true ? { ...needs, onlyExisting: true } : needs);
    const outcome = await command.run({ positionals, flags, actor, session, terminal });
    exit = print(outcome, flags.json === true, terminal);
  };
  const program = programOf(commands, words, (text) => void written.push(text), act);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return say(outcomeOf(error, words, written.join('').trimEnd(), commands));
  }
  return exit ?? say(unknownCommand(words, commands));
};

/** Help that was asked for, or bad usage. `written`: what the program wrote. */
const outcomeOf = (
  error: CommanderError,
  words: readonly string[],
  written: string,
  commands: readonly Command[],
): Outcome => {
  const command = findCommand(words, commands);
  if (error.code === 'commander.helpDisplayed') {
    const usage = command === undefined ? listOf(groupOf(words[0], commands)).join('\n') : written;
    return done(usage, { usage });
  }
  if (command === undefined) return unknownCommand(words, commands, error.message);
  return badUsage(`${error.message.replace(/^error: /, '')}\n\n${usageOf(command)}`);
};

/** A uid without a passwd entry, usual in containers, has no name. */
export const osUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid:${process.geteuid?.() ?? 'unknown'}`;
  }
};

/** Names the second word only if the first one begins commands of two words, which are then listed. `said` may suggest a command. */
const unknownCommand = (
  [first = '', second = '']: readonly string[],
  commands: readonly Command[],
  said = '',
): Outcome => {
  const group = groupOf(first, commands).map(({ name }) => name);
  if (group.length > 0 && (second === '' || second.startsWith('-')))
    return badUsage(`${first} wants another word; known: ${group.join(', ')}`);
  const typed = group.length > 0 ? `${first} ${second}` : first;
  const [, meant] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(said) ?? [];
  const known = group.length > 0 ? `known: ${group.join(', ')}` : 'nfse --help lists them';
  const hint = meant === undefined ? '' : ` (did you mean ${group.length > 0 ? `${first} ` : ''}${meant}?)`;
  return badUsage(`unknown command ${typed}${hint}; ${known}`);
};

/** The commands of two words that begin with `first`. */
const groupOf = (first: string | undefined, commands: readonly Command[]): readonly Command[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `));

const findCommand = (words: readonly string[], commands: readonly Command[]): Command | undefined =>
  commands.find(({ name }) => name.split(' ').every((word, index) => words[index] === word));

/** A CNPJ is pasted with its mask as often as without. */
const withoutMasks = ({ positionals: names = [] }: Command, { flags, positionals }: Typed): Typed => {
  const company = textFlag(flags, 'company');
  return {
    flags: company === undefined ? flags : { ...flags, company: withoutMask(company, 'cnpj') },
    positionals: positionals.map((text, index) => (names[index] === 'CNPJ' ? withoutMask(text, 'cnpj') : text)),
  };
};

/** Each event of a command has the name, also one that has hardly room for it. */
const MAX_ACTOR = 200;

/** The fault in the arguments of any command. Text that is no CNPJ would be an unknown company, and control characters on record for good. */
const wrongIn = ({ positionals: names = [] }: Command, { flags, positionals }: Typed): string | undefined => {
  const noCnpj = positionals.find((text, index) => names[index] === 'CNPJ' && !codePattern('cnpj').test(text));
  if (noCnpj !== undefined) return noCnpjText(noCnpj);
  const actor = textFlag(flags, 'actor');
  if (actor?.trim() === '')
    return '--actor is empty: name who runs this, or leave the option out for the user of this machine';
  if (actor !== undefined && actor.length > MAX_ACTOR) return `--actor is longer than ${MAX_ACTOR} characters`;
  const isPlainActor = !/\p{Cc}/u.test(actor ?? '');
  return isPlainActor ? undefined : '--actor has control characters: name who runs this without them';
};

const print = (outcome: Outcome, json: boolean, terminal: Terminal): number => {
  if (outcome.ifUnseen !== undefined) terminal.ifUnseen?.(outcome.ifUnseen);
  // Streaming commands have already printed their output and return neither text nor JSON.
  if (json && outcome.json !== undefined) terminal.out(jsonText(outcome.json));
  else if (!json && outcome.text !== '') {
    const isRaw = outcome.isFile === true && terminal.outIsTTY !== true;
    terminal[outcome.exit === 0 || outcome.isReport === true ? 'out' : 'err'](
      isRaw ? outcome.text : printable(outcome.text),
    );
  }
  return outcome.exit;
};

/** Headings of the overview, each with the first words of its commands. */
const HEADINGS: readonly (readonly [heading: string, words: readonly string[]])[] = [
  ['Run', ['serve', 'simulator', 'demo', 'setup']],
  ['Companies', ['company', 'certificate', 'key']],
  ['Reference data', ['catalog', 'municipality', 'registry']],
  ['Invoices and support', ['invoice', 'parked', 'api', 'privacy']],
  ['The log and its proof', ['events', 'audit']],
  ['Operation', ['doctor', 'projections', 'master-key', 'backup', 'restore', 'completion']],
];

const COLUMN = 34;

const listOf = (commands: readonly Command[]): readonly string[] =>
  commands.map(
    ({ name, positionals = [], summary }) => `  ${[name, ...positionals].join(' ').padEnd(COLUMN)}${summary}`,
  );

/** The text of `nfse --help`: all commands, by what they are about. */
const overview = (commands: readonly Command[]): string => {
  const headings = HEADINGS.map(([heading, words]) => ({
    heading,
    found: commands.filter(({ name }) => words.includes(name.split(' ')[0] ?? '')),
  }));
  const others = commands.filter((command) => headings.every(({ found }) => !found.includes(command)));
  const lists = headings.concat({ heading: 'Other', found: others });
  return [
    'nfse COMMAND [options]: the operator command of the NFS-e issuance service',
    ...lists
      .filter(({ found }) => found.length > 0)
      .flatMap(({ heading, found }) => ['', `${heading}:`, ...listOf(found)]),
    '',
    `  ${'--version'.padEnd(COLUMN)}show the version`,
    '',
    'nfse COMMAND --help explains a command; every command has --json. Exit codes: 0 done, 1 refused or found, 2 bad usage,',
    '3 an engine cannot be reached.',
  ].join('\n');
};
