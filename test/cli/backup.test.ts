import { expect, it, vi } from 'vitest';
import { backupCommand } from '../../src/cli/commands/backup.js';
import { runCommand } from '../../src/cli/run.js';

it('backup makes no folder with the name -, and opens nothing for that', async () => {
  const [open, out, err] = [vi.fn(), vi.fn(), vi.fn()];
  expect(await runCommand(['backup', '--out', '-'], [backupCommand], open, { out, err })).toBe(2);
  expect(err.mock.calls).toEqual([['--out names a new folder']]);
  expect(open).not.toHaveBeenCalled();
});
