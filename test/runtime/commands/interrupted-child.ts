import pg from 'pg';
import { main } from '../../../src/runtime/commands/main.js';

const client = pg.Client.prototype as unknown as { query(...args: unknown[]): unknown };
const query = client.query;

const textOf = (asked: unknown): string =>
  typeof asked === 'object' && asked !== null && 'text' in asked ? String(asked.text) : String(asked);

/** From the moment on at which the command listens for signals, the log does not answer. */
client.query = function (this: unknown, ...args: unknown[]) {
  const isSilent = process.listenerCount('SIGINT') > 0 && textOf(args[0]).includes('event_log');
  return isSilent ? new Promise(() => undefined) : query.apply(this, args);
};

process.exitCode = await main(process.argv.slice(2), process.env);
