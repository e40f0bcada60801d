import type { CommandResult } from '../app/operator/company/company-commands.js';
import { printableLine, printableLines } from '../lib/printable.js';
import type { Session, SessionNeeds } from './session.js';
import type { Terminal } from './terminal.js';

/** 0 done, 1 refused or found something wrong, 2 bad usage, 3 an engine could not be reached. */
type ExitCode = 0 | 1 | 2 | 3;

/**
 * `text` is for a person, `json` for `--json`. A refusal is one line on stderr; a report goes to stdout, also when it says that something is wrong. A
 * file is written as it is, except to a terminal. `ifUnseen`: one line for stderr when the text, which is shown only this once, cannot be written.
 */
export type Outcome = {
  exit: ExitCode;
  text: string;
  json: unknown;
  isReport?: true;
  isFile?: true;
  ifUnseen?: string;
};

/** `value` names what is typed after the option; one without it is a switch. `required`: the command is bad usage without the option. */
export type Option = { value?: string; multiple?: boolean; required?: true; help: string };

export type Flags = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export type Invocation = {
  positionals: readonly string[];
  flags: Flags;
  /** Who runs a changing command: `--actor`, otherwise the OS user. */
  actor: string;
  /** Opens the engines at the first call; the caller of the command closes them. */
  session(needs?: SessionNeeds): Promise<Session>;
  /** For what is said before the outcome. */
  terminal: Terminal;
};

export type Command = {
  /** As typed: `company put`. */
  name: string;
  /** A name in brackets is optional; optional names come last. */
  positionals?: readonly string[];
  summary: string;
  options?: Readonly<Record<string, Option>>;
  changes: boolean;
  /** Set where the work on an empty database gives a copy that an operator keeps: an embedded database that is not there is refused and not made. */
  needsDatabase?: true;
  run(invocation: Invocation): Promise<Outcome>;
};

export const done = (text: string, json: unknown): Outcome => ({ exit: 0, text, json });

/** The same of a text that another command reads as a file. */
export const fileDone = (text: string, json: unknown): Outcome => ({ ...done(text, json), isFile: true });

/** The outcome of a command that checks something: exit 1 when `ok` is false. */
export const reported = (ok: boolean, text: string, json: unknown): Outcome => ({
  exit: ok ? 0 : 1,
  text,
  json,
  isReport: true,
});

export const refused = (reason: string): Outcome => ({ exit: 1, text: printableLine(reason), json: { error: reason } });

/** The refusal of a CNPJ that no company has. */
export const unknownCompany = (cnpj: string): Outcome => refused(`no company ${cnpj}`);

export const badUsage = (reason: string): Outcome => ({ exit: 2, text: reason, json: { error: reason } });

/** An outcome with exit 1 and one line for each problem. The headline ends in a colon, which the `error` of the JSON leaves out. */
export const withProblems = (headline: string, problems: readonly string[], shown = problems): Outcome => ({
  exit: 1,
  text: printableLines([headline, ...shown.map((problem) => `  ${problem}`)]),
  json: { error: headline.replace(/:$/, ''), problems },
});

/** A text with a line for each warning. */
export const warned = (text: string, warnings: readonly string[]): string =>
  [text, ...warnings.map((warning) => printableLine(`warning: ${warning}`))].join('\n');

/** The outcome of a use case: `text` and `json` when it is done, otherwise its refusal. */
export const answer = (result: CommandResult<unknown>, text: string, json: unknown): Outcome =>
  'refused' in result ? refused(result.refused) : done(text, json);

export const textFlag = (flags: Flags, name: string): string | undefined => {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
};

export const textFlags = (flags: Flags, name: string): readonly string[] => {
  const value = flags[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};
