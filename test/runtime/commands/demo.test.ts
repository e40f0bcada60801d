import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('the demo overwrites no file that a link in its place leads to, and runs a second time over its own documents', async () => {
  const place = temporaryFolder();
  const victim = join(place, 'victim');
  writeFileSync(victim, 'private');
  mkdirSync(join(place, 'out'));
  symlinkSync(victim, join(place, 'out', 'nfse.pdf'));
  for (const _time of [1, 2]) {
    const inPlace = ['sh', '-c', 'cd "$0" && exec "$@"', place];
    const program = runProgram(['src/main.ts', 'demo'], {}, inPlace);
    expect(await program.ended, program.complaint()).toEqual({ code: 0, signal: null });
    expect(readFileSync(victim, 'utf8')).toBe('private');
    expect(readdirSync(join(place, 'out')).toSorted()).toEqual(['nfse.pdf', 'nfse.xml']);
    expect(
      readFileSync(join(place, 'out', 'nfse.pdf'))
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
  }
});

it.each([
  ['a link that leads nowhere', 'ENOENT', (out: string) => symlinkSync('missing', out)],
  ['a file', 'ENOTDIR', (out: string) => writeFileSync(out, '')],
])('the demo starts nothing where its documents cannot be saved: out is %s', async (_what, code, make) => {
  const place = realpathSync(temporaryFolder());
  const out = join(place, 'out');
  make(out);
  const program = runProgram(['src/main.ts', 'demo'], {}, ['sh', '-c', 'cd "$0" && exec "$@"', place]);
  expect(await program.ended).toEqual({ code: 2, signal: null });
  expect(program.output()).toEqual({
    stdout: '',
    stderr: `${out}, where the demo saves its documents, takes no file (${code}): make it a folder that this user may write\n`,
  });
});
