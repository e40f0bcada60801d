/** Steps that change nothing but what a process knows. */
const ONLY_LOOKS = /: (?:reads?\b|looks up|hears about|claim|place|mark done|keeps a look-up|notes how far|sweeps)/;

/** The steps of a life that changed something, for a person who looks for the cause. */
export const inShort = (history: readonly string[]): readonly string[] =>
  history.filter((line) => !ONLY_LOOKS.test(line));
