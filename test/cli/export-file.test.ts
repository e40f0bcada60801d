import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UnreadableFile } from '../../src/app/audit/verify-export.js';
import { readExport } from '../../src/cli/export-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

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
