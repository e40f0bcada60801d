import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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
