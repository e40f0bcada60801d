import type { Command } from '../../../src/cli/command.js';
import { commandExamples } from '../../../src/cli/examples.js';
import { usageOf } from '../../../src/cli/program.js';
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

/** A section for each command with what its `--help` prints. */
export const commandSections = (): string =>
  commands.map((command) => `### nfse ${command.name}\n\n\`\`\`text\n${usageOf(command)}\n\`\`\``).join('\n\n');
