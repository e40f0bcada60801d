import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, ROOT } from '../tools/compile.js';
import { isLeftSince } from './leftovers.js';

/** Names the folder of this run, for its workers. */
export const COMPILED = 'NFSE_TEST_COMPILED';

const HOME = join(ROOT, 'out', 'compiled');
const SOURCES = ['src', 'projections', 'test'];
const OLD_MS = 3_600_000;
const WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 50;

/**
 * Begins to compile the repository for one run, beside its tests, in a fresh folder; those that killed runs left go. A process that
 * starts from compiled code is up in half the time that it takes from source, and a run starts hundreds. `close` ends with
 * the folder gone.
 */
export const beginCompiling = async (): Promise<{ folder: string; close(): Promise<void> }> => {
  await mkdir(HOME, { recursive: true });
  for (const name of readdirSync(HOME)) {
    const left = join(HOME, name);
    if (isLeftSince(left, OLD_MS)) await rm(left, { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(HOME, 'run-'));
  const compiling = compile(folder, { sources: SOURCES, noEmitOnError: false }).then(
    () => writeFileSync(join(folder, DONE), ''),
    (error: unknown) => writeFileSync(join(folder, FAILED), String(error)),
  );
  return {
    folder,
    close: async () => {
      await compiling;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const DONE = 'done';
const FAILED = 'failed';

/** The JavaScript of a script of the repository (`src/main.ts`), once it is there. */
export const compiledProgram = (script: string): string => {
  const folder = process.env[COMPILED];
  if (folder === undefined) throw new Error('the global setup of the tests has made no folder for compiled code');
  waitFor(folder);
  return join(folder, script.replace(/\.ts$/, '.js'));
};

/** Its callers start processes without a pause of their own, so it may not give one back either. */
const waitFor = (folder: string): void => {
  const until = Date.now() + WITHIN_MS;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(join(folder, DONE))) {
    if (existsSync(join(folder, FAILED))) throw new Error('the code of this run could not be compiled');
    if (Date.now() > until) throw new Error('the compiler does not get done');
    Atomics.wait(nothing, 0, 0, LOOK_EVERY_MS);
  }
};
