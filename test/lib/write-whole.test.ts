import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWhole } from '../../src/lib/files.js';
import { exchangeDraft } from '../support/exchanged-draft.js';

describe('a file that is written whole', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-whole-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('has its text and its mode, and leaves no draft', async () => {
    const file = join(folder, 'secret');
    await writeWhole(file, 'first', 0o600);
    await writeWhole(file, 'second', 0o640);
    expect(await readFile(file, 'utf8')).toBe('second');
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(['secret']);
  });

  it.runIf(process.geteuid?.() === 0)('keeps its owner when root writes again', async () => {
    const file = join(folder, 'connection.json');
    await writeFile(file, 'first', { mode: 0o600 });
    await chown(file, 65_534, 65_534);
    await writeWhole(file, 'second', 0o600);
    expect(await stat(file)).toMatchObject({ uid: 65_534, gid: 65_534 });
    expect(await readFile(file, 'utf8')).toBe('second');
  });

  it('keeps its mode when no other is named, and bytes go in as they are', async () => {
    const file = join(folder, 'nfse.pdf');
    await writeFile(file, 'first', { mode: 0o600 });
    await writeWhole(file, Uint8Array.of(0xff, 0x00));
    expect([...(await readFile(file))]).toEqual([0xff, 0x00]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('has its mode set and not the file of a link that another user puts under the name of the draft', async () => {
    const victim = join(folder, 'victim');
    await writeFile(victim, 'of root', { mode: 0o600 });
    const exchanged = exchangeDraft(folder, 'manifest.json.draft', victim);
    await writeWhole(join(folder, 'manifest.json'), 'x'.repeat(4_000_000), 0o644).catch(() => undefined);
    await exchanged;
    expect((await stat(victim)).mode & 0o777).toBe(0o600);
  });

  it.runIf(process.geteuid?.() === 0)('gives away no file of such a link when root replaces its file', async () => {
    const [file, victim] = [join(folder, 'manifest.json'), join(folder, 'victim')];
    await writeFile(victim, 'of root', { mode: 0o600 });
    await writeFile(file, 'planted');
    await chown(file, 65_534, 65_534);
    const exchanged = exchangeDraft(folder, 'manifest.json.draft', victim);
    await writeWhole(file, 'x'.repeat(4_000_000), 0o600).catch(() => undefined);
    await exchanged;
    expect(await stat(victim)).toMatchObject({ uid: 0, gid: 0 });
  });

  it('replaces the draft of a process that died', async () => {
    const file = join(folder, 'anchor.json');
    await writeFile(`${file}.draft`, 'half of a te');
    await chmod(`${file}.draft`, 0o400);
    await writeWhole(file, 'the text');
    expect(await readFile(file, 'utf8')).toBe('the text');
    expect(await readdir(folder)).toEqual(['anchor.json']);
  });

  it('keeps the file as it was when the new text cannot be written', async () => {
    const file = join(folder, 'missing', 'a');
    await expect(writeWhole(file, 'text')).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
  });
});
