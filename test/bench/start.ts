import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { below, type Row, seconds } from './report.js';
import { median } from './rounds.js';

const WARM_STARTS = 3;
const PATIENCE_MS = 60_000;

/** `nfse serve` from the command until it is ready, first on an empty folder, then on warm data (aim: docs/development.md#bench). */
export const benchStart = async (): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  await chmod(home, 0o711);
  try {
    const first = await startOnce(home);
    const warm: number[] = [];
    for (let round = 0; round < WARM_STARTS; round += 1) warm.push(await startOnce(home));
    const again = median(warm);
    const sources = 'everything in one process, simulator included';
    return [
      { name: 'first start', figure: seconds(first), detail: `${sources}; makes database, keys and certificates` },
      { name: 'warm start', figure: seconds(again), aim: below(2, again, ' s'), detail: sources },
    ];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

/** Seconds from the spawn to 200 of `/health/ready`. */
const startOnce = async (home: string): Promise<number> => {
  const begun = performance.now();
  const child = spawn(process.execPath, ['src/launch/nfse.mjs', 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', OPS_PORT: '0', DATA_DIR: join(home, 'data') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const opsUrl = await readyLine(child);
    while (!(await fetch(`${opsUrl}/health/ready`)).ok) {
      if (performance.now() - begun > PATIENCE_MS) throw new Error('the service did not become ready');
      await pause(10);
    }
    return (performance.now() - begun) / 1_000;
  } finally {
    await ended(child);
  }
};

const readyLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('the service has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const entry: { msg?: string; ops_url?: string } = JSON.parse(line);
    if (entry.msg === 'ready' && entry.ops_url !== undefined) return entry.ops_url;
  }
  throw new Error('the service ended before it was ready');
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('exit', resolve));
  // Unread output would fill the pipe and block the service.
  child.stdout?.resume();
  child.kill('SIGTERM');
  await end;
};
