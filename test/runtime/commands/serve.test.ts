import { randomBytes } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveCommand } from '../../../src/runtime/commands/serve.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { startService } from '../../../src/runtime/service.js';
import { runProgram } from '../../support/harness/processes.js';
import { runLogger } from '../../support/run-logs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The configuration by default: nothing of it may be used to start anything. */
const serve = (role: string, env: NodeJS.ProcessEnv = {}) =>
  serveCommand(() => {
    const parsed = readConfig(env);
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    return { ...parsed.config, databaseUrl: 'postgres://nothing.invalid/started' };
  }).run({
    positionals: [],
    flags: { role },
    actor: '',
    session: () => Promise.reject(new Error('nothing may be opened')),
    terminal: { out: () => undefined, err: () => undefined },
  });

it.each(['issuer', 'relay', 'api,issuer', 'projector,relay'])(
  '--role %s is refused without NATS_URL: the queue between relay and issuer is in one process',
  async (role) => {
    expect(await serve(role)).toMatchObject({ exit: 2, text: expect.stringContaining('relay and issuer') });
  },
);

it('refuses one port for the public API and for operations, but not in a role without the API', async () => {
  const ports = { PORT: '4300', OPS_PORT: '4300' };
  expect(await serve('all', ports)).toMatchObject({ exit: 2, text: 'PORT and OPS_PORT name the same port' });
  expect(await serve('issuer', ports)).toMatchObject({ exit: 2, text: expect.stringContaining('relay and issuer') });
});

it('refuses an ANCHOR_DIR that takes no file with exit 2, before anything is opened', async () => {
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, '');
  const parsed = readConfig({ ANCHOR_DIR: file });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const config = { ...parsed.config, databaseUrl: 'postgres://nothing.invalid/started' };
  const options = { config, clock: systemClock, logger: runLogger() };
  const fault = await startService({ ...options, roles: ['sweeper'] }).catch(startupFault);
  expect(fault).toEqual({
    exit: 2,
    line: `ANCHOR_DIR ${file} takes no file (ENOTDIR): name a folder that the service may make and write`,
  });
});

it.each(['', 'all,api', 'worker', 'api,api'])('--role %j is no list of roles', async (role) => {
  expect(await serve(role)).toMatchObject({ exit: 2, text: expect.stringContaining('--role must be') });
});

const KEY = randomBytes(32).toString('base64');

const withKeyFile = async (text: string, mode: number) => {
  const folder = temporaryFolder();
  const MASTER_KEY_FILE = join(folder, 'kept.key');
  if (text !== '') await writeFile(MASTER_KEY_FILE, text, { mode });
  return { DATA_DIR: join(folder, 'data'), MASTER_KEY_FILE, PORT: '0', OPS_PORT: '0' };
};

const AWAY = 'postgres://a:b@127.0.0.1:1/c';

it.each([
  { what: 'holds no key', text: 'short', mode: 0o600, why: 'must hold 32 bytes in base64' },
  { what: 'may be read by others', text: KEY, mode: 0o644, why: 'set its mode to 0600' },
  { what: 'is missing', text: '', mode: 0o600, why: 'is missing: restore your copy' },
  { what: 'is missing, the server too', text: '', mode: 0o600, why: '--generation m1 makes it', DATABASE_URL: AWAY },
  { what: 'holds no key, with no server', text: 'short', mode: 0o600, why: 'in base64', DATABASE_URL: AWAY },
])('refuses a MASTER_KEY_FILE that $what before anything starts', async ({ text, mode, why, DATABASE_URL }) => {
  const env = await withKeyFile(text, mode);
  const program = runProgram(['src/main.ts', 'serve'], DATABASE_URL === undefined ? env : { ...env, DATABASE_URL });
  expect(await program.ended).toMatchObject({ code: 2 });
  const { stdout, stderr } = program.output();
  expect(stderr.split('\n')).toEqual([
    'The configuration cannot be used:',
    expect.stringMatching(/^ {2}MASTER_KEY_FILE.* /),
    '',
  ]);
  expect([stderr, stdout]).toEqual([expect.stringContaining(why), '']);
  expect(await readdir(join(env.DATA_DIR, '..'))).toEqual(text === '' ? [] : ['kept.key']);
});

it('names a bad MASTER_KEY_FILE beside the other wrong variables, and takes a good one', async () => {
  const bad = { ...(await withKeyFile('short', 0o600)), PORT: 'x' };
  const wrong = [expect.stringMatching(/^PORT /), expect.stringMatching(/^MASTER_KEY_FILE: /)];
  expect(readConfig(bad, { keyMustBeUsable: true })).toEqual({ problems: wrong });
  expect(readConfig(await withKeyFile(KEY, 0o600), { keyMustBeUsable: true })).toHaveProperty('config');
  expect(readConfig({ DATA_DIR: temporaryFolder() }, { keyMustBeUsable: true })).toHaveProperty('config');
});
