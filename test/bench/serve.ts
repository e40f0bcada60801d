import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** `nfse serve` as a process. `readySeconds`: from the command until `/health/ready` answered 200. */
export type Serving = { pid: number; url: string; opsUrl: string; readySeconds: number; stop(): Promise<void> };

const PATIENCE_MS = 300_000;
const LOOK_EVERY_MS = 10;

/** Starts the built program with these variables and no others. Rejects, with the process ended, when it does not become ready. */
export const serve = (env: Env, ...args: readonly string[]): Promise<Serving> =>
  serving(process.execPath, ['src/launch/nfse.mjs', 'serve', ...args], env);

/** As `serve`, by the command of a person. */
export const npmStart = (env: Env): Promise<Serving> => serving('npm', ['start', '--silent'], env);

type Env = Readonly<Record<string, string>>;

const serving = async (command: string, args: readonly string[], env: Env): Promise<Serving> => {
  const begun = performance.now();
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', OPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const { url, opsUrl } = await readyLine(child);
    while (!(await fetch(`${opsUrl}/health/ready`)).ok) {
      if (performance.now() - begun > PATIENCE_MS) throw new Error('the service did not become ready');
      await pause(LOOK_EVERY_MS);
    }
    const readySeconds = (performance.now() - begun) / 1_000;
    return { pid: child.pid ?? 0, url, opsUrl, readySeconds, stop: () => ended(child) };
  } catch (error) {
    await ended(child);
    throw error;
  }
};

const readyLine = (child: ChildProcess): Promise<{ url: string; opsUrl: string }> =>
  new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('the service has no output');
    // Read to the end, because unread output would fill the pipe and block the service.
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const entry: { msg?: string; url?: string; ops_url?: string } = JSON.parse(line);
      if (entry.msg === 'ready') resolve({ url: entry.url ?? '', opsUrl: entry.ops_url ?? '' });
    });
    lines.on('close', () => reject(new Error('the service ended before it was ready')));
  });

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // npm exits before the service, which holds the output open until it has ended.
  const end = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  await end;
};
