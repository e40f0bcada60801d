import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { processIdentity } from '../../../src/adapters/embedded-postgres/server-processes.js';
import { createRunner, type Runner } from '../../../src/runtime/engines/runner.js';
import {
  forkSimulator,
  type SimulatorProcess,
  type SimulatorSettings,
} from '../../../src/runtime/engines/simulator-process.js';
import { FolderInUse } from '../../../src/simulator/options.js';
import { giveIdentity } from '../../support/fixture/simulator-identity.js';
import { waitFor } from '../../support/harness/careful-client.js';
import { startProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const WITHIN_MS = 120_000;

let folder: string;
const runners: Runner[] = [];
const lines: { msg: string; pid?: number; signal?: string }[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  await giveIdentity(folder);
  lines.length = 0;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const runner of runners.splice(0)) await runner.stop();
});

const settings = (): SimulatorSettings => ({ folder, port: 0, controlPort: 0 });

const fork = (): { runner: Runner; simulator: SimulatorProcess } => {
  const runner = createRunner(() => undefined);
  runners.push(runner);
  const output = new PassThrough().on('data', (line: Buffer) => lines.push(JSON.parse(line.toString())));
  return { runner, simulator: forkSimulator(pino({ level: 'debug', base: null }, output), runner) };
};

const statusOf = async (controlUrl: string): Promise<number | undefined> =>
  await fetch(`${controlUrl}/_control/calls`).then(
    ({ status }) => status,
    () => undefined,
  );

/** Of the process that was started as the first, second, and so on. */
const pidOf = (count: number): Promise<number> =>
  waitFor('a process', WITHIN_MS, async () => lines.flatMap(({ pid }) => pid ?? [])[count - 1]);

describe('the simulator in a process of its own', () => {
  it('answers until the service stops', async () => {
    const { runner, simulator } = fork();
    const { controlUrl, caPem } = await simulator.open(settings());
    expect(caPem).toContain('BEGIN CERTIFICATE');
    expect(await statusOf(controlUrl)).toBe(200);
    await runner.stop();
    expect(await statusOf(controlUrl)).toBeUndefined();
  });

  it('is started again with the same addresses when it dies', async () => {
    const { simulator } = fork();
    const { controlUrl } = await simulator.open(settings());
    process.kill(await pidOf(1), 'SIGKILL');
    await pidOf(2);
    expect(await statusOf(controlUrl)).toBe(200);
    expect(lines.find(({ msg }) => msg === 'the simulator ended and is started again')).toMatchObject({
      signal: 'SIGKILL',
    });
  });

  it('says which folder of TMPDIR cannot be made, which the lock of a long path needs', async () => {
    folder = join(folder, 'x'.repeat(100));
    mkdirSync(folder);
    await giveIdentity(folder);
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    const { simulator } = fork();
    const fault: unknown = await simulator.open(settings()).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'ENOENT',
      syscall: 'mkdtemp',
      path: expect.stringContaining('/missing/nfse-sim-'),
    });
    expect(fault).not.toHaveProperty('port');
  });

  it('ends when it was never opened', async () => {
    const { runner } = fork();
    await runner.stop();
    expect(lines).toEqual([]);
  });

  it('ends when the service stops during its start', async () => {
    const { runner, simulator } = fork();
    const opening = simulator.open(settings()).catch((error: unknown) => error);
    await runner.stop();
    expect(await opening).toMatchObject({ message: 'the process of the simulator ended during its start' });
  });

  it('is killed when the service stops and the process is frozen', async () => {
    const { runner, simulator } = fork();
    await simulator.open(settings());
    const pid = await pidOf(1);
    process.kill(pid, 'SIGSTOP');
    await runner.stop();
    expect(processIdentity(pid)).toBeUndefined();
  });

  it('answers until the service stops, also where its process cannot be named in the folder', async () => {
    mkdirSync(join(folder, 'process.json'));
    const { runner, simulator } = fork();
    const { controlUrl } = await simulator.open(settings());
    expect(await statusOf(controlUrl)).toBe(200);
    expect(lines.map(({ msg }) => msg)).toContain('the process of the simulator cannot be named in its folder');
    await runner.stop();
    expect(await statusOf(controlUrl)).toBeUndefined();
  });

  it('rejects as a simulator in this process would: for a folder in use', { timeout: WITHIN_MS }, async () => {
    await fork().simulator.open(settings());
    await expect(fork().simulator.open(settings())).rejects.toThrow(
      new FolderInUse(
        `another simulator is running on ${folder}: stop it, or give this one another DATA_DIR (process ${await pidOf(1)})`,
      ),
    );
  });

  it('rejects as a simulator in this process would: for a port in use', async () => {
    const { controlUrl } = await fork().simulator.open(settings());
    const port = Number(new URL(controlUrl).port);
    const other = temporaryFolder();
    await expect(fork().simulator.open({ folder: other, port: 0, controlPort: port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      port,
    });
  });

  it('ends with a service that is killed, and leaves the folder free', { timeout: 2 * WITHIN_MS }, async () => {
    // As root the database runs as another user, who must be able to pass through.
    chmodSync(folder, 0o711);
    const env = { DATA_DIR: join(folder, 'data'), PORT: '0', OPS_PORT: '0', SIMULATOR_PORT: '0' };
    const killed = await startProgram<{ simulator_control_url: string }>(['src/main.ts', 'serve'], env);
    expect(await statusOf(killed.ready.simulator_control_url)).toBe(200);
    await killed.kill();
    await waitFor('the end of the simulator', WITHIN_MS, async () =>
      (await statusOf(killed.ready.simulator_control_url)) === undefined ? true : undefined,
    );
    const next = await startProgram<{ simulator_control_url: string }>(['src/main.ts', 'serve'], env);
    expect(await statusOf(next.ready.simulator_control_url)).toBe(200);
    expect(await next.stop()).toEqual({ code: 0, signal: null });
  });

  it('is ended by the next start when it is frozen and its service was killed', {
    timeout: 2 * WITHIN_MS,
  }, async () => {
    chmodSync(folder, 0o711);
    const env = { DATA_DIR: join(folder, 'data'), PORT: '0', OPS_PORT: '0', SIMULATOR_PORT: '0' };
    const killed = await startProgram<{ simulator_control_url: string }>(['src/main.ts', 'serve'], env);
    const { simulator } = JSON.parse(readFileSync(join(folder, 'data', 'simulator', 'process.json'), 'utf8'));
    process.kill(simulator.pid, 'SIGSTOP');
    // The frozen process keeps the output of the service open, so the end is awaited after the next start.
    const ended = killed.kill();
    const next = await startProgram<{ simulator_control_url: string }>(['src/main.ts', 'serve'], env);
    expect(await statusOf(next.ready.simulator_control_url)).toBe(200);
    expect(processIdentity(simulator.pid)).toBeUndefined();
    await ended;
    expect(await next.stop()).toEqual({ code: 0, signal: null });
  });
});
