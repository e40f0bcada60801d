import { InvalidArgumentError, Command as Program, Option as ProgramOption } from 'commander';
import type { Command, Flags, Option } from './command.js';
import { examplesOf } from './examples.js';

/** What a person typed after the name of a command. */
export type Typed = { flags: Flags; positionals: readonly string[] };

const COMMON: Readonly<Record<string, Option>> = {
  json: { help: 'print one JSON document on stdout' },
};

const ACTOR: Option = { value: 'NAME', help: 'who runs this (default: the OS user)' };

/** Columns of a help text; not those of the terminal, so that the handbook shows what is printed. */
const HELP_WIDTH = 118;

/** Every option of a command, with those that all commands have. */
export const optionsOf = (command: Command): Readonly<Record<string, Option>> => ({
  ...command.options,
  ...COMMON,
  ...(command.changes ? { actor: ACTOR } : {}),
});

/** The program of these commands: calls `act` with what was typed, throws `CommanderError` for all else, and gives help and errors to `write`. */
export const programOf = (
  commands: readonly Command[],
  argv: readonly string[],
  write: (text: string) => void,
  act: (command: Command, typed: Typed) => Promise<void>,
): Program => {
  const program = new Program('nfse')
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: write, outputError: write })
    .configureHelp({ helpWidth: HELP_WIDTH })
    .helpOption(false)
    .helpCommand(false);
  const groups = new Map<string, Program>();
  const placeOf = (words: readonly string[]): Program => {
    const [first = '', second] = words;
    if (second === undefined) return program.command(first);
    const group = groups.get(first) ?? program.command(first).helpCommand(false).helpOption('--help', 'show this help');
    groups.set(first, group);
    return group.command(second);
  };
  for (const command of commands) describe(placeOf(command.name.split(' ')), command, argv, act);
  return program;
};

const describe = (
  place: Program,
  command: Command,
  argv: readonly string[],
  act: (command: Command, typed: Typed) => Promise<void>,
): void => {
  const options = Object.entries(optionsOf(command)).map(
    ([name, option]) => [name, optionOf(name, option, argv)] as const,
  );
  place.helpOption('--help', 'show this help').description(command.summary);
  for (const name of command.positionals ?? []) place.argument(name.startsWith('[') ? name : `<${name}>`);
  for (const [, option] of options) place.addOption(option);
  const examples = examplesOf(command.name);
  if (examples.length > 0)
    place.addHelpText('after', ['', 'Examples:', ...examples.map((typed) => `  nfse ${typed}`)].join('\n'));
  place.action(async () => {
    const flags = Object.fromEntries(
      options.map(([name, option]) => {
        const value: unknown = place.getOptionValue(option.attributeName());
        return [name, option.negate ? value === false || undefined : value];
      }),
    ) as Flags;
    await act(command, { flags, positionals: place.args });
  });
};

const optionOf = (name: string, option: Option, argv: readonly string[]): ProgramOption => {
  const { value, help, multiple, required } = option;
  const notes = [...(multiple === true ? ['may be repeated'] : []), ...(required === true ? ['required'] : [])];
  const text = notes.length === 0 ? help : `${help} (${notes.join(', ')})`;
  const typed = value === undefined ? `--${name}` : `--${name} <${value}>`;
  const made = new ProgramOption(typed, text).makeOptionMandatory(required === true);
  if (value === undefined) return made;
  return made.argParser((given: string, before: unknown) => {
    // A forgotten value must not swallow the option after it.
    if (given.length > 1 && given.startsWith('-') && !argv.includes(`--${name}=${given}`))
      throw new InvalidArgumentError(`Write --${name}=${given} for a value that begins with a hyphen.`);
    return multiple === true ? [...(Array.isArray(before) ? (before as unknown[]) : []), given] : given;
  });
};

/** The help of a command: how it is typed, what it does, its options, examples. */
export const usageOf = (command: Command): string => {
  const program = programOf(
    [command],
    [],
    () => undefined,
    async () => undefined,
  );
  const place = command.name.split(' ').reduce<Program | undefined>((found, word) => find(found, word), program);
  const parts: string[] = [];
  place?.configureOutput({ writeOut: (part) => void parts.push(part) }).outputHelp();
  return parts.join('').trimEnd();
};

const find = (program: Program | undefined, word: string): Program | undefined =>
  program?.commands.find((one) => one.name() === word);
