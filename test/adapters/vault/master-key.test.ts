import { chmod, chown, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadMasterKeys, makeKeyFile } from '../../../src/adapters/vault/key-file.js';
import { deriveSecret } from '../../../src/adapters/vault/master-key.js';
import { exchangeDraft } from '../../support/exchanged-draft.js';
import { fileFault, withCall, withoutLinks } from '../../support/file-calls.js';
import { addKey } from '../../support/harness/key-file.js';

describe('loadMasterKeys', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vault-'));
    file = join(folder, 'master.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives processes that start at once one and the same key, and leaves nothing else behind', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => loadMasterKeys(file, { createIfMissing: true })));
    expect(new Set(keys.map(([newest]) => newest.key.toString('hex'))).size).toBe(1);
    expect(keys[0]).toEqual([{ generation: 'm1', key: expect.objectContaining({ length: 32 }) }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['master.key']);
    expect(await loadMasterKeys(file, { createIfMissing: false })).toEqual(keys[0]);
  });

  it('refuses a missing file when it may not make one', async () => {
    await expect(loadMasterKeys(file, { createIfMissing: false })).rejects.toThrow(/is missing/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a file that others may read', async () => {
    await loadMasterKeys(file, { createIfMissing: true });
    await chmod(file, 0o640);
    await expect(loadMasterKeys(file, { createIfMissing: true })).rejects.toThrow(/0600/);
  });

  it.each(['', 'c2hvcnQ=', `${Buffer.alloc(32).toString('base64')}x`, 'not base64 at all, but quite long enough text'])(
    'refuses %j and never replaces it',
    async (text) => {
      await writeFile(file, text, { mode: 0o600 });
      await expect(loadMasterKeys(file, { createIfMissing: true })).rejects.toThrow(/32 bytes in base64/);
    },
  );

  it('keeps a file that another process has made meanwhile', async () => {
    expect(await makeKeyFile(file, 'first')).toBe(true);
    expect(await makeKeyFile(file, 'second')).toBe(false);
    expect(await readFile(file, 'utf8')).toBe('first');
    expect(await readdir(folder)).toEqual(['master.key']);
  });

  it('is made on a file system without hard links, and replaces nothing there either', async () => {
    await withoutLinks(async () => {
      const [newest] = await loadMasterKeys(file, { createIfMissing: true });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await makeKeyFile(file, 'second')).toBe(false);
      expect(await loadMasterKeys(file, { createIfMissing: false })).toEqual([newest]);
      expect(await readdir(folder)).toEqual(['master.key']);
    });
  });

  it('leaves no draft, which holds the key in clear, where the file cannot get its name', async () => {
    const fails = () => Promise.reject(fileFault('EIO'));
    await withCall('link', fails, async () => {
      await expect(makeKeyFile(file, 'the key')).rejects.toThrow('EIO');
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('says so when the folder is not there', async () => {
    await expect(loadMasterKeys(join(folder, 'no', 'key'), { createIfMissing: true })).rejects.toThrow(
      /cannot be made/,
    );
  });
});

/** Without the lock of the key file. */
const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name !== 'master.key.lock' && name !== 'kept.key.lock');

describe('a master key file of several generations', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vault-'));
    file = join(folder, 'master.key');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const generations = async () =>
    (await loadMasterKeys(file, { createIfMissing: false })).map(({ generation }) => generation);

  it('is read newest first, and its first key may stand without a name', async () => {
    await loadMasterKeys(file, { createIfMissing: true });
    const [first] = await loadMasterKeys(file, { createIfMissing: false });
    for (let more = 0; more < 9; more += 1) await addKey(file);
    expect(await addKey(file)).toBe('m11');
    const keys = await loadMasterKeys(file, { createIfMissing: false });
    expect(keys.map(({ generation }) => generation)).toEqual([
      'm11',
      'm10',
      'm9',
      'm8',
      'm7',
      'm6',
      'm5',
      'm4',
      'm3',
      'm2',
      'm1',
    ]);
    expect(keys.at(-1)).toEqual(first);
    expect(new Set(keys.map(({ key }) => key.toString('hex'))).size).toBe(11);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await filesIn(folder)).toEqual(['master.key']);
  });

  it('gets a generation without a draft of a killed command beside it, and without a loss of copies', async () => {
    const draft = join(folder, 'master.key.0123456789ab.draft');
    const copies = ['master.key.202611291200', 'master.key.bak', 'other.key.0123456789ab.draft'];
    for (const name of copies) await writeFile(join(folder, name), 'a copy');
    await writeFile(draft, 'all generations');
    await addKey(file, 'm1');
    expect((await filesIn(folder)).sort()).toEqual(['master.key', ...copies]);
    await writeFile(draft, 'all generations');
    expect(await addKey(file)).toBe('m2');
    expect((await filesIn(folder)).sort()).toEqual(['master.key', ...copies]);
  });

  it('keeps its owner and mode, whoever makes it longer', async () => {
    await loadMasterKeys(file, { createIfMissing: true });
    if (process.getuid?.() === 0) await chown(file, 65_534, 65_534);
    const ownerOf = async () => {
      const { uid, gid, mode } = await stat(file);
      return { uid, gid, mode: mode & 0o777 };
    };
    const before = await ownerOf();
    await addKey(file);
    expect(await ownerOf()).toEqual(before);
  });

  it.runIf(process.getuid?.() === 0)(
    'gives no file away, when root makes it longer, that its owner links under the name of the draft',
    async () => {
      await loadMasterKeys(file, { createIfMissing: true });
      await chown(file, 65_534, 65_534);
      const victim = join(folder, 'victim');
      await writeFile(victim, 'of root', { mode: 0o600 });
      const exchanged = exchangeDraft(folder, 'master.key.', victim);
      await addKey(file).catch(() => undefined);
      await exchanged;
      expect(await stat(victim)).toMatchObject({ uid: 0, gid: 0 });
    },
  );

  it.each([
    ['a generation that is there', `m2:${Buffer.alloc(32, 1).toString('base64')}`, /holds m2: name a later/],
    ['no keys', 'broken', /32 bytes in base64/],
  ])('that holds %s is refused before the lock, which would need a right to write', async (_what, text, why) => {
    await writeFile(file, text, { mode: 0o600 });
    await expect(addKey(file, 'm2')).rejects.toThrow(why);
    expect(await readdir(folder)).toEqual(['master.key']);
  });

  it('is named as the file that cannot be made where the folder of the lock cannot be made', async () => {
    await expect(addKey(join(folder, 'no', 'master.key'), 'm1')).rejects.toThrow(
      /master\.key cannot be made \(ENOENT\)$/,
    );
  });

  it('whose lock would be a file of another program says so', async () => {
    await addKey(file, 'm1');
    await rm(`${file}.lock`, { recursive: true });
    await writeFile(`${file}.lock`, '');
    await expect(addKey(file)).rejects.toThrow(/^the lock .*\.lock of the master key file is no folder: move away/);
    expect(await readFile(`${file}.lock`, 'utf8')).toBe('');
  });

  it('is made longer without a turn on a file system without hard links', async () => {
    await addKey(file, 'm1');
    await withoutLinks(async () => {
      expect(await addKey(file)).toBe('m2');
    });
    expect(await generations()).toEqual(['m2', 'm1']);
    expect(await filesIn(folder)).toEqual(['master.key']);
  });

  it.each([
    ['ENOENT', /was changed meanwhile: run the command again$/],
    ['EBUSY', /cannot be made \(EBUSY\): where the file alone is mounted, mount its folder$/],
    ['EIO', /cannot be made \(EIO\)$/],
  ])('says what helps where the rename fails with %s', async (code, why) => {
    await addKey(file, 'm1');
    await withCall(
      'rename',
      (_draft, to) => (to === file ? Promise.reject(fileFault(code)) : Promise.resolve()),
      async () => {
        await expect(addKey(file)).rejects.toThrow(why);
      },
    );
    expect(await filesIn(folder)).toEqual(['master.key']);
  });

  it('is made longer through a symbolic link, which stays a link', async () => {
    await addKey(join(folder, 'kept.key'), 'm1');
    await symlink(join(folder, 'kept.key'), file);
    expect(await addKey(file)).toBe('m2');
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    const kept = await loadMasterKeys(join(folder, 'kept.key'), { createIfMissing: false });
    expect(kept.map(({ generation }) => generation)).toEqual(['m2', 'm1']);
  });

  it('is not made longer where there is none', async () => {
    await expect(addKey(file)).rejects.toThrow(/is missing: restore your copy; .*\.key --generation m1 makes it$/);
    expect(await filesIn(folder)).toEqual([]);
  });

  it('is made, where there is none, for a generation with a name of its own', async () => {
    expect(await addKey(file, 'm2')).toBe('m2');
    expect(await generations()).toEqual(['m2']);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await addKey(file, 'm4')).toBe('m4');
    for (const earlier of ['m4', 'm3'])
      await expect(addKey(file, earlier)).rejects.toThrow(/holds m4: name a later generation/);
    await expect(addKey(file, 'key')).rejects.toThrow(/no name of a generation/);
    expect(await generations()).toEqual(['m4', 'm2']);
    expect(await filesIn(folder)).toEqual(['master.key']);
  });

  const [one, two] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];

  it.each([
    [`m1:${one}\nm1:${two}`, /names a generation twice/],
    [`${one}\n${two}`, /names a generation twice/],
    [`m1:${one}\nm2:${one}`, /holds one key under two names/],
    [`m0:${one}`, /one line mN:BASE64 for each generation/],
    [`m1:${one}\nm2:c2hvcnQ=`, /one line mN:BASE64 for each generation/],
  ])('is refused as %j', async (text, why) => {
    await writeFile(file, text, { mode: 0o600 });
    await expect(generations()).rejects.toThrow(why);
  });

  it('may lack old generations and have them in any order', async () => {
    await writeFile(file, `m3:${one}\n\nm7:${two}\n`, { mode: 0o600 });
    expect(await generations()).toEqual(['m7', 'm3']);
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
