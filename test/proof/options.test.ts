import { describe, expect, it } from 'vitest';
import { readOptions } from './options.js';

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
