import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { bundle, PROGRAMS as PRODUCT } from '../../src/launch/build.mjs';
import { ROOT } from '../tools/root.js';
import { isLeftSince } from './leftovers.js';

/** Names the folder of this run, for its workers and for the threads of the service (`src/launch/from-source.mjs`). */
export const COMPILED = 'COMPILED_CODE';

const HOME = join(ROOT, 'out', 'compiled');

/** The programs of the product, and those of tests, by their paths in the repository. */
const SHARED = [
  ...PRODUCT,
  'test/adapters/embedded-postgres/owner.ts',
  'test/adapters/pdf/support/print-digests.ts',
  'test/adapters/sql/goodbye-child.ts',
  'test/adapters/sql/migrate-child.ts',
  'test/crash/leader-child.ts',
  'test/crash/survivor-child.ts',
  'test/http/server/lenient-child.ts',
  'test/projector/rebuild-child.ts',
  'test/proof/broken-service.ts',
  'test/proof/main.ts',
  'test/runtime/commands/interrupted-child.ts',
  'test/runtime/operator/restore-child.ts',
];

/** Started hundreds of times in a run. Bundled apart, it consists of fewer files: a start takes an eighth less processor time. */
const OFTEN = ['test/crash/child.ts'];

const PROGRAMS = [...SHARED, ...OFTEN];

const OLD_MS = 3_600_000;
const WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 50;

/**
 * Begins to compile the programs of one run, beside its tests, in a fresh folder, and removes the folders of killed runs, as
 * `npm ci` does for the product. `close` ends with the folder gone.
 */
export const beginCompiling = async (): Promise<{ folder: string; close(): Promise<void> }> => {
  await mkdir(HOME, { recursive: true });
  for (const name of readdirSync(HOME)) {
    const left = join(HOME, name);
    if (isLeftSince(left, OLD_MS)) await rm(left, { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(HOME, 'run-'));
  // A program may run as another user.
  await chmod(folder, 0o755);
  const compiling = compileInto(folder).then(
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

const compileInto = async (folder: string): Promise<void> => {
  await bundle(folder, SHARED);
  await bundle(folder, OFTEN);
  for (const program of PROGRAMS) if (isProcess(program)) compileWasmOnce(join(folder, program));
};

const isProcess = (program: string): boolean => !/(thread|worker)\.ts$/.test(program);

/**
 * V8 compiles the functions of libxml2 that the start of a service uses most a second time, beside it: a third of the processor time of a process that
 * lives seconds. A hundred times the usual work must be done before that, which long runs still reach. A flag of the command line would
 * not come through the shell of some tests.
 */
const compileWasmOnce = (program: string): void => {
  const file = program.replace(/\.ts$/, '.js');
  const inner = program.replace(/\.ts$/, '.program.js');
  renameSync(file, inner);
  const lines = [
    "import { setFlagsFromString } from 'node:v8';",
    `setFlagsFromString('--wasm-tiering-budget=${WASM_BUDGET}');`,
    `await import('./${basename(inner)}');`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
};

/** The default of V8 in Node 20 is 1,800,000. */
const WASM_BUDGET = 180_000_000;

const DONE = 'done';
const FAILED = 'failed';

/** The JavaScript of a script of the repository (`src/main.ts`), once it is there. */
export const compiledProgram = (script: string): string => {
  const folder = process.env[COMPILED];
  if (folder === undefined) throw new Error('the global setup of the tests has made no folder for compiled code');
  if (!PROGRAMS.includes(script)) throw new Error(`${script} is not among the programs that are compiled for a run`);
  waitFor(folder);
  return join(folder, script.replace(/\.ts$/, '.js'));
};

/** Synchronous, because the callers start processes without waiting. */
const waitFor = (folder: string): void => {
  const until = Date.now() + WITHIN_MS;
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(join(folder, DONE))) {
    if (existsSync(join(folder, FAILED))) throw new Error('the code of this run could not be compiled');
    if (Date.now() > until) throw new Error('the compiler does not get done');
    Atomics.wait(nothing, 0, 0, LOOK_EVERY_MS);
  }
};
