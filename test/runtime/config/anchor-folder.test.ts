import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proveAnchorFolder } from '../../../src/runtime/config/anchor-folder.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('proves that the folder takes files, and leaves nothing in the folder', async () => {
  const folder = join(temporaryFolder(), 'made', 'anchors');
  await proveAnchorFolder(folder);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves the proof of another process alone, also of one with the same id in another container', async () => {
  const folder = temporaryFolder();
  const other = join(folder, `.nfse-${process.pid}`);
  await writeFile(other, 'of the other');
  await proveAnchorFolder(folder);
  expect(await readFile(other, 'utf8')).toBe('of the other');
});
