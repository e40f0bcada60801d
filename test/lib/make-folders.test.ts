import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolders } from '../../src/lib/files.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('makes a folder with those above, and says which one was the first', async () => {
  const there = temporaryFolder();
  mkdirSync(join(there, 'a'));
  expect(await makeFolders(join(there, 'a', 'b', 'c'), 0o700)).toBe(join(there, 'a', 'b'));
  expect(statSync(join(there, 'a', 'b', 'c')).mode & 0o777).toBe(0o700);
  expect(await makeFolders(join(there, 'a', 'b', 'c'), 0o700)).toBeUndefined();
});

it.runIf(existsSync('/proc/self'))('ends with the fault of a file system that takes no folder', async () => {
  await expect(makeFolders('/proc/nfse/backup', 0o700)).rejects.toMatchObject({ code: 'ENOENT', syscall: 'mkdir' });
});
