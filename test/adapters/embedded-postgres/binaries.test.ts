import { chmod, cp, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { reachableCopy, usableFolder } from '../../../src/adapters/embedded-postgres/binaries.js';
import { prepareCluster } from '../../../src/adapters/embedded-postgres/cluster.js';
import { EmbeddedPostgresError } from '../../../src/adapters/embedded-postgres/error.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The user `nobody` of Linux. */
const stranger = { name: 'stranger', uid: 65_534, gid: 65_534 };

describe.runIf(process.getuid?.() === 0)('the copy of the binaries for another user', () => {
  let parent: string;
  let native: string;
  let home: string;
  const copied = () => reachableCopy(native, '18.0.0', stranger, home);
  beforeEach(async () => {
    parent = temporaryFolder();
    await chmod(parent, 0o711);
    [native, home] = [join(parent, 'closed', 'native'), join(parent, 'copies')];
    await mkdir(join(native, 'bin'), { recursive: true });
    await chmod(join(parent, 'closed'), 0o700);
    await writeFile(join(native, 'bin', 'postgres'), '', { mode: 0o755 });
  });

  it.each([0o022, 0o027, 0o077])('can be reached, whatever the umask is', async (umask) => {
    const before = process.umask(umask);
    try {
      expect(await copied()).toBe(join(home, '18.0.0'));
    } finally {
      process.umask(before);
    }
    expect((await stat(home)).mode & 0o777).toBe(0o755);
    expect((await stat(join(home, '18.0.0', 'bin', 'postgres'))).mode & 0o777).toBe(0o755);
  });

  it('is opened where an earlier version has left its folder closed', async () => {
    await copied();
    await chmod(home, 0o750);
    expect(await copied()).toBe(join(home, '18.0.0'));
  });

  it('can be read where the original is closed, as after an installation under a umask', async () => {
    await chmod(native, 0o700);
    await chmod(join(native, 'bin'), 0o700);
    await chmod(join(native, 'bin', 'postgres'), 0o700);
    await copied();
    const modes = await Promise.all(
      ['.', 'bin', 'bin/postgres'].map(async (name) => (await stat(join(home, '18.0.0', name))).mode & 0o777),
    );
    expect(modes).toEqual([0o755, 0o755, 0o755]);
  });

  it('takes the place of one that cannot be reached', async () => {
    await copied();
    await chmod(join(home, '18.0.0'), 0o700);
    expect(await copied()).toBe(join(home, '18.0.0'));
  });

  it.each(['$', '`', '"', '\\'])(
    'is used where the path of the original has a %s, which initdb cannot have',
    async (character) => {
      const odd = join(parent, `a ${character}x`, 'native');
      const plain = join(parent, "d'água #%20", 'native');
      for (const folder of [odd, plain]) await cp(native, folder, { recursive: true });
      expect(await usableFolder(odd, '18.0.0', stranger, home)).toBe(join(home, '18.0.0'));
      expect(await usableFolder(plain, '18.0.0', stranger, home)).toBe(plain);
    },
  );

  it('is refused where a folder above is closed, also when the copy is there', async () => {
    await copied();
    await chmod(parent, 0o700);
    await expect(copied()).rejects.toThrow(EmbeddedPostgresError);
  });
});

it.each(['$', '`', '"', '\\'])(
  'a path with %s is named where initdb would not find its programs',
  async (character) => {
    const folder = `/srv/a${character}x/native/bin`;
    const binaries = { initdb: `${folder}/initdb`, postgres: `${folder}/postgres` };
    await expect(prepareCluster(temporaryFolder(), binaries, undefined)).rejects.toEqual(
      new EmbeddedPostgresError(
        `PostgreSQL cannot make a database from ${folder}: move this program to a path without $, ", \\ and \`, or set DATABASE_URL`,
      ),
    );
  },
);
