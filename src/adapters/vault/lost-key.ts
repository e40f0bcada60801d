import { generationNumber } from './master-key.js';

type Named = { generation: string };

/** What an operator does who has no copy of these generations, for the end of a message; the page keys.md says what it costs. */
export const withoutCopy = (generations: readonly string[]): string => `if no copy is left: ${givingUp(generations)}`;

const givingUp = (generations: readonly string[]): string =>
  generations.map((generation) => `nfse master-key give-up ${generation}`).join(', ');

/** The same where the whole file is gone: the new key needs a name that sealed nothing yet. */
export const withoutFile = (
  file: string,
  registered: readonly (Named & { givenUpAt: string | undefined })[],
): string => {
  const lost = registered.filter(({ givenUpAt }) => givenUpAt === undefined).map(({ generation }) => generation);
  const newKey = `nfse master-key add ${file} --generation ${nextGeneration(registered)}`;
  return `if no copy is left: ${newKey}, then ${givingUp(lost)}`;
};

/** Behind all of these. */
export const nextGeneration = (generations: readonly Named[]): string =>
  `m${Math.max(0, ...generations.map(({ generation }) => generationNumber(generation) ?? 0)) + 1}`;
