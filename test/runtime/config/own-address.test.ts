import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listen } from '../../../src/http/server.js';
import { startupFault } from '../../../src/runtime/commands/startup-fault.js';
import { atOwnAddress } from '../../../src/runtime/config/own-address.js';
import { runProgram } from '../../support/harness/processes.js';

const faultOn = async (host: string, port = 0) => {
  const listening = listen({ fetch: () => new Response('') }, { host, port });
  return startupFault(await atOwnAddress('HOST', host, listening).catch((error: unknown) => error));
};

it.each([
  ['a name that nothing knows', 'nosuch.invalid'],
  ['an address of another machine', '203.0.113.7'],
])('a host that is %s is told by its variable, and not as a fault of the database', async (_what, host) => {
  expect(await faultOn(host)).toEqual({
    exit: 2,
    line: expect.stringMatching(/^HOST \S+ is no address of this machine \(E[A-Z_]+\): choose another one$/),
  });
});

it('a port in use is told as before', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  expect(await faultOn('127.0.0.1', port)).toMatchObject({ exit: 2, line: expect.stringContaining(`port ${port} is`) });
  await new Promise<void>((resolve) => holder.close(() => resolve()));
});

it('a database under a name that nothing knows is told as before', () => {
  const lookup = Object.assign(new Error('x'), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'db.invalid' });
  expect(startupFault(lookup)).toMatchObject({
    exit: 3,
    line: expect.stringMatching(/^the database cannot be reached/),
  });
});

it('a command in a folder that was deleted says so in one line', async () => {
  const within = ['sh', '-c', 'gone=$(mktemp -d) && cd "$gone" && rmdir "$gone" && exec "$@"', 'sh'];
  const program = runProgram(['src/main.ts', 'company', 'list'], {}, within);
  expect(await program.ended).toMatchObject({ code: 2 });
  expect(program.complaint().trim()).toMatch(/^the folder in which this command runs is gone: /);
});
