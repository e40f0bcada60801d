/**
 * The known name that a person who wrote `sent` probably meant; undefined when none is near. Capitals, accents, underscores and hyphens do not count.
 * Near is: the same, the beginning of the other, up to two wrong letters, or a common beginning of six letters.
 */
export const nearestName = (sent: string, known: readonly string[]): string | undefined => {
  if (sent.length > LONGEST) return undefined;
  const plainSent = plainName(sent);
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = distanceOf(plainSent, plainName(name));
    if (distance !== undefined && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
};

/** A name in small letters without accents, underscores and hyphens. A name longer than every name of a field is returned as it is. */
export const plainName = (name: string): string =>
  name.length > LONGEST
    ? name
    : name
        .normalize('NFD')
        .replace(/[\p{M}_-]/gu, '')
        .toLowerCase();

/**
 * The known name that `sent` misspells by up to two wrong letters, one for each six letters of the name, or by two neighbours that changed places;
 * undefined for any other name.
 */
export const misspeltName = (sent: string, known: readonly string[]): string | undefined => {
  if (sent.length > LONGEST || known.includes(sent)) return undefined;
  return known.find((name) => {
    const most = Math.min(MOST_WRONG, Math.floor(name.length / 6));
    const isNear = Math.abs(sent.length - name.length) <= most && wrongLetters(sent, name, most) <= most;
    return isNear || hasExchangedNeighbours(sent, name);
  });
};

const hasExchangedNeighbours = (sent: string, name: string): boolean => {
  if (sent.length !== name.length) return false;
  const at = [...name].findIndex((letter, index) => letter !== sent[index]);
  return at >= 0 && sent === `${name.slice(0, at)}${name[at + 1] ?? ''}${name[at] ?? ''}${name.slice(at + 2)}`;
};

/** Longer than every name of a field or command, and short enough to be compared letter by letter. */
const LONGEST = 40;
const LEAST_BEGINNING = 4;
const COMMON_BEGINNING = 6;
const MOST_WRONG = 2;

const distanceOf = (sent: string, name: string): number | undefined => {
  if (sent === name) return 0;
  const shorter = Math.min(sent.length, name.length);
  if (shorter < LEAST_BEGINNING) return undefined;
  if (sent.startsWith(name) || name.startsWith(sent)) return 1;
  const wrong = Math.abs(sent.length - name.length) > MOST_WRONG ? undefined : wrongLetters(sent, name, MOST_WRONG);
  if (wrong !== undefined && wrong <= MOST_WRONG && wrong < shorter / 2) return 1 + wrong;
  return sent.slice(0, COMMON_BEGINNING) === name.slice(0, COMMON_BEGINNING) && shorter >= COMMON_BEGINNING
    ? 2 + MOST_WRONG
    : undefined;
};

/** The least number of letters to add, remove or replace, as far as that is at most `most`; otherwise a greater number. */
const wrongLetters = (a: string, b: string, most: number): number => {
  let row = Array.from({ length: b.length + 1 }, (_unused, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    // The least number of a row is never below that of the row before.
    if (Math.min(...next) > most) return most + 1;
    row = next;
  }
  return row[b.length] ?? 0;
};
