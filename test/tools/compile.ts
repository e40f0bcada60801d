import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Writes the code of these folders of the repository as JavaScript below `into`, which is inside the repository so that packages are
 * found, and copies the data files. Rejects when the compiler refuses.
 */
export const compile = async (into: string, sources: readonly string[]): Promise<void> => {
  // The compiler takes the folders to compile from a file only; that file lives in the folder while it is needed.
  const config = join(into, 'tsconfig.build.json');
  const root = relative(into, ROOT);
  mkdirSync(into, { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noEmitOnError: true, rootDir: root, outDir: '.' },
      include: sources.map((source) => join(root, source)),
    }),
  );
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve('typescript-compiler/package.json')),
    'bin',
    'tsc',
  );
  const complaint = await run(process.execPath, [compiler, '--project', config]);
  if (complaint !== undefined) throw new Error(complaint);
  rmSync(config);
  const isData = (path: string): boolean => !/\.(ts|tsx)$/.test(path);
  for (const source of sources) cpSync(join(ROOT, source), join(into, source), { recursive: true, filter: isData });
};

/** What the program said when it failed. */
const run = (program: string, args: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, args, (error, stdout) => resolve(error === null ? undefined : stdout || error.message));
  });
