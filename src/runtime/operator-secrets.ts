import { readFileSync } from 'node:fs';

/** As many characters as nobody tries out. */
const LEAST_LENGTH = 16;

/** So many of them different: `aaaaaaaaaaaaaaaa` is long and guessed at once. */
const LEAST_DIFFERENT = 8;

/** What makes a token weak, as the end of a sentence about it; undefined for one that will do. Never quotes it. */
export const weaknessOf = (token: string): string | undefined => {
  if (token.length < LEAST_LENGTH) return `must hold at least ${LEAST_LENGTH} characters`;
  if (new Set(token).size < LEAST_DIFFERENT) return `must hold at least ${LEAST_DIFFERENT} different characters`;
  if (isRepeated(token)) return 'must not repeat a shorter text';
  return isRow(token) ? 'must not be a row of neighbouring characters' : undefined;
};

/** A text repeated, also one that is cut at the end. */
const isRepeated = (token: string): boolean => {
  for (let period = 1; period <= token.length / 2; period += 1) {
    if (token.startsWith(token.slice(period))) return true;
  }
  return false;
};

/** `abcdefgh…`, `98765…`: most characters are the neighbours of those before them. */
const isRow = (token: string): boolean => {
  const codes = [...token].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).filter((code, index) => Math.abs(code - (codes[index] ?? 0)) <= 1);
  return steps.length > token.length / 2;
};

/** The token in the file that the variable `name` gives, without white space around it; what is wrong goes to `problems`. */
export const readToken = (name: string, file: string | undefined, problems: string[]): string | undefined => {
  if (file === undefined) return undefined;
  try {
    const token = readFileSync(file, 'utf8').trim();
    const weakness = weaknessOf(token);
    if (weakness !== undefined) problems.push(`${name} ${weakness}`);
    return token;
  } catch {
    problems.push(`${name} cannot be read`);
    return undefined;
  }
};
