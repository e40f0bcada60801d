import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unreachableFolder } from '../../../src/adapters/embedded-postgres/os-user.js';

/** The user `nobody` of Linux. */
const stranger = { name: 'stranger', uid: 65_534, gid: 65_534 };

describe('the folder that a user cannot enter', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'nfse os user '));
    await mkdir(join(home, 'middle', 'inner'), { recursive: true });
    await chmod(home, 0o711);
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  describe.runIf(process.getuid?.() === 0)('as root', () => {
    it('is none where the user may pass through all', async () => {
      expect(await unreachableFolder(stranger, join(home, 'middle', 'inner'))).toBeUndefined();
    });

    it('is the highest of the path', async () => {
      await chmod(join(home, 'middle'), 0o700);
      await chmod(join(home, 'middle', 'inner'), 0o700);
      expect(await unreachableFolder(stranger, join(home, 'middle', 'inner'))).toBe(join(home, 'middle'));
    });

    it('is one that is not there', async () => {
      expect(await unreachableFolder(stranger, join(home, 'missing'))).toBe(join(home, 'missing'));
    });
  });

  it('is the first of the path where no process can run as the user', async () => {
    expect(await unreachableFolder({ ...stranger, uid: -2 }, '/some/where')).toBe('/some');
  });
});
