import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UnreadableFile } from '../../src/app/audit/verify-export.js';
import { draftExport, manifestOf, readExport, removeEarlierDrafts, whyNotWritable } from '../../src/cli/export-file.js';
import { Interrupted } from '../../src/cli/progress.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { writeExport } from '../support/write-export.js';

/** Of libuv, unless UV_THREADPOOL_SIZE says otherwise. */
const THREADS = 4;

const linesOf = async (text: string): Promise<readonly string[]> => {
  const file = join(temporaryFolder(), 'log.ndjson.gz');
  writeFileSync(file, gzipSync(text));
  const lines: string[] = [];
  for await (const some of (await readExport(file)).lines()) lines.push(...some);
  return lines;
};

describe('the lines of an export', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\n\nb\n', ['a', '', 'b']],
  ])('of %j are %j', async (text, lines) => {
    expect(await linesOf(text)).toEqual(lines);
  });

  it('are whole where pieces of the file end inside of them', async () => {
    const lines = Array.from({ length: 40 }, (_, n) => String(n).repeat(30_000));
    expect(await linesOf(lines.join('\n'))).toEqual(lines);
  });

  it('are given up when one is longer than any event, however small the file is', async () => {
    await expect(linesOf('a'.repeat(5 * 1024 * 1024))).rejects.toThrow(UnreadableFile);
  });
});

describe('the file of an export', () => {
  async function* text(): AsyncGenerator<string> {
    yield 'private';
  }

  it('is read by its owner alone, also where a file was that all could read', async () => {
    const file = join(temporaryFolder(), 'log.ndjson');
    writeFileSync(file, 'old');
    chmodSync(file, 0o644);
    await writeExport(file, text());
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['private', 0o600]);
  });

  it('takes the place of a link, and leaves alone what the link names', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'other'), 'old');
    symlinkSync(join(folder, 'other'), join(folder, 'log.ndjson'));
    await writeExport(join(folder, 'log.ndjson'), text());
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('old');
    expect(readFileSync(join(folder, 'log.ndjson'), 'utf8')).toBe('private');
  });

  it('is not there, nor a part of it, when its source fails', async () => {
    const folder = temporaryFolder();
    const failing = async function* (): AsyncGenerator<string> {
      yield 'private';
      throw new Error('lost');
    };
    await expect(writeExport(join(folder, 'log.ndjson'), failing())).rejects.toThrow('lost');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not there, nor a part of it, when it is interrupted while its source says nothing', async () => {
    const folder = temporaryFolder();
    const interruption = new AbortController();
    const silent = async function* (): AsyncGenerator<string> {
      yield 'private';
      await new Promise(() => undefined);
    };
    const written = writeExport(join(folder, 'log.ndjson'), silent(), interruption.signal);
    await expect.poll(() => readdirSync(folder)).toHaveLength(1);
    interruption.abort();
    await expect(written).rejects.toThrow(Interrupted);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('replaces drafts of it and its manifest that a killed process has left, and no draft of another file', async () => {
    const folder = temporaryFolder();
    const left = `.${randomUUID()}.draft`;
    const others = [`other.ndjson${left}`, `log.ndjson.gz${left}`, 'log.ndjson.draft'];
    for (const name of [`log.ndjson${left}`, `log.ndjson.manifest.json${left}`, ...others])
      writeFileSync(join(folder, name), 'private');
    await writeExport(join(folder, 'log.ndjson'), text());
    expect(readdirSync(folder).toSorted()).toEqual(['log.ndjson', ...others].toSorted());
  });

  it('is drafted beside a later export of it, which removes the earlier drafts and loses none', async () => {
    const file = join(temporaryFolder(), 'log.ndjson');
    await removeEarlierDrafts(file);
    const lines = await draftExport(file, text());
    await removeEarlierDrafts(file);
    const later = [await draftExport(file, text()), await draftExport(manifestOf(file), text())];
    const manifest = await draftExport(manifestOf(file), text());
    const areThere = [lines, manifest, ...later].map((draft) => draft.isThere());
    expect(await Promise.all(areThere)).toEqual([false, true, true, true]);
  });

  it('needs a folder, and is none', async () => {
    const folder = temporaryFolder();
    const files = [join(folder, 'log.ndjson'), join(folder, 'missing', 'log.ndjson'), folder];
    expect(await Promise.all(files.map(whyNotWritable))).toEqual([
      undefined,
      `${files[1]} cannot be written: there is no folder ${join(folder, 'missing')}`,
      `${folder} cannot be written: ${folder} is a folder`,
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('may be a pipe', async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await whyNotWritable(pipe)).toBeUndefined();
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const read = readAll(reader.stdout);
    await writeExport(pipe, text());
    expect(await read).toBe('private');
  });

  it('may be a pipe without a reader, which does not keep an interrupted process from its end', async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Each open that still waits holds one of the threads that all work with files needs.
    for (let n = 0; n < 2 * THREADS; n += 1) {
      const interruption = new AbortController();
      const written = writeExport(pipe, text(), interruption.signal);
      // Behind the look of the export at the pipe, so that its open has begun.
      for (let looks = 0; looks < 3; looks += 1) await stat(pipe);
      interruption.abort();
      await expect(written).rejects.toThrow(Interrupted);
    }
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const read = readAll(reader.stdout);
    await writeExport(pipe, text());
    expect(await read).toBe('private');
  });

  it.each(['pipe', 'log.ndjson'])('ends at once, also %s, when the interruption came before it', async (name) => {
    const file = join(temporaryFolder(), name);
    if (name === 'pipe') execFileSync('mkfifo', [file]);
    await expect(writeExport(file, text(), AbortSignal.abort())).rejects.toThrow(Interrupted);
  });

  it.runIf(process.geteuid?.() === 0)('is no pipe that another user has put under its name', async () => {
    const pipe = join(temporaryFolder(), 'log.ndjson');
    execFileSync('mkfifo', [pipe]);
    chownSync(pipe, 65_534, 65_534);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const read = readAll(reader.stdout);
    expect(await whyNotWritable(pipe)).toMatch(/ cannot be written: it is a pipe or a device of another user, /);
    await expect(writeExport(pipe, text())).rejects.toThrow('a pipe or a device of another user');
    expect(await read).toBe('');
  });

  it.runIf(process.geteuid?.() === 0)(
    'may be a pipe of another user that this process was given open, as under sudo',
    async () => {
      const pipe = join(temporaryFolder(), 'pipe');
      execFileSync('mkfifo', [pipe]);
      chownSync(pipe, 65_534, 65_534);
      const given = openSync(pipe, 'r+');
      const byDescriptor = `/dev/fd/${given}`;
      expect(await whyNotWritable(byDescriptor)).toBeUndefined();
      await writeExport(byDescriptor, text());
      const read = Buffer.alloc(7);
      readSync(given, read);
      closeSync(given);
      expect(read.toString()).toBe('private');
    },
  );

  it.each(['/dev/null', '/dev/stdout', '/dev/stderr'])('may be %s', async (device) => {
    expect(await whyNotWritable(device)).toBeUndefined();
  });
});
