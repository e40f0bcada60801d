import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { roles } from '../../src/runtime/config/config.js';
import { startChild } from './child.js';
import { openClient, type PlainClient, postOf } from './plain-client.js';
import { below, type Row, seconds } from './report.js';
import { median } from './rounds.js';
import { type Ended, runProgram } from './run-program.js';
import { npmStart } from './serve.js';
import type { ServiceArgument, ServiceReady } from './service-process.js';

const ROUNDS = 5;
/** Of what takes seconds. */
const FEW = 3;
const AT_ONCE = 6;

/** The program from outside, as a person runs it: starts until ready, commands, and the demo (aims: test/bench/README.md). */
export const benchStart = async (): Promise<readonly Row[]> => {
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  await chmod(home, 0o711);
  const env = { DATA_DIR: join(home, 'data') };
  try {
    return [
      await helpRow('--version', env),
      await helpRow('--help', env),
      await demoRow(env),
      ...(await startRows(env)),
      ...(await withService(env, () => commandRows(env))),
      await firstPdfRow({ DATA_DIR: join(home, 'pdf') }),
    ];
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

type Env = Readonly<Record<string, string>>;

const HELP_AIM = { seconds: 0.25, megabytes: 70 };

const helpRow = async (flag: string, env: Env): Promise<Row> => {
  const runs = await repeated(() => runProgram([flag], env));
  const [wall, megabytes] = [median(runs.map((one) => one.wall)), median(runs.map((one) => one.megabytes))];
  const met = wall < HELP_AIM.seconds && megabytes < HELP_AIM.megabytes;
  return {
    name: `nfse ${flag}`,
    figure: `${seconds(wall)}, ${megabytes.toFixed(0)} MB`,
    aim: { ...below(HELP_AIM.seconds, wall, ` s, < ${HELP_AIM.megabytes} MB`), met },
    detail: processorOf(runs),
  };
};

const processorOf = (runs: readonly Ended[]): string => `${seconds(median(runs.map((one) => one.cpu)))} of processor`;

const demoRow = async (env: Env): Promise<Row> => {
  const runs = await repeated(() => runProgram(['demo'], env), FEW);
  const wall = median(runs.map((one) => one.wall));
  return { name: 'demo', figure: seconds(wall), aim: below(6, wall, ' s'), detail: 'on an empty folder, to its end' };
};

const startRows = async (env: Env): Promise<readonly Row[]> => {
  const firsts: number[] = [];
  for (let round = 0; round < FEW; round += 1)
    firsts.push(await startOnce({ ...env, DATA_DIR: `${env.DATA_DIR}-${round}` }));
  const first = median(firsts);
  const again = median(await repeated(() => startOnce(env)));
  const how = 'npm start, everything in one process, simulator included';
  const made = `${how}; makes database, keys and certificates`;
  return [
    { name: 'first start', figure: seconds(first), aim: below(4, first, ' s'), detail: made },
    { name: 'warm start', figure: seconds(again), aim: below(1.5, again, ' s'), detail: how },
  ];
};

const startOnce = async (env: Env): Promise<number> => {
  const { readySeconds, stop } = await npmStart(env);
  await stop();
  return readySeconds;
};

const withService = async <T>(env: Env, measure: () => Promise<T>): Promise<T> => {
  const { stop } = await npmStart(env);
  try {
    return await measure();
  } finally {
    await stop();
  }
};

const commandRows = async (env: Env): Promise<readonly Row[]> => {
  const list = (): Promise<Ended> => runProgram(['company', 'list'], env);
  const runs = await repeated(list);
  const wall = median(runs.map((one) => one.wall));
  const atOnce = median(
    await repeated(async () => {
      const begun = performance.now();
      await Promise.all(Array.from({ length: AT_ONCE }, list));
      return (performance.now() - begun) / 1_000;
    }, FEW),
  );
  const megabytes = median(runs.map((one) => one.megabytes)).toFixed(0);
  const detail = `beside a running service; ${processorOf(runs)}, ${megabytes} MB`;
  return [
    { name: 'nfse company list', figure: seconds(wall), aim: below(0.6, wall, ' s'), detail },
    {
      name: `${AT_ONCE} commands at once`,
      figure: seconds(atOnce),
      aim: below(4, atOnce, ' s'),
      detail: 'until the last has ended',
    },
  ];
};

/**
 * The first PDF after a start: of the first note that is issued then, and, for comparison, of an older note at the very moment of ready, when the
 * threads are still cold.
 */
const firstPdfRow = async (env: Env): Promise<Row> => {
  const issued = await issuedBefore(env, FEW);
  const ofNew = await repeated(
    () => withClient(env, issued.key, async (client) => pdfMs(client, await issue(client))),
    FEW,
  );
  const older = [...issued.paths];
  const cold = await repeated(() => withClient(env, issued.key, (client) => pdfMs(client, older.pop() ?? '')), FEW);
  const first = median(ofNew);
  return {
    name: 'first PDF after a start',
    figure: `${first.toFixed(0)} ms`,
    aim: below(300, first, ' ms'),
    detail: `of the first note issued after ready; of an older note, asked for at the moment of ready: ${median(cold).toFixed(0)} ms`,
  };
};

/** Starts the service, and stops it afterwards. */
const withClient = async <T>(env: Env, key: string, use: (client: PlainClient) => Promise<T>): Promise<T> => {
  const { url, stop } = await npmStart(env);
  const client = openClient(url, key, 1);
  try {
    return await use(client);
  } finally {
    client.close();
    await stop();
  }
};

const pdfMs = async ({ exchange }: PlainClient, path: string): Promise<number> => {
  const begun = performance.now();
  const { status } = await exchange(`${path}/pdf`);
  if (status !== 200) throw new Error(`a PDF was answered with ${status}`);
  return performance.now() - begun;
};

const LOOK_EVERY_MS = 25;

/** The path of a new invoice, once its note is issued. */
const issue = async ({ exchange }: PlainClient): Promise<string> => {
  const { body } = await exchange('/v1/nfse', postOf(0));
  const path = `/v1/nfse/${JSON.parse(body.toString()).id}`;
  while (JSON.parse((await exchange(path)).body.toString()).status !== 'issued') await pause(LOOK_EVERY_MS);
  return path;
};

/** Issues notes on an empty folder, and stops. */
const issuedBefore = async (env: Env, count: number): Promise<{ key: string; paths: readonly string[] }> => {
  const argument: ServiceArgument = { env: { ...env, PORT: '0', OPS_PORT: '0' }, roles };
  const { ready, stop } = await startChild<ServiceReady>('service-process.ts', argument);
  const client = openClient(ready.origin, ready.key, 1);
  const paths = await repeated(() => issue(client), count);
  client.close();
  await stop();
  return { key: ready.key, paths };
};

const repeated = async <T>(measure: () => Promise<T>, rounds = ROUNDS): Promise<readonly T[]> => {
  const results: T[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await measure());
  return results;
};
