import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compiledProgram } from '../compiled.js';
import { keepLogLines } from '../run-logs.js';

export type Death = { code: number | null; signal: NodeJS.Signals | null };

export type Program = {
  /** Resolves after any kind of end, when all output has been read. */
  ended: Promise<Death>;
  /** The end of stderr, for the message of a failing test. */
  complaint(): string;
  /** All output so far. */
  output(): { stdout: string; stderr: string };
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM; resolves at its end. */
  stop(): Promise<Death>;
  kill(): Promise<void>;
};

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const READY_WITHIN_MS = 120_000;

/**
 * Runs a TypeScript program of this repository in a separate process, with exactly this environment. `within` is a command that becomes the command
 * line that follows it.
 */
export const runProgram = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  within: readonly string[] = [],
): Program => watch(spawnNode(args, env, within));

/** The same, once it has printed its JSON line with `"msg":"ready"`. Throws when it ends before or stays silent. */
export const startProgram = async <Ready extends object>(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  within: readonly string[] = [],
): Promise<Program & { ready: Ready }> => {
  const child = spawnNode(args, env, within);
  const program = watch(child);
  const timer = new AbortController();
  try {
    const ready = await Promise.race([
      readyLine<Ready>(child),
      program.ended.then(({ code, signal }) => {
        throw new Error(`${args.join(' ')} ended with ${code ?? signal} before it was ready: ${program.complaint()}`);
      }),
      tooLate(timer.signal, () => `${args.join(' ')} is not ready: ${program.complaint()}`),
    ]);
    return { ...program, ready };
  } catch (error) {
    await program.kill();
    throw error;
  } finally {
    timer.abort();
  }
};

const spawnNode = (
  [script = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  within: readonly string[] = [],
): ChildProcess => {
  const [command = '', ...words] = [...within, process.execPath, compiledProgram(script), ...args];
  return spawn(command, words, {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
};

/** A run that is broken off must not leave services behind. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

const watch = (child: ChildProcess): Program => {
  living.add(child);
  child.once('exit', () => living.delete(child));
  const stderr: string[] = [];
  const stdout: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  child.stdout?.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<Death>((resolve, reject) => {
    child.once('error', reject);
    // Not 'exit', which may come before the last of what it wrote.
    child.once('close', (code, signal) => {
      keepLogLines(`${stdout.join('')}\n${stderr.join('')}`);
      resolve({ code, signal });
    });
  });
  return {
    ended,
    complaint: () => stderr.join('').slice(-2_000),
    output: () => ({ stdout: stdout.join(''), stderr: stderr.join('') }),
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGTERM');
      return await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

const readyLine = <Ready extends object>(child: ChildProcess): Promise<Ready> =>
  new Promise((resolve) => {
    let text = '';
    const hear = (chunk: string): void => {
      text += chunk;
      // The text after the last line break may be an incomplete line.
      const line = text
        .split('\n')
        .slice(0, -1)
        .find((candidate) => candidate.includes('"msg":"ready"'));
      if (line === undefined) return;
      // Later output must still be read, because a full pipe would block the process.
      child.stdout?.off('data', hear).resume();
      resolve(JSON.parse(line) as Ready);
    };
    child.stdout?.setEncoding('utf8').on('data', hear);
  });

const tooLate = (signal: AbortSignal, reason: () => string): Promise<never> =>
  new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error(reason())), READY_WITHIN_MS);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
