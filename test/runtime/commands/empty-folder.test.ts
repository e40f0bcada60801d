import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const newFolder = (): string => {
  const parent = temporaryFolder();
  // The embedded PostgreSQL does not run as root: its user has to pass through.
  chmodSync(parent, 0o711);
  return join(parent, 'data');
};

it('a command says that the database which it opens is a new one', async () => {
  const folder = newFolder();
  const complaintOf = async (): Promise<string> => {
    const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: folder });
    expect(await program.ended).toMatchObject({ code: 0 });
    return program.complaint();
  };
  expect(await complaintOf()).toContain(`warning: DATA_DIR ${folder} holds no database yet`);
  expect(await complaintOf()).toBe('');
});

it.each(['company list', 'serve'])('a file as DATA_DIR is named as one, and nothing else is said: %s', async (line) => {
  const file = newFolder();
  writeFileSync(file, '');
  const program = runProgram(['src/main.ts', ...line.split(' ')], { DATA_DIR: file });
  expect(await program.ended).toMatchObject({ code: 2 });
  const { stdout, stderr } = program.output();
  expect(stdout + stderr).toContain(`DATA_DIR ${file} is a file and not a folder: choose another DATA_DIR`);
  expect(stdout + stderr).not.toMatch(/warning|cannot be reached/);
});

it.each(['company list', 'serve'])('a DATA_DIR that is a link to itself is named as a link: %s', async (line) => {
  const link = newFolder();
  symlinkSync(link, link);
  const program = runProgram(['src/main.ts', ...line.split(' ')], { DATA_DIR: link });
  expect(await program.ended).toMatchObject({ code: 2 });
  const { stdout, stderr } = program.output();
  expect(stdout + stderr).toContain(`DATA_DIR ${link} is a link to ${link}, where no folder is: `);
});

it.each([
  ['backup', '--out', 'OUT'],
  ['events', 'export', '--out', 'OUT', '--json'],
  ['audit', 'verify'],
])(
  'a command in a terminal without the DATA_DIR of the service is refused and makes nothing: %s %s',
  async (...args) => {
    const folder = newFolder();
    const out = join(folder, '..', 'backup');
    const words = args.map((word) => (word === 'OUT' ? out : word));
    const program = runProgram(['src/main.ts', ...words], { DATA_DIR: folder });
    expect(await program.ended).toMatchObject({ code: 2 });
    const { stdout, stderr } = program.output();
    expect(stdout + stderr).toContain(`DATA_DIR ${folder} holds no database, and this command makes none: `);
    expect([existsSync(folder), existsSync(out)]).toEqual([false, false]);
  },
);

it('a backup of a folder whose database was moved away is refused, so that no empty backup takes the place of older ones', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'lock'), { recursive: true });
  chmodSync(folder, 0o711);
  const out = join(folder, '..', 'backup');
  const program = runProgram(['src/main.ts', 'backup', '--out', out], { DATA_DIR: folder });
  expect(await program.ended).toMatchObject({ code: 2 });
  expect([readdirSync(folder), existsSync(out)]).toEqual([['lock'], false]);
});
