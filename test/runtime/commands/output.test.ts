import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { expect, it } from 'vitest';

const FULL_DISK = '/dev/full';

it.skipIf(!existsSync(FULL_DISK))('output to a full disk ends a command in one line, with 1', () => {
  const full = openSync(FULL_DISK, 'w');
  try {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', 'src/main.ts', '--help'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'the output could not be written: ENOSPC: no space left on device, write\n',
    });
  } finally {
    closeSync(full);
  }
});
