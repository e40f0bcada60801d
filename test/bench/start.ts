import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { below, type Row, seconds } from './report.js';
import { median } from './rounds.js';
import { type Ended, runProgram } from './run-program.js';
import { npmStart } from './serve.js';

const ROUNDS = 5;
/** Of what takes seconds. */
const FEW = 3;
const AT_ONCE = 6;

/** The program from outside, as a person runs it: starts until ready, commands, and the demo (aims: docs/development.md#bench). */
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

const repeated = async <T>(measure: () => Promise<T>, rounds = ROUNDS): Promise<readonly T[]> => {
  const results: T[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await measure());
  return results;
};
