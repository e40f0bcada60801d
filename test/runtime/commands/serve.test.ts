import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { serveCommand } from '../../../src/runtime/commands/serve.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { startService } from '../../../src/runtime/service.js';
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
