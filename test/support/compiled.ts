import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, ROOT } from '../tools/compile.js';

/** Names the folder of this run, for its workers. */
export const COMPILED = 'NFSE_TEST_COMPILED';

const HOME = join(ROOT, 'out', 'compiled');
const SOURCES = ['src', 'projections', 'test'];
const OLD_MS = 3_600_000;
const WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 50;

/** A fresh folder for one run; those that killed runs left go. */
export const newCompiledFolder = async (): Promise<string> => {
  await mkdir(HOME, { recursive: true });
  for (const name of readdirSync(HOME)) {
    const folder = join(HOME, name);
    if (Date.now() - statSync(folder).mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
  return await mkdtemp(join(HOME, 'run-'));
};

/**
 * The JavaScript of a script of the repository (`src/main.ts`). A process that starts from it is up in half the time that it takes
 * from source, and hundreds are started; so the first worker of a run that needs one compiles all, and the others wait for it.
 */
export const compiledProgram = (script: string): string => {
  const folder = process.env[COMPILED];
  if (folder === undefined) throw new Error('the global setup of the tests has made no folder for compiled code');
  const done = join(folder, 'done');
  if (!existsSync(done)) {
    if (isFirst(folder)) {
      compile(folder, { sources: SOURCES, noEmitOnError: false });
      writeFileSync(done, '');
    } else waitFor(done);
  }
  return join(folder, script.replace(/\.ts$/, '.js'));
};

const isFirst = (folder: string): boolean => {
  try {
    mkdirSync(join(folder, 'begun'));
    return true;
  } catch {
    return false;
  }
};

/** Its callers start processes without a pause of their own, so it may not give one back either. */
const waitFor = (file: string): void => {
  const until = Date.now() + WITHIN_MS;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(file)) {
    if (Date.now() > until) throw new Error('another worker does not get done with compiling');
    Atomics.wait(nothing, 0, 0, LOOK_EVERY_MS);
  }
};
