import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dist = join(root, 'dist');
const program = join(dist, 'src', 'main.js');

/** What the product consists of; tests stay out of it. */
const SOURCES = ['src', 'projections'];

/** Fills `dist` afresh: compiled code, the data files beside it, and a program that starts. Throws when any step fails. */
const build = async (): Promise<void> => {
  await rm(dist, { recursive: true, force: true });
  await compile();
  for (const source of SOURCES) {
    const isCopied = (path: string): boolean => !/\.(ts|tsx)$/.test(path);
    await cp(join(root, source), join(dist, source), { recursive: true, filter: isCopied });
  }
  await makeExecutable();
  const help = execFileSync(process.execPath, [program, '--help'], { cwd: dist, encoding: 'utf8' });
  if (!help.includes('COMMAND')) throw new Error('the built program does not show its commands');
  process.stdout.write(`built ${program}\n`);
};

/** The compiler takes the folders to compile from a file only; that file lives in `dist` while it is needed. */
const compile = async (): Promise<void> => {
  const config = join(dist, 'tsconfig.build.json');
  await mkdir(dist);
  const include = SOURCES.map((source) => `../${source}`);
  await writeFile(
    config,
    JSON.stringify({ extends: '../tsconfig.json', compilerOptions: { noEmitOnError: true }, include }),
  );
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '--project', config], { stdio: 'inherit' });
  await rm(config);
};

const makeExecutable = async (): Promise<void> => {
  const code = await readFile(program, 'utf8');
  if (!code.startsWith('#!/usr/bin/env node\n')) throw new Error('the program does not name its interpreter');
  await chmod(program, 0o755);
};

await build();
