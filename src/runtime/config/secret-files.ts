import { readFileSync } from 'node:fs';
import { certificatesIn } from '../../adapters/authorizer/trust-roots.js';
import { keyFileProblem } from '../../adapters/vault/key-file.js';
import { errorCode } from '../../lib/error-code.js';
import { isDenied } from '../../lib/other-owner.js';

/** Too many combinations to try out. */
const LEAST_LENGTH = 16;

/** `aaaaaaaaaaaaaaaa` is long and easily guessed. */
const LEAST_DIFFERENT = 8;

/** Returns why a token is weak, as the end of a sentence; undefined for a good one. Never quotes the token. */
export const weaknessOf = (token: string): string | undefined => {
  if (token.length < LEAST_LENGTH) return `must hold at least ${LEAST_LENGTH} characters`;
  if (new Set(token).size < LEAST_DIFFERENT) return `must hold at least ${LEAST_DIFFERENT} different characters`;
  if (isRepeated(token)) return 'must not repeat a shorter text';
  return isRow(token) ? 'must not be a row of neighbouring characters' : undefined;
};

/** Whether the text is a repetition of a shorter one, also one that is cut at the end. */
const isRepeated = (token: string): boolean => {
  for (let period = 1; period <= token.length / 2; period += 1) {
    if (token.startsWith(token.slice(period))) return true;
  }
  return false;
};

/** `abcdefgh...`, `98765...`: most characters are neighbours of the character before them. */
const isRow = (token: string): boolean => {
  const codes = [...token].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).filter((code, index) => Math.abs(code - (codes[index] ?? 0)) <= 1);
  return steps.length > token.length / 2;
};

/** Why the file of the variable `name` cannot be read. Never its path: an address with a password may have been put into the wrong variable. */
export const unreadable = (name: string, error: unknown): string => {
  const code = errorCode(error);
  if (code === 'ENOENT') return `${name} cannot be read: there is no such file`;
  const why = isDenied(error) ? ': the user of the service may not read the file' : '';
  return `${name} cannot be read (${code ?? 'unknown error'})${why}`;
};

/** Reads the token from `file`, without surrounding white space. Problems are added to `problems` under the variable's `name`. */
export const readToken = (name: string, file: string | undefined, problems: string[]): string | undefined => {
  if (file === undefined) return undefined;
  try {
    const token = readFileSync(file, 'utf8').trim();
    const weakness = weaknessOf(token);
    if (weakness !== undefined) problems.push(`${name} ${weakness}`);
    return token;
  } catch (error) {
    problems.push(unreadable(name, error));
    return undefined;
  }
};

/** Adds to `problems` why the file of the master key cannot be used, under the variable's `name`. */
export const checkMasterKey = (
  name: string,
  file: string | undefined,
  { mayBeMissing, problems }: { mayBeMissing: boolean; problems: string[] },
): void => {
  if (file === undefined) return;
  try {
    const problem = keyFileProblem(file);
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' && mayBeMissing) return;
    const why = code === 'ENOENT' ? `: ${adviceOnMissing(file)}` : ` (${code ?? 'unknown error'})`;
    problems.push(
      `${name} cannot be read${why}${isDenied(error) ? ': the user of the service must own the file' : ''}`,
    );
  }
};

/** Only the database knows whether a key was in use, and which generations a give-up has to name. */
const adviceOnMissing = (file: string): string =>
  `${file} is missing: restore your copy, or, if no copy is left, run nfse doctor, which says what to do; for a new installation nfse master-key add ${file} --generation m1 makes it`;

/** Reads the certificates of an operator's PEM file. Problems are added to `problems` under the variable's `name`. */
export const readCertificates = (name: string, file: string | undefined, problems: string[]): readonly string[] => {
  if (file === undefined) return [];
  try {
    const found = certificatesIn(readFileSync(file, 'utf8'));
    if (found === undefined) problems.push(`${name} is not a PEM file of certificates`);
    return found ?? [];
  } catch (error) {
    problems.push(unreadable(name, error));
    return [];
  }
};
