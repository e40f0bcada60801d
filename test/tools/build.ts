import { execFileSync } from 'node:child_process';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, ROOT } from './compile.js';

const dist = join(ROOT, 'dist');
const program = join(dist, 'src', 'main.js');

/** What the product consists of; tests stay out of it. */
const SOURCES = ['src', 'projections'];

/** Fills `dist` afresh: compiled code, the data files beside it, and a program that starts. Throws when any step fails. */
const build = async (): Promise<void> => {
  await rm(dist, { recursive: true, force: true });
  await compile(dist, SOURCES);
  await makeExecutable();
  const help = execFileSync(process.execPath, [program, '--help'], { cwd: dist, encoding: 'utf8' });
  if (!help.includes('COMMAND')) throw new Error('the built program does not show its commands');
  process.stdout.write(`built ${program}\n`);
};

const makeExecutable = async (): Promise<void> => {
  const code = await readFile(program, 'utf8');
  if (!code.startsWith('#!/usr/bin/env node\n')) throw new Error('the program does not name its interpreter');
  await chmod(program, 0o755);
};

await build();
