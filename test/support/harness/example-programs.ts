import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { transform } from 'esbuild';
import { bundle } from '../../../src/launch/build.mjs';
import { ROOT } from '../../tools/root.js';

type Ended = { code: number | null; out: string; complaint: string };

type ExampleProgram = {
  ended: Promise<Ended>;
  /** Resolves with the first group of the pattern in the output. */
  says(pattern: RegExp): Promise<string>;
  /** What came on standard error up to now. */
  complained(): string;
  kill(): Promise<void>;
};

export type ExamplePrograms = {
  folder: string;
  start(file: string, ...args: readonly string[]): ExampleProgram;
  run(file: string, ...args: readonly string[]): Promise<Ended>;
  /** The same programs with other variables, which count before those of the installation. */
  within(env: Readonly<Record<string, string>>): Pick<ExamplePrograms, 'start' | 'run'>;
  /** A program beside the examples. */
  write(file: string, text: string): Promise<void>;
  close(): Promise<void>;
};

const EXAMPLES = join(ROOT, 'docs/examples');

/** What the examples import, beside the client. */
const PACKAGES = ['express', 'hono', '@hono'];

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  '.sh': ['bash'],
  '.py': ['python3'],
  '.php': ['php'],
};

/**
 * The examples in a folder of a stranger, where this package is installed with nothing but its client. `typescript` is a command that runs TypeScript as
 * it is; without one Node runs it.
 */
export const installExamples = async (
  env: Readonly<Record<string, string>>,
  typescript?: readonly string[],
): Promise<ExamplePrograms> => {
  const playedAs = (file: string): string => (typescript === undefined ? file.replace(/\.ts$/, '.mjs') : file);
  const folder = await mkdtemp(join(tmpdir(), 'nfse-examples-'));
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'nfse-issuance-service');
  await bundle(join(own, 'dist'), []);
  await cp(join(ROOT, 'package.json'), join(own, 'package.json'));
  for (const name of PACKAGES) await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  await mkdir(join(folder, 'examples'));
  for (const file of await readdir(EXAMPLES)) {
    const text = await readFile(join(EXAMPLES, file), 'utf8');
    // Types are taken out, as Node 24 does.
    const code = playedAs(file) === file ? text : (await transform(text, { loader: 'ts', target: 'es2022' })).code;
    await writeFile(join(folder, 'examples', playedAs(file)), code);
  }
  const running = new Set<ExampleProgram>();
  const startIn = (
    environment: Readonly<Record<string, string>>,
    file: string,
    args: readonly string[],
  ): ExampleProgram => {
    const [command = '', ...first] = COMMANDS[extname(file)] ?? typescript ?? [process.execPath];
    const child = spawn(command, [...first, join('examples', playedAs(file)), ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const program = programOf(child);
    running.add(program);
    program.ended.then(() => running.delete(program));
    return program;
  };
  const within: ExamplePrograms['within'] = (more) => {
    const environment = { ...env, ...more };
    return {
      start: (file, ...args) => startIn(environment, file, args),
      run: (file, ...args) => startIn(environment, file, args).ended,
    };
  };
  return {
    folder,
    ...within({}),
    within,
    write: (file, text) => writeFile(join(folder, 'examples', playedAs(file)), text),
    close: async () => {
      for (const program of running) await program.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const programOf = (child: ChildProcess): ExampleProgram => {
  let [out, complaint] = ['', ''];
  const listeners = new Set<() => void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    for (const listener of listeners) listener();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, complaint }));
  });
  return {
    ended,
    complained: () => complaint,
    says: async (pattern) => {
      const said = new Promise<string>((resolve) => {
        const look = (): void => {
          const [, found] = pattern.exec(out) ?? [];
          if (found !== undefined) resolve(found);
        };
        listeners.add(look);
        look();
      });
      const silent = ended.then((end) =>
        Promise.reject(new Error(`ended without saying ${pattern}: ${end.complaint}`)),
      );
      return await Promise.race([said, silent]);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};
