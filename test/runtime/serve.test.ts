import { expect, it } from 'vitest';
import { serveCommand } from '../../src/runtime/commands/serve.js';

const serve = (role: string) =>
  serveCommand(() => {
    throw new Error('nothing may be started');
  }).run({
    positionals: [],
    flags: { role },
    actor: '',
    session: () => Promise.reject(new Error('nothing may be opened')),
  });

it.each(['issuer', 'relay', 'api,issuer', 'projector,relay'])(
  '--role %s is refused: the queue between relay and issuer is in one process',
  async (role) => {
    expect(await serve(role)).toMatchObject({ exit: 2, text: expect.stringContaining('relay and issuer') });
  },
);

it.each(['', 'all,api', 'worker', 'api,api'])('--role %j is no list of roles', async (role) => {
  expect(await serve(role)).toMatchObject({ exit: 2, text: expect.stringContaining('--role must be') });
});
