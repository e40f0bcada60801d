import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { loadMasterKeys } from '../../../src/adapters/vault/key-file.js';
import { addKey } from '../../support/harness/key-file.js';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DIES = pathToFileURL(fileURLToPath(new URL('./support/dies-at-step.mjs', import.meta.url))).href;

/** Runs the command that a person types. */
const add = async (file: string, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
  const program = runProgram(['src/main.ts', 'master-key', 'add', file, ...words], {
    DATA_DIR: join(file, '..', 'data'),
    ...env,
  });
  const { code, signal } = await program.ended;
  const { stdout, stderr } = program.output();
  return { code, signal, stdout, stderr, added: /^(m\d+) was added/.exec(stdout)?.[1] };
};

const linesOf = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

it('loses no generation when several commands add at once', async () => {
  const file = join(temporaryFolder(), 'master.key');
  const AT_ONCE = 3;
  const first = await Promise.all(Array.from({ length: AT_ONCE }, () => add(file, ['--generation', 'm1'])));
  expect(first.map(({ code }) => code).sort()).toEqual([0, 2, 2]);
  // The only key of a file needs no rotation, which would be refused.
  for (const { code, stdout, stderr } of first)
    if (code === 0) expect(stdout).toMatch(/^m1 was added to .*: copy the file to .* every machine\n$/);
    else expect(stderr).toBe(`the master key file ${file} holds m1: name a later generation\n`);
  for (let round = 0; round < 4; round += 1) {
    const before = await linesOf(file);
    const added = await Promise.all(Array.from({ length: AT_ONCE }, () => add(file)));
    expect(added.map(({ code, stderr }) => `${code}${stderr}`)).toEqual(Array(AT_ONCE).fill('0'));
    for (const { stdout } of added) expect(stdout).toMatch(/, then nfse master-key rotate\n$/);
    const after = await linesOf(file);
    expect(after.slice(0, before.length)).toEqual(before);
    const names = after.slice(before.length).map((line) => line.split(':')[0]);
    expect(names).toEqual(added.map((one) => one.added).sort((a, b) => Number(a?.slice(1)) - Number(b?.slice(1))));
    expect(names).toHaveLength(AT_ONCE);
  }
  await loadMasterKeys(file, { createIfMissing: false });
});

it.each([
  ['a missing file', 0],
  ['a file that is there', 1],
])('leaves all generations wherever it is killed over %s, and the next command works', async (_what, first) => {
  const die = async (at: number): Promise<boolean> => {
    const folder = temporaryFolder();
    const file = join(folder, 'master.key');
    for (let made = 1; made <= first; made += 1) await addKey(file, `m${made}`);
    const before = await linesOf(file);
    const env = { NODE_OPTIONS: `--import=${DIES}`, DIE_IN: folder, DIE_AT: String(at) };
    const { code, signal, stderr } = await add(file, ['--generation', 'm2'], env);
    const after = await linesOf(file);
    expect(after.slice(0, before.length), stderr).toEqual(before);
    if (after.length > 0) await loadMasterKeys(file, { createIfMissing: false });
    expect(signal === null ? [code, stderr] : signal).toEqual(signal === null ? [0, ''] : 'SIGKILL');
    expect(await addKey(file, 'm3')).toBe('m3');
    expect((await linesOf(file)).slice(0, after.length)).toEqual(after);
    expect((await readdir(folder)).sort()).toEqual(['master.key', 'master.key.lock']);
    return signal !== null;
  };
  let steps = 0;
  while (await die(steps + 1)) steps += 1;
  expect(steps).toBeGreaterThan(15);
});
