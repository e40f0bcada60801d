import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** `wall` and `cpu` in seconds; `megabytes`: the most memory that the process held. */
export type Ended = { wall: number; cpu: number; megabytes: number };

/**
 * Writes what the process used to descriptor 3 at its end. Its `maxRSS` begins with the memory of the process that forked it; Linux knows the
 * memory of the program alone.
 */
const REPORT = `data:text/javascript,${encodeURIComponent(`
import { readFileSync, writeSync } from 'node:fs';
const ownKilobytes = () => {
  try {
    return Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
};
process.on('exit', () => writeSync(3, JSON.stringify({ ...process.resourceUsage(), maxRSS: ownKilobytes() })));
`)}`;

/** Runs `nfse` with these arguments and variables until it ends; rejects when it fails. */
export const runProgram = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> => {
  const begun = performance.now();
  const child = spawn(process.execPath, ['--import', REPORT, 'src/launch/nfse.mjs', ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const report = child.stdio[3];
  if (!(report instanceof Readable)) throw new Error('the process has no descriptor 3');
  const [used, [code]] = await Promise.all([text(report), once(child, 'exit')]);
  if (code !== 0) throw new Error(`nfse ${args.join(' ')} ended with ${code}`);
  const wall = (performance.now() - begun) / 1_000;
  const { userCPUTime, systemCPUTime, maxRSS }: NodeJS.ResourceUsage = JSON.parse(used);
  return { wall, cpu: (userCPUTime + systemCPUTime) / 1_000_000, megabytes: maxRSS / 1_024 };
};
