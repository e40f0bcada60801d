import type { Command } from '../../../src/cli/command.js';
import { commandExamples } from '../../../src/cli/examples.js';
import { optionsOf, usageOf } from '../../../src/cli/program.js';
import { allCommands } from '../../../src/runtime/commands/main.js';
import { cell } from './regions.js';

const unused = (): never => {
  throw new Error('help is made without a configuration');
};

const commands: readonly Command[] = allCommands({}, unused);

/** One row for each example; a command without an example of its own has its summary. */
export const exampleTable = (): string => {
  const shows = (name: string, typed: string): boolean => `${typed} `.startsWith(`${name} `);
  const unknown = commandExamples.find(([typed]) => commands.every(({ name }) => !shows(name, typed)));
  if (unknown !== undefined) throw new Error(`there is no such command: ${unknown[0]}`);
  const rows = commands.flatMap(({ name, summary }) => {
    const examples = commandExamples.filter(([typed]) => shows(name, typed));
    const link = `[${name}](#nfse-${name.replaceAll(' ', '-')})`;
    if (examples.length === 0) throw new Error(`nfse ${name} has no example in command-examples.ts: ${summary}`);
    return examples.map(([typed, answers]) => `| ${link} | \`${cell(typed)}\` | ${cell(answers)} |`);
  });
  return ['| command | example | answers |', '|---|---|---|', ...rows].join('\n');
};

/** The commands that have no `--actor`. */
export const commandsWithoutActor = (): string =>
  `No \`--actor\`: ${commands
    .filter((command) => !('actor' in optionsOf(command)))
    .map(({ name }) => `\`${name}\``)
    .join(', ')}.`;

/** A section for each command with what its `--help` prints, without the options that the page says once for all commands. */
export const commandSections = (): string =>
  commands.map((command) => `### nfse ${command.name}\n\n\`\`\`text\n${ownUsageOf(command)}\n\`\`\``).join('\n\n');

const ownUsageOf = (command: Command): string =>
  usageOf(command)
    .replace(/^ {2}--(?:json|help|actor <NAME>) {2}.*\n?/gm, '')
    .replace(/^Options:\n(?:\n|$)/m, '')
    .trimEnd();
