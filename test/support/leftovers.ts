import { statSync } from 'node:fs';

/** True of a file or folder that is there and was last written to so long ago; whoever owned it may be taking it away just now. */
export const isLeftSince = (path: string, ms: number): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs >= ms;
};
