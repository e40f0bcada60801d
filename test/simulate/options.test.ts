import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { readOptions } from './options.js';

describe('the command line of the lives', () => {
  it.each([
    [[], { kind: 'row', from: 1, count: 1000 }],
    [['--seeds', '3', '--from', '0'], { kind: 'row', from: 0, count: 3 }],
    [['--seconds', '60'], { kind: 'fresh', seconds: 60 }],
    [['--seed', '0'], { kind: 'one', seed: 0 }],
    [['--help'], { kind: 'help' }],
  ])('reads %j', (args, asked) => {
    expect(readOptions(args)).toEqual(asked);
  });

  it.each([
    [['--seeds', '0']],
    [['--seconds', '00']],
    [['--seeds', 'abc']],
    [['--seeds', '-5']],
    [['--seeds=-5']],
    [['--seeds']],
    [['--bogus']],
    [['stray']],
  ])('refuses %j in one line', (args) => {
    const asked = readOptions(args);
    expect(asked).toEqual({ kind: 'wrong', reason: expect.not.stringContaining('\n') });
  });

  it('ends with 2 and its usage when the command is wrong', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', 'test/simulate/main.ts', '--seeds', '0'],
      { cwd: ROOT, encoding: 'utf8' },
    );
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^--seeds 0 plays nothing\n\nUsage: /);
  });
});
