import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PROGRAMS } from '../../src/launch/build.mjs';
import { ENDS_WITHIN_MS } from '../support/patient.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ROOT } from '../tools/root.js';

let checkout: string;

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(checkout, path)), { recursive: true });
  writeFileSync(join(checkout, path), text);
};

/** Says which sources it was built from, and finds its data file. */
const mainSaying = (word: string): string =>
  [
    "import { readFileSync } from 'node:fs';",
    "const data = readFileSync(new URL('./tables/data.txt', import.meta.url), 'utf8');",
    `console.log('${word}', data, ...process.argv.slice(2));`,
  ].join('\n');

/** Says which processes that it did not start stay its children for two minutes. A process that was asked to end needs a moment. */
const MAIN_NAMING_CHILDREN = `
import { spawnSync } from 'node:child_process';
const children = () =>
  spawnSync('ps', ['-A', '-o', 'ppid=,args='], { encoding: 'utf8' })
    .stdout.split('\\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(process.pid + ' ') && !/ ps -A | \\[?\\w+\\]? <defunct>$/.test(line));
const until = Date.now() + 120_000;
while (children().length > 0 && Date.now() < until) await new Promise((again) => setTimeout(again, 50));
console.log(children().join(', ') || 'no process is left');
`;

beforeEach(() => {
  checkout = temporaryFolder();
  cpSync(join(ROOT, 'src/launch'), join(checkout, 'src/launch'), { recursive: true });
  for (const program of PROGRAMS) write(program, 'export {};');
  write('src/main.ts', mainSaying('first'));
  write('src/tables/data.txt', 'data');
  write('projections/a.ts', 'export {};');
  write('docs/guia/README.md', '# Guia');
  write('package.json', '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
});

const run = (program: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, program), ...args], {
    encoding: 'utf8',
    cwd: temporaryFolder(),
    timeout: ENDS_WITHIN_MS,
  });
  return { status, stdout, stderr };
};

const start = (...args: readonly string[]) => run('src/launch/nfse.mjs', ...args);

const removePackages = (): void => rmSync(join(checkout, 'node_modules'));

describe('the program’s launcher', () => {
  it('builds what was not built, and hands the words on', () => {
    expect(start('--version', 'x')).toEqual({ status: 0, stdout: 'first data --version x\n', stderr: '' });
  });

  it('runs a build of the same sources without the packages that build', () => {
    expect(run('src/launch/prepare.mjs')).toEqual({ status: 0, stdout: '', stderr: '' });
    removePackages();
    expect(start()).toEqual({ status: 0, stdout: 'first data\n', stderr: '' });
  });

  it('has in its build the renderer of the reference, whose package is a development package', () => {
    expect(run('src/launch/prepare.mjs').status).toBe(0);
    expect(existsSync(join(checkout, 'dist/src/http/docs/assets/redoc.standalone.js'))).toBe(true);
  });

  it('leaves no process of the build beside the program that it runs', () => {
    write('src/main.ts', MAIN_NAMING_CHILDREN);
    expect(start()).toEqual({ status: 0, stdout: 'no process is left\n', stderr: '' });
  });

  it('never runs a build of other sources', () => {
    start();
    write('src/main.ts', mainSaying('second'));
    expect(start().stdout).toBe('second data\n');
  });

  it('sees a source that is older than the build, of another size or not', () => {
    start();
    write('src/main.ts', mainSaying('fifth'));
    utimesSync(join(checkout, 'src/main.ts'), 1_000, 1_000);
    expect(start().stdout).toBe('fifth data\n');
  });

  it('sees new data, and a source that is gone', () => {
    start();
    write('src/tables/data.txt', 'other data');
    expect(start().stdout).toBe('first other data\n');
    rmSync(join(checkout, 'projections/a.ts'));
    removePackages();
    expect(start().stderr).toMatch(/^the build in dist is stale: .+\n$/);
  });

  it.each([
    ['missing', () => undefined],
    [
      'stale',
      () => {
        start();
        write('src/main.ts', mainSaying('second'));
      },
    ],
  ])('refuses a %s build in one line where it cannot build', (state, arrange) => {
    arrange();
    removePackages();
    expect(start()).toEqual({
      status: 2,
      stdout: '',
      stderr: `the build in dist is ${state}: run npm ci --include=dev\n`,
    });
  });

  it('refuses sources that cannot be built in one line, and leaves the build as it was', () => {
    start();
    write('src/main.ts', 'const = 1;');
    expect(start()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(/^the sources .+\n$/) });
    write('src/main.ts', mainSaying('first'));
    expect(start().stdout).toBe('first data\n');
  });

  it('keeps the files of the build before for programs that still run, and no older ones', () => {
    const built = () => existsSync(join(checkout, 'dist/src/old.txt'));
    write('src/old.txt', '');
    start();
    rmSync(join(checkout, 'src/old.txt'));
    start();
    expect(built()).toBe(true);
    write('src/main.ts', mainSaying('third'));
    start();
    expect(built()).toBe(false);
  });

  it('says at an install without the packages that build that nothing was built', () => {
    removePackages();
    expect(run('src/launch/prepare.mjs')).toEqual({
      status: 0,
      stdout: '',
      stderr:
        'the program was not built, because development packages are missing, which npm ci --include=dev installs; the build in dist is missing\n',
    });
  });
});
