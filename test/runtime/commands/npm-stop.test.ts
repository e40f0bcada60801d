import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let folder: string;
let npm: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nfse-npm-'));
});
afterEach(async () => {
  npm?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const outputOf = (child: ChildProcess): (() => string) => {
  const texts: string[] = [];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => texts.push(text));
  return () => texts.join('');
};

it('SIGTERM to npm ends what npm started, although its shell passes no signal on', async () => {
  const child = spawn('npm', ['run', '-s', 'nfse', '--', 'simulator'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: folder, DATA_DIR: folder, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  npm = child;
  const output = outputOf(child);
  const gone = new Promise((resolve) => child.stdout?.once('close', resolve));
  await eventually(
    async () => output(),
    (text) => text.includes('"msg":"ready"'),
  );
  child.kill('SIGTERM');
  // The last process that holds the other end of this pipe has ended.
  await gone;
  expect(output()).toContain('"msg":"stopped"');
});
