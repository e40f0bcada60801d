import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import pg from 'pg';
import { main } from '../../../src/runtime/commands/main.js';

const client = pg.Client.prototype as unknown as { query(...args: unknown[]): unknown };
const query = client.query;

const textOf = (asked: unknown): string =>
  typeof asked === 'object' && asked !== null && 'text' in asked ? String(asked.text) : String(asked);

const [out = ''] = process.argv.slice(-1);

/** From the moment on at which the draft of the export is there, the log does not answer. */
client.query = function (this: unknown, ...args: unknown[]) {
  const isSilent = textOf(args[0]).includes('event_log') && readdirSync(dirname(out)).length > 0;
  return isSilent ? new Promise(() => undefined) : query.apply(this, args);
};

process.exitCode = await main(process.argv.slice(2), process.env);
