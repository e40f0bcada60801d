import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { processIdentity } from '../../../src/adapters/embedded-postgres/server-processes.js';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const openFolder = (): string => {
  const folder = temporaryFolder();
  // The embedded PostgreSQL does not run as root: its user has to pass through.
  chmodSync(folder, 0o711);
  return folder;
};

const serverOf = (dataDir: string): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

it.each([
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const)(
  'the demo, interrupted by %s, stops its database, removes its folder and ends with %s',
  async (signal, code) => {
    const parent = openFolder();
    const program = runProgram(['src/main.ts', 'demo', '--lost-answer'], { TMPDIR: parent });
    await expect.poll(() => program.output().stdout).toContain('registered');
    const [name = ''] = readdirSync(parent).filter((found) => found.startsWith('nfse-demo-'));
    const server = serverOf(join(parent, name));
    program.signal(signal);
    expect(await program.ended, program.complaint()).toEqual({ code, signal: null });
    expect(program.complaint()).toContain('interrupted');
    expect(processIdentity(server)).toBeUndefined();
    expect(readdirSync(parent).filter((found) => found.startsWith('nfse-demo-'))).toEqual([]);
  },
);

it('the demo, interrupted a second time while its database does not end, ends that database and removes its folder', async () => {
  const parent = openFolder();
  const program = runProgram(['src/main.ts', 'demo', '--lost-answer'], { TMPDIR: parent });
  await expect.poll(() => program.output().stdout).toContain('registered');
  const [name = ''] = readdirSync(parent).filter((found) => found.startsWith('nfse-demo-'));
  const server = serverOf(join(parent, name));
  process.kill(server, 'SIGSTOP');
  const again = setInterval(() => program.signal('SIGINT'), 200);
  try {
    expect(await program.ended, program.complaint()).toEqual({ code: 130, signal: null });
  } finally {
    clearInterval(again);
  }
  const left = processIdentity(server);
  if (left !== undefined) process.kill(server, 'SIGKILL');
  expect(left).toBeUndefined();
  expect(readdirSync(parent).filter((found) => found.startsWith('nfse-demo-'))).toEqual([]);
});

it('a command, interrupted while the database starts for it, stops that database', async () => {
  const dataDir = join(openFolder(), 'data');
  const program = runProgram(['src/main.ts', 'api', 'on'], { DATA_DIR: dataDir });
  await expect.poll(() => existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(true);
  await expect.poll(() => serverOf(dataDir)).toBeGreaterThan(0);
  const server = serverOf(dataDir);
  program.signal('SIGHUP');
  expect(await program.ended, program.complaint()).toEqual({ code: 129, signal: null });
  expect(processIdentity(server)).toBeUndefined();
});
