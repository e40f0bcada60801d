/** `1 line`, `2 lines`; `plural` where an s is not enough. */
export const counted = (count: number, one: string, plural = `${one}s`): string =>
  `${count} ${count === 1 ? one : plural}`;
