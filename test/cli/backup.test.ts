import { expect, it, vi } from 'vitest';
import { type Authenticity, backupCommand, type Restored, restoreCommand } from '../../src/cli/commands/backup.js';
import { runCommand } from '../../src/cli/run.js';

it('backup makes no folder with the name -, and opens nothing for that', async () => {
  const [open, out, err] = [vi.fn(), vi.fn(), vi.fn()];
  expect(await runCommand(['backup', '--out', '-'], [backupCommand], open, { out, err })).toBe(2);
  expect(err.mock.calls).toEqual([['--out names a new folder']]);
  expect(open).not.toHaveBeenCalled();
});

it('restore beside a master key that does not open the backup says so, with what a start would say', async () => {
  const [open, out, err] = [vi.fn(), vi.fn(), vi.fn()];
  const done: Restored = {
    rows: 1,
    paused: true,
    masterKeyThere: true,
    masterKeyFault: 'm1 is another key',
    authenticity: 'confirmed',
    madeAt: '2026-11-21',
  };
  const restore = restoreCommand(async () => ({
    done,
    masterKeyFile: '/data/master.key',
    into: { data_dir: '/data' },
  }));
  expect(await runCommand(['restore', '--from', 'backup'], [restore], open, { out, err })).toBe(0);
  expect(out.mock.calls.flat().join('\n')).toContain(
    'THE MASTER KEY IS NOT THAT OF THE BACKUP, and the service does not start with it: m1 is another key',
  );
});

it.each([
  ['stays paused, as when the backup was made', true],
  ['missing rows are built from it at the start.', false],
])('restore of a backup without the log says %s', async (expected, paused) => {
  const [open, out, err] = [vi.fn(), vi.fn(), vi.fn()];
  const done: Restored = {
    rows: 1,
    paused,
    masterKeyThere: true,
    authenticity: 'confirmed',
    madeAt: '2026-11-21T12:00:00.000Z',
  };
  const restore = restoreCommand(async () => ({
    done,
    masterKeyFile: '/data/master.key',
    into: { data_dir: '/data' },
  }));
  expect(await runCommand(['restore', '--from', 'backup'], [restore], open, { out, err })).toBe(0);
  const said = out.mock.calls.flat().join('\n');
  expect(said).toContain(expected);
  expect(said.includes('stays paused')).toBe(paused);
});

it.each<[Authenticity, string | undefined]>([
  ['confirmed', undefined],
  ['unproven', 'an earlier restore took the key of the MAC from a backup'],
  ['no_mac', 'it has no MAC'],
  ['no_key', 'the key of its MAC was not in the key file'],
])('restore of a backup that is %s says what that means, with --json too', async (authenticity, why) => {
  const [open, out, err] = [vi.fn(), vi.fn(), vi.fn()];
  const done: Restored = { rows: 1, events: 1, paused: true, masterKeyThere: true, authenticity, madeAt: '2026-11-21' };
  const place = { masterKeyFile: '/data/master.key', into: { data_dir: '/data' } };
  const restore = restoreCommand(async () => ({ done, ...place }));
  expect(await runCommand(['restore', '--from', 'backup'], [restore], open, { out, err })).toBe(0);
  const said = out.mock.calls.flat().join('\n');
  expect(said.includes('NOTHING CONFIRMS THE BACKUP')).toBe(why !== undefined);
  if (why !== undefined) expect(said).toMatch(new RegExp(`${why}.*nfse key list CNPJ of each company`));
  out.mockClear();
  expect(await runCommand(['restore', '--from', 'backup', '--json'], [restore], open, { out, err })).toBe(0);
  expect(JSON.parse(out.mock.calls.flat().join('\n'))).toMatchObject({ authenticity });
});
