import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import type { Logger } from '../../src/runtime/config/logger.js';

/** Folder of everything that the run's services log; set by the run's set-up. */
export const RUN_LOGS = 'NFSE_RUN_LOGS';

/** The product's logger at its most talkative, into the folder of the run. */
export const runLogger = (): Logger => {
  const folder = process.env[RUN_LOGS];
  if (folder === undefined) throw new Error(`${RUN_LOGS} is not set`);
  const lines = destination({ dest: join(folder, `${process.pid}-${randomUUID()}.log`), sync: true });
  return pino({ level: 'trace', base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
};

/** The log lines of a process of the run, without the output that commands print for their user. */
export const keepLogLines = (output: string): void => {
  const folder = process.env[RUN_LOGS];
  const lines = output.split('\n').filter((line) => line.startsWith('{"level":'));
  if (folder === undefined || lines.length === 0) return;
  appendFileSync(join(folder, `${process.pid}-processes.log`), `${lines.join('\n')}\n`);
};

/** Names and texts of customers that tests send to services, and secrets of clients and operators. */
const PRIVATE: readonly RegExp[] = [
  /cliente/i,
  /servi[cç]o/i,
  /desenvolvimento/i,
  /svc_sk_(?:test|live)_\w{6,}/,
  /[?&]t=[\w.-]{8,}/,
  /-----BEGIN/,
  /\b11222333000181\b|\b11\.222\.333\/0001-81\b/,
  /(?<!\w)\d{11}(?!\w)|\b\d{3}\.\d{3}\.\d{3}-\d{2}\b/,
];

/** The first kind of private data in a text; undefined without any. */
export const privateIn = (text: string): RegExp | undefined => PRIVATE.find((pattern) => pattern.test(text));

/** Lines of the run's logs that contain private data; each begins with its file and line, and names the data. */
export const privateLines = async (folder: string): Promise<{ lines: number; found: readonly string[] }> => {
  let lines = 0;
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n').filter((text) => text !== '')) {
      lines += 1;
      const what = privateIn(line);
      if (what !== undefined) found.push(`${name}: ${what}: ${line.slice(0, 500)}`);
    }
  }
  return { lines, found };
};
