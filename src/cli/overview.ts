import type { Command } from './command.js';

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

/** One line for each command: how it is typed and what it does. */
export const listOf = (commands: readonly Command[]): readonly string[] =>
  commands.map(
    ({ name, positionals = [], summary }) => `  ${[name, ...positionals].join(' ').padEnd(COLUMN)}${summary}`,
  );

/** The text of `nfse --help`: all commands, by what they are about. */
export const overview = (commands: readonly Command[]): string => {
  const headings = HEADINGS.map(([heading, words]) => ({
    heading,
    found: commands.filter(({ name }) => words.includes(name.split(' ')[0] ?? '')),
  }));
  const others = commands.filter((command) => headings.every(({ found }) => !found.includes(command)));
  return [
    'nfse COMMAND [options]: the operator command of the NFS-e issuance service',
    ...[...headings, { heading: 'Other', found: others }]
      .filter(({ found }) => found.length > 0)
      .flatMap(({ heading, found }) => ['', `${heading}:`, ...listOf(found)]),
    '',
    `  ${'--version'.padEnd(COLUMN)}show the version`,
    '',
    'nfse COMMAND --help explains a command; every command has --json. Exit codes: 0 done, 1 refused or found, 2 bad usage,',
    '3 an engine cannot be reached.',
  ].join('\n');
};
