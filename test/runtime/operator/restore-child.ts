import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { main } from '../../../src/runtime/commands/main.js';
import type { RestorePoint } from './restore-points.js';

const [from = '', point = ''] = process.argv.slice(2);

const dieAt = async (reached: RestorePoint): Promise<void> => {
  if (reached !== point) return;
  process.kill(process.pid, 'SIGKILL');
  for (;;) await pause(1_000);
};

const remove = fs.rm.bind(fs);
fs.rm = async (path, options) => {
  if (String(path).endsWith('/postgres.new')) await dieAt('the folder is marked');
  if (String(path).endsWith('/restoring')) await dieAt('the server has stopped');
  await remove(path, options);
};
const rename = fs.rename.bind(fs);
fs.rename = async (from, to) => {
  if (String(to).endsWith('/restoring')) await dieAt('the mark is being written');
  await rename(from, to);
};
const link = fs.link.bind(fs);
fs.link = async (from, to) => {
  if (String(to).endsWith('/master.key')) await dieAt('the copy of the key is being written');
  await link(from, to);
  if (String(to).endsWith('/master.key')) await dieAt('the copy of the key is in its place');
};
syncBuiltinESMExports();

const client = pg.Client.prototype as unknown as { query(...args: unknown[]): Promise<unknown> };
const query = client.query;
let hasRows = false;
client.query = async function (this: unknown, ...args: unknown[]) {
  const text = typeof args[0] === 'string' ? args[0] : '';
  if (text.startsWith('insert into schema_migrations')) await dieAt('the schema is being made');
  if (hasRows && text === 'commit') await dieAt('the rows are about to be committed');
  const answer = await query.apply(this, args);
  if (text.startsWith('insert into "event_log"')) {
    hasRows = true;
    await dieAt('rows are being loaded');
  }
  if (hasRows && text === 'commit') await dieAt('the rows are committed');
  return answer;
};

process.exitCode = await main(['restore', '--from', from], process.env);
