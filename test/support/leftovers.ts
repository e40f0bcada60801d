import { statSync } from 'node:fs';

/** True for an existing file or folder that was last written this long ago; another process may be removing it at this moment. */
export const isLeftSince = (path: string, ms: number): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs >= ms;
};
