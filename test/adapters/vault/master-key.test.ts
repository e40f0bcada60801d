import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deriveSecret, loadMasterKey } from '../../../src/adapters/vault/master-key.js';

describe('loadMasterKey', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vault-'));
    file = join(folder, 'master.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives processes that start at once one and the same key, and leaves nothing else behind', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKey(file, { createIfMissing: true })));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(keys[0]).toHaveLength(32);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['master.key']);
    expect(await loadMasterKey(file, { createIfMissing: false })).toEqual(keys[0]);
  });

  it('refuses a missing file when it may not make one', async () => {
    await expect(loadMasterKey(file, { createIfMissing: false })).rejects.toThrow(/is missing/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a file that others may read', async () => {
    await loadMasterKey(file, { createIfMissing: true });
    await chmod(file, 0o640);
    await expect(loadMasterKey(file, { createIfMissing: true })).rejects.toThrow(/0600/);
  });

  it.each(['', 'c2hvcnQ=', `${Buffer.alloc(32).toString('base64')}x`, 'not base64 at all, but quite long enough text'])(
    'refuses %j and never replaces it',
    async (text) => {
      await writeFile(file, text, { mode: 0o600 });
      await expect(loadMasterKey(file, { createIfMissing: true })).rejects.toThrow(/32 bytes in base64/);
    },
  );

  it('says so when the folder is not there', async () => {
    await expect(loadMasterKey(join(folder, 'no', 'key'), { createIfMissing: true })).rejects.toThrow(/cannot be made/);
  });
});

describe('deriveSecret', () => {
  it('is stable per key and label, and different for every other', () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    expect(deriveSecret(one, 'download')).toEqual(deriveSecret(one, 'download'));
    const secrets = [deriveSecret(one, 'download'), deriveSecret(one, 'other'), deriveSecret(two, 'download'), one];
    expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(4);
  });
});
