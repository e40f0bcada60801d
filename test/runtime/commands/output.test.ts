import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compiledProgram } from '../../support/compiled.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const FULL_DISK = '/dev/full';
const NO_SPACE = 'the output could not be written: ENOSPC: no space left on device, write\n';

const program = () => [compiledProgram('src/main.ts')];

describe.skipIf(!existsSync(FULL_DISK))('output to a full disk', () => {
  const intoFullDisk = (...args: readonly string[]) => {
    const full = openSync(FULL_DISK, 'w');
    try {
      const { status, stderr } = spawnSync(process.execPath, args, {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
        timeout: 120_000,
      });
      return { status, stderr };
    } finally {
      closeSync(full);
    }
  };

  it.each(['--help', '--version'])('ends %s in one line, with 1', (option) => {
    expect(intoFullDisk(...program(), option)).toEqual({ status: 1, stderr: NO_SPACE });
  });

  it('leaves the exit code of bad usage', () => {
    expect(intoFullDisk(...program(), 'bogus', '--json')).toEqual({ status: 2, stderr: NO_SPACE });
  });

  it('loses lines of the log, and the process goes on to its end', () => {
    const logging = `
      import { createLogger } from './src/runtime/config/logger.ts';
      const logger = createLogger('info', 'stdout');
      logger.fatal({ msg: 'the first line' });
      for (let line = 0; line < 20_000; line += 1) logger.info({ msg: 'a line of the log', line });
      logger.fatal({ msg: 'the last line' });
      setTimeout(() => process.stderr.write('its end\\n'), 300);`;
    const { status, stderr } = intoFullDisk('--import', 'tsx', '--input-type=module', '--eval', logging);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: 'log lines cannot be written: ENOSPC: no space left on device, write\nits end\n',
    });
  });
});

it('output that a file takes only in part ends a command in one line, with 1', () => {
  const file = join(temporaryFolder(), 'help.txt');
  // A limit of 4 KiB for each file: the first write is cut, and the second one fails.
  const limited = 'ulimit -f 4; exec "$0" "$@" >"$OUT"';
  const { status, stderr } = spawnSync('bash', ['-c', limited, process.execPath, ...program(), '--help'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, OUT: file },
  });
  expect(readFileSync(file)).toHaveLength(4_096);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'the output could not be written: EFBIG: file too large, write\n',
  });
});
