import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Does the work as on a file system without hard links. */
export const withoutLinks = async (work: () => Promise<void>, code = 'EPERM'): Promise<void> => {
  const { link } = fs;
  fs.link = () => Promise.reject(Object.assign(new Error(`${code}: link`), { code }));
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs.link = link;
    syncBuiltinESMExports();
  }
};
