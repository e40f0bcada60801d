import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Arguments of Node that run the program: from its sources, or compiled. */
export type Program = readonly string[];

export type SampleService = {
  folder: string;
  /** What a reader's shell has: KEY, API, CONTROL, and how the program is run. */
  environment: Readonly<Record<string, string>>;
  opsUrl: string;
  /** Resolves when none of these invoices waits for an outcome or for the end of a cancellation. */
  settled(ids: Iterable<string>): Promise<void>;
  stop(): Promise<void>;
};

const WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;

/** `nfse serve` as `npm start` runs it, on free ports and in a folder of its own below `folder`. */
export const startSampleService = async (program: Program, folder: string): Promise<SampleService> => {
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  // As root the database runs as another user, who must be able to pass through.
  for (const passed of [folder, data]) await chmod(passed, 0o711);
  const settings = { DATA_DIR: data, PORT: '0', OPS_PORT: '0', LOOKUP_INTERVALS_S: '2,60,120,300,600' };
  const service = spawn(process.execPath, [...program, 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...settings },
  });
  let output = '';
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<void>((resolve) => service.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    service.kill('SIGTERM');
    await ended;
  };
  try {
    await until(
      'the service is ready',
      async () => /"msg":"ready"/.test(output) && /svc_sk_test_\S+/.test(output),
      () => output,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const ready = JSON.parse(/^\{.*"msg":"ready".*\}$/m.exec(output)?.[0] ?? '{}') as Record<string, string>;
  const [key = ''] = /svc_sk_test_\S+/.exec(output) ?? [];
  const { url: api = '', ops_url: opsUrl = '', simulator_control_url: control = '' } = ready;
  const environment = {
    ...settings,
    KEY: key,
    API: api,
    CONTROL: control,
    NFSE_NODE: process.execPath,
    NFSE_PROGRAM: program.join(' '),
  };
  const waits = async (id: string): Promise<boolean> => {
    const response = await fetch(`${api}/v1/nfse/${id}`, { headers: { authorization: `Bearer ${key}` } });
    const { status, cancellation } = (await response.json()) as { status: string; cancellation?: { status: string } };
    return /queued|processing/.test(status) || cancellation?.status === 'pending';
  };
  return {
    folder,
    environment,
    opsUrl,
    stop,
    settled: async (ids) => {
      for (const id of ids)
        await until(
          `${id} has an outcome`,
          async () => !(await waits(id)),
          () => output,
        );
    },
  };
};

const until = async (what: string, holds: () => Promise<boolean>, context: () => string): Promise<void> => {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}: ${context().slice(-2000)}`);
    await pause(LOOK_EVERY_MS);
  }
};

/** What `nfse demo` prints with these options. */
export const demoOutput = async (program: Program, options: readonly string[], folder: string): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...program, 'demo', ...options], {
    cwd: folder,
    env: { PATH: process.env.PATH },
  });
  // What a reader of the page would see beside the output.
  if (stderr !== '') throw new Error(`the demo complained: ${stderr}`);
  return stdout;
};
