import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeWhole } from '../../src/lib/write-whole.js';

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
