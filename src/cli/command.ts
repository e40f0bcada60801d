import type { Session, SessionNeeds } from './session.js';

/** 0 done, 1 it ran and found or refused something, 2 bad usage, 3 an engine could not be reached (interface.md "Commands"). */
export type ExitCode = 0 | 1 | 2 | 3;

/**
 * `text` for a person, `json` for `--json`; a refusal is one line, on stderr. A report is what was asked for, and on stdout also when
 * it says that something is wrong.
 */
export type Outcome = { exit: ExitCode; text: string; json: unknown; isReport?: true };

export type Option = { type: 'string' | 'boolean'; multiple?: boolean; help: string };

export type Flags = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export type Invocation = {
  positionals: readonly string[];
  flags: Flags;
  /** Who runs a changing command; `--actor`, else the OS user. */
  actor: string;
  /** The engines, opened at the first use and closed by the caller. */
  session(needs?: SessionNeeds): Promise<Session>;
};

export type Command = {
  /** As typed: `company put`. */
  name: string;
  /** In brackets: may be left out; such come last. */
  positionals: readonly string[];
  summary: string;
  options: Readonly<Record<string, Option>>;
  changes: boolean;
  run(invocation: Invocation): Promise<Outcome>;
};

export const done = (text: string, json: unknown): Outcome => ({ exit: 0, text, json });

/** Of a command that looks whether something is wrong: exit 1 when it is. */
export const reported = (ok: boolean, text: string, json: unknown): Outcome => ({
  ...{ exit: ok ? 0 : 1, text, json, isReport: true },
});

export const refused = (reason: string): Outcome => ({ exit: 1, text: reason, json: { error: reason } });

export const badUsage = (reason: string): Outcome => ({ exit: 2, text: reason, json: { error: reason } });

export const textFlag = (flags: Flags, name: string): string | undefined => {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
};

export const textFlags = (flags: Flags, name: string): readonly string[] => {
  const value = flags[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};
