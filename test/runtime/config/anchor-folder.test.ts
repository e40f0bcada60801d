import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proveAnchorFolder } from '../../../src/runtime/config/anchor-folder.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('proves that the folder takes files, and leaves nothing in the folder', async () => {
  const folder = join(temporaryFolder(), 'made', 'anchors');
  await proveAnchorFolder(folder);
  expect(await readdir(folder)).toEqual([]);
});
