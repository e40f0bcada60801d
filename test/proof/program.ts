import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Death } from '../support/harness/processes.js';
import { ROOT } from '../tools/root.js';

/** The program as its user has it: what `npm start` and `npm run nfse` run. */
const NFSE = join(ROOT, 'src/launch/nfse.mjs');

export type Program = {
  ended: Promise<Death>;
  /** The line with `"msg":"ready"`. Rejects when the program ends before. */
  ready: Promise<Readonly<Record<string, unknown>>>;
  hasEnded(): boolean;
  /** The end of what it wrote. */
  lastWords(): string;
  signal(signal: NodeJS.Signals): void;
};

const LAST_WORDS = 1_500;

const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Arguments of Node before those of the command. */
export const SHIPPED: readonly string[] = [NFSE];

/** Starts a command of the program with exactly this environment. `hear` gets everything that it writes. */
export const startNfse = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  hear: (text: string) => void = () => undefined,
  program = SHIPPED,
): Program => {
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C at a terminal reaches the run alone, which ends what it started in order.
    detached: true,
  });
  living.add(child);
  let words = '';
  let unread = '';
  let isOver = false;
  const ended = new Promise<Death>((resolve) => {
    child.once('error', () => resolve({ code: -1, signal: null }));
    child.once('close', (code, signal) => {
      isOver = true;
      living.delete(child);
      resolve({ code, signal });
    });
  });
  const ready = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      hear(text);
      words = `${words}${text}`.slice(-LAST_WORDS);
      unread += text;
      const lines = unread.split('\n');
      unread = lines.pop() ?? '';
      const found = lines.find((line) => line.includes('"msg":"ready"'));
      if (found !== undefined) resolve(JSON.parse(found) as Record<string, unknown>);
    });
    void ended.then(({ code, signal }) =>
      reject(new Error(`${args.join(' ')} ended with ${code ?? signal} before it was ready: ${words}`)),
    );
  });
  ready.catch(() => undefined);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    hear(text);
    words = `${words}${text}`.slice(-LAST_WORDS);
  });
  return {
    ended,
    ready,
    hasEnded: () => isOver,
    lastWords: () => words,
    signal: (signal) => void child.kill(signal),
  };
};

/** Runs a command to its end; its JSON document on stdout. Throws when it exits with another code than 0, unless `accepts` takes it. */
export const runNfse = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  accepts: (code: number | null) => boolean = (code) => code === 0,
): Promise<unknown> => {
  const child = spawn(process.execPath, [NFSE, ...args, '--json'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  living.add(child);
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(-1));
    child.once('close', resolve);
  });
  living.delete(child);
  const said = `${err.join('')}${out.join('')}`;
  if (!accepts(code)) throw new Error(`nfse ${args.join(' ')} exited with ${code}: ${said.slice(-LAST_WORDS)}`);
  return JSON.parse(out.join(''));
};
