import { beforeEach, expect, it } from 'vitest';
import { sessionCookie } from '../../src/console/access/session.js';
import { T0 } from '../domain/invoice/fixtures.js';
import { type ConsoleWorld, consoleWorld } from './world.js';

const TOKEN = 'correct-horse-battery-staple';
const rules = { token: TOKEN, secret: () => Buffer.alloc(32, 7), hosts: [], defaultOperator: '' };

let world: ConsoleWorld;
beforeEach(async () => {
  world = await consoleWorld({ token: TOKEN });
});

const signIn = (token: string, from?: string, operator = 'maria') =>
  world.send(
    '/console/sign-in',
    { operator, token },
    { page: '/console/sign-in', ...(from === undefined ? {} : { from }) },
  );

const cookieOf = async (): Promise<string> => {
  const { headers } = await signIn(TOKEN);
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
};

it('lets nobody see or do anything without the token', async () => {
  for (const path of ['/console', world.invoice, '/console/parked', '/console/nowhere']) {
    const { status, headers } = await world.visit(path);
    expect([path, status, headers.get('location')]).toEqual([path, 303, '/console/sign-in']);
  }
  for (const path of [
    '/console/parked/retry',
    '/console/search',
    `${world.invoice}/settle`,
    `${world.invoice}/reveal`,
  ]) {
    const fields = { stream: 'all', text: 'pedido-1', operator: 'eve', as: 'failed', evidence: 'x' };
    const { status, text } = await world.send(path, fields, { page: '/console/sign-in' });
    expect([path, status]).toEqual([path, 401]);
    expect(text).not.toContain('pedido-1');
  }
  expect([world.parked.length, world.settled, await world.onRecord()]).toEqual([1, [], []]);
  expect((await world.visit('/console/style.css')).status).toBe(200);
});

it('opens with the token, by a cookie that no script and no other site can use', async () => {
  const { status, headers } = await signIn(TOKEN);
  expect([status, headers.get('location')]).toEqual([303, '/console']);
  expect(headers.get('set-cookie')).toMatch(
    /^nfse_console=[\w.-]+; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/,
  );
  expect(headers.get('set-cookie')).not.toContain(TOKEN);
  const cookie = await cookieOf();
  expect((await world.visit('/console', { headers: { cookie } })).text).toContain('Signed in as maria');
});

it('acts in the name of whoever signed in, whatever a form says', async () => {
  const cookie = await cookieOf();
  await world.send('/console/parked/retry', { stream: 'all', operator: 'eve' }, { headers: { cookie } });
  expect(await world.onRecord()).toMatchObject([{ type: 'ParkedWorkRetried', actor: 'support:maria' }]);
});

it('wants a name as well', async () => {
  expect((await signIn(TOKEN, undefined, '<b>')).status).toBe(400);
});

it('takes five wrong tokens a minute from an address, then none, not even the right one', async () => {
  for (let n = 0; n < 5; n += 1) expect((await signIn('wrong')).status).toBe(401);
  const { status, headers } = await signIn(TOKEN);
  expect([status, headers.get('retry-after'), headers.get('set-cookie')]).toEqual([429, '60', null]);
  expect((await signIn(TOKEN, '10.0.0.2')).status).toBe(303);
  world.clock.pass(60);
  expect((await signIn(TOKEN)).status).toBe(303);
});

it('asks again after 12 hours, and when the token or the secret is another', async () => {
  const open = async (cookie: string) => (await world.visit('/console', { headers: { cookie } })).status;
  const cookie = await cookieOf();
  expect(await open(cookie)).toBe(200);
  expect(await open(`nfse_console=${sessionCookie('eve', T0, { ...rules, token: 'another' })}`)).toBe(303);
  expect(await open(`nfse_console=${sessionCookie('eve', T0, { ...rules, secret: () => Buffer.alloc(32, 8) })}`)).toBe(
    303,
  );
  expect(await open(cookie.replace(/=\w/, '=X'))).toBe(303);
  expect(await open(`${cookie}.x`)).toBe(303);
  world.clock.pass(43_199);
  expect(await open(cookie)).toBe(200);
  world.clock.pass(1);
  expect(await open(cookie)).toBe(303);
});

it('takes no form of another session', async () => {
  const cookie = await cookieOf();
  world.clock.pass(1);
  const other = await cookieOf();
  const { text } = await world.visit('/console', { headers: { cookie: other } });
  const form_token = /name="form_token" value="([\w-]+)"/.exec(text)?.[1] ?? '';
  const sent = await world.send('/console/parked/retry', { stream: 'all', form_token }, { headers: { cookie } });
  expect(sent.status).toBe(403);
});

it('forgets the cookie at the sign-out', async () => {
  const cookie = await cookieOf();
  const { headers } = await world.send('/console/sign-out', {}, { headers: { cookie } });
  expect(headers.get('set-cookie')).toContain('nfse_console=; Max-Age=0');
});

it('has no sign-in and sets no cookie where no token is demanded', async () => {
  const open = await consoleWorld();
  expect((await open.visit('/console/sign-in')).status).toBe(404);
  expect((await open.visit('/console')).headers.get('set-cookie')).toBeNull();
});
