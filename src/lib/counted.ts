/** `1 line`, `2 lines`. `plural` is for words that need more than an s. */
export const counted = (count: number, one: string, plural = `${one}s`): string =>
  `${count} ${count === 1 ? one : plural}`;
