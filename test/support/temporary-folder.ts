import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

// The hooks of the test file run before this one, because the file imports this module first. So the folder is not in use any more.
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder in the system's temporary folder; it is removed after the test file that created it. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'nfse-of-a-test-'));
  made.push(folder);
  return folder;
};
