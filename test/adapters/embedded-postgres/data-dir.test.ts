import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  clusterFolder,
  isCopyInUse,
  lockDataDir,
  prepareDataDir,
} from '../../../src/adapters/embedded-postgres/data-dir.js';
import { EmbeddedPostgresError } from '../../../src/adapters/embedded-postgres/error.js';
import { listenAsOwner, ownerAnswers } from '../../../src/adapters/embedded-postgres/owner-socket.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LISTEN_AND_DIE =
  "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))";

describe('lockDataDir', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'nfse-lock-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const claim = async (number: number, content: object): Promise<void> => {
    await mkdir(join(dataDir, 'lock'), { recursive: true });
    await writeFile(join(dataDir, 'lock', `claim-${number}`), JSON.stringify(content));
  };

  it('has one owner among many that try at once', async () => {
    await claim(4, { pid: process.pid, identity: 'long gone', released: false });
    const tries = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dataDir, { waitMs: 0 })));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(join(dataDir, 'lock'))).toEqual(['claim-5', expect.stringMatching(/^owner-/)]);
  });

  it('goes to one waiting process after the other', async () => {
    let owners = 0;
    const turns = Array.from({ length: 5 }, async () => {
      const lock = await lockDataDir(dataDir, { waitMs: 10_000 });
      owners += 1;
      expect(owners).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      owners -= 1;
      await lock.release();
    });
    await Promise.all(turns);
  });

  it('ignores the lock of a dead process, even if another process has its id', async () => {
    await claim(1, { pid: process.ppid, identity: 'started long ago', released: false });
    await (await lockDataDir(dataDir, { waitMs: 0 })).release();
    await claim(9, { pid: 2 ** 22 - 1, identity: 'x', released: false });
    await expect(lockDataDir(dataDir, { waitMs: 0 })).resolves.toBeDefined();
  });

  it('is held by a process that is not seen here as long as its socket answers, and not longer', async () => {
    await mkdir(join(dataDir, 'lock'));
    const owner = await listenAsOwner(join(dataDir, 'lock', 'owner.sock'));
    await claim(3, { pid: 2 ** 22 - 1, identity: 'of another container', released: false, socket: 'owner.sock' });
    await expect(lockDataDir(dataDir, { waitMs: 0 })).rejects.toThrow(
      /in use by a process of another container: run the command in that container, stop it or choose another DATA_DIR$/,
    );
    await owner.end();
    const lock = await lockDataDir(dataDir, { waitMs: 0 });
    await lock.release();
    expect(await readdir(join(dataDir, 'lock'))).toEqual(['claim-4']);
  });

  it('is free when the file of a socket outlived its process', async () => {
    const name = `owner-${randomUUID()}.sock`;
    await claim(1, { pid: 2 ** 22 - 1, identity: 'gone', released: false, socket: name });
    spawnSync(process.execPath, ['-e', LISTEN_AND_DIE, join(dataDir, 'lock', name)]);
    expect(await readdir(join(dataDir, 'lock'))).toContain(name);
    await (await lockDataDir(dataDir, { waitMs: 0 })).release();
    expect(await readdir(join(dataDir, 'lock'))).toEqual(['claim-2']);
  });

  it('removes nothing elsewhere that a changed lock file names as a socket', async () => {
    await writeFile(join(dataDir, 'kept'), '');
    await claim(1, { pid: 2 ** 22 - 1, identity: 'gone', released: true, socket: '../kept' });
    await (await lockDataDir(dataDir, { waitMs: 0 })).release();
    expect((await readdir(dataDir)).sort()).toEqual(['kept', 'lock']);
  });

  it('shows its socket in a folder whose name is longer than a socket address', async () => {
    const deep = join(dataDir, 'x'.repeat(120), 'y'.repeat(120));
    const lock = await lockDataDir(deep, { waitMs: 0 });
    const [number, socket] = await readdir(join(deep, 'lock'));
    expect([number, await ownerAnswers(join(deep, 'lock', socket ?? ''))]).toEqual([
      'claim-1',
      process.platform === 'linux',
    ]);
    await lock.release();
  });
});

it.skipIf(process.platform !== 'linux')(
  'a folder whose socket was removed is no copy while its database runs, and a copy without that',
  async () => {
    const dataDir = temporaryFolder();
    const lock = await lockDataDir(dataDir, { waitMs: 0 });
    for (const name of await readdir(join(dataDir, 'lock')))
      if (name.startsWith('owner-')) await rm(join(dataDir, 'lock', name));
    expect(await isCopyInUse(dataDir)).toBe(true);
    await mkdir(clusterFolder(dataDir));
    const server = spawn('sleep', ['600'], { argv0: 'postgres', cwd: clusterFolder(dataDir) });
    await once(server, 'spawn');
    await expect.poll(() => isCopyInUse(dataDir)).toBe(false);
    server.kill();
    await expect.poll(() => isCopyInUse(dataDir)).toBe(true);
    await lock.release();
    expect(await isCopyInUse(dataDir)).toBe(false);
  },
);

it.each(['missing', 'link'])(
  'a DATA_DIR that is a link to %s is named as a link that leads nowhere',
  async (target) => {
    const link = join(temporaryFolder(), 'link');
    await symlink(target, link);
    const line = `DATA_DIR ${link} is a link to ${target}, where no folder is: mount or make that folder, or choose another DATA_DIR`;
    for (const path of [link, `${link}/`])
      await expect(prepareDataDir(path, undefined)).rejects.toEqual(
        new EmbeddedPostgresError(line.replace(link, path)),
      );
  },
);

it('a DATA_DIR that is a link to a folder is used', async () => {
  const place = temporaryFolder();
  await mkdir(join(place, 'folder'));
  await symlink('folder', join(place, 'link'));
  await prepareDataDir(join(place, 'link'), undefined);
});
