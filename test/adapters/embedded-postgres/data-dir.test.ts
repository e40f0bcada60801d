import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataDir } from '../../../src/adapters/embedded-postgres/data-dir.js';

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
    expect(await readdir(join(dataDir, 'lock'))).toEqual(['claim-5']);
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
});
