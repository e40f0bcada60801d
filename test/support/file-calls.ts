import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Does the work with another function in the place of this one of `node:fs/promises`. */
export const withCall = async <Name extends keyof typeof fs>(
  name: Name,
  replacement: (typeof fs)[Name],
  work: () => Promise<void>,
): Promise<void> => {
  const real = fs[name];
  fs[name] = replacement;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs[name] = real;
    syncBuiltinESMExports();
  }
};

/** What a call of `node:fs/promises` rejects with. */
export const fileFault = (code: string): Error => Object.assign(new Error(`${code}: a call on a file`), { code });

/** Does the work as on a file system without hard links. */
export const withoutLinks = (work: () => Promise<void>): Promise<void> =>
  withCall('link', () => Promise.reject(fileFault('EPERM')), work);
