import { describe, expect, it } from 'vitest';
import { readOptions, replayCommand } from './options.js';

const CHOSEN = 77;

describe('the command line of the proof', () => {
  it('runs five minutes over the embedded engines unless told otherwise', () => {
    const options = {
      minutes: 5,
      seed: CHOSEN,
      kills: 30,
      invoices: 0,
      clients: 10,
      engines: 'embedded',
      out: undefined,
      writesReport: false,
    };
    expect(readOptions([], CHOSEN)).toEqual({ kind: 'run', options });
  });

  it('takes everything that it is given', () => {
    const args = [
      '--minutes',
      '0.5',
      '--seed',
      '9',
      '--kills',
      '3',
      '--invoices',
      '50',
      '--clients',
      '40',
      '--engines',
      'postgres-nats',
      '--out',
      'x',
      '--report',
    ];
    const options = {
      minutes: 0.5,
      seed: 9,
      kills: 3,
      invoices: 50,
      clients: 40,
      engines: 'postgres-nats',
      out: 'x',
      writesReport: true,
    };
    expect(readOptions(args, CHOSEN)).toEqual({ kind: 'run', options });
  });

  it('draws again with the seed to replay', () => {
    expect(readOptions(['--replay', '12'], CHOSEN)).toMatchObject({ options: { seed: 12 } });
  });

  it('is printed at the end of a run, and gives the same options again', () => {
    const asked = readOptions(['--minutes', '0.5', '--kills', '3', '--clients', '40', '--invoices', '9'], CHOSEN);
    if (asked.kind !== 'run') throw new Error('these options start a run');
    const command = replayCommand({ ...asked.options, options: asked.options });
    expect(command).toBe(
      'npm run proof -- --replay 77 --minutes 0.5 --kills 3 --invoices 9 --clients 40 --engines embedded',
    );
    expect(readOptions(command.split(' ').slice(4), 1)).toEqual(asked);
  });

  it('names what an older run has kept of its options', () => {
    expect(replayCommand({ seed: 4, minutes: 5 })).toBe('npm run proof -- --replay 4 --minutes 5');
  });

  it('gives the reason of a refusal in one line', () => {
    for (const args of [['--bogus'], ['--seed', '-5'], ['stray']])
      expect(readOptions(args, CHOSEN)).toEqual({ kind: 'wrong', reason: expect.not.stringContaining('\n') });
  });

  it('judges a folder again', () => {
    expect(readOptions(['--judge', 'folder'], CHOSEN)).toEqual({
      kind: 'judge',
      folder: 'folder',
      writesReport: false,
    });
  });

  it.each([
    ['--minutes', '0'],
    ['--minutes', 'five'],
    ['--seed', '-1'],
    ['--kills', 'many'],
    ['--invoices', 'many'],
    ['--clients', '0'],
    ['--engines', 'sqlite'],
    ['--unknown', 'x'],
  ])('refuses %s %s', (flag, value) => {
    expect(readOptions([flag, value], CHOSEN).kind).toBe('wrong');
  });
});
