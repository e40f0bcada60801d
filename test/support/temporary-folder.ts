import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

// The file that asks imports this before it has hooks of its own, so its own come first: nothing is at work there any more.
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of its own in the system's temporary one; it goes with the test file that asked for it. */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'nfse-of-a-test-'));
  made.push(folder);
  return folder;
};
