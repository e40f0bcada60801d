import { beforeEach, expect, it } from 'vitest';
import { readNext, sessionCookie } from '../../src/console/access.js';
import { T0 } from '../support/fixture/invoice.js';
import { type ConsoleHarness, consoleHarness, tokenOf } from '../support/harness/console.js';

const TOKEN = 'correct-horse-battery-staple';
const rules = { token: TOKEN, secret: () => Buffer.alloc(32, 7), hosts: [], defaultOperator: '' };

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness({ token: TOKEN });
});

const signIn = (token: string, from?: string, operator = 'maria') =>
  harness.send(
    '/console/sign-in',
    { operator, token },
    { page: '/console/sign-in', ...(from === undefined ? {} : { from }) },
  );

/** The address of the sign-in that goes on to a page. */
const signInTo = (next: string): string => `/console/sign-in?${new URLSearchParams({ next })}`;

const cookieOf = async (): Promise<string> => {
  const { headers } = await signIn(TOKEN);
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
};

it('lets nobody see or do anything without the token', async () => {
  expect((await harness.visit('/console')).headers.get('location')).toBe('/console/sign-in');
  for (const path of [harness.invoice, '/console/parked', '/console/nowhere']) {
    const { status, headers } = await harness.visit(path);
    expect([path, status, headers.get('location')]).toEqual([path, 303, signInTo(path)]);
  }
  for (const path of [
    '/console/parked/retry',
    '/console/search',
    `${harness.invoice}/settle`,
    `${harness.invoice}/reveal`,
  ]) {
    const fields = { stream: 'all', text: 'pedido-2', operator: 'eve', as: 'failed', evidence: 'x' };
    const { status, text } = await harness.send(path, fields, { page: '/console/sign-in' });
    expect([path, status]).toEqual([path, 401]);
    expect(text).not.toContain('pedido-1');
    const { status: foreign } = await harness.send(path, fields, { headers: { origin: 'https://evil.example' } });
    expect([path, foreign]).toEqual([path, 403]);
  }
  expect([harness.parked.length, harness.settled, await harness.onRecord()]).toEqual([1, [], []]);
  expect((await harness.visit('/console/style.css')).status).toBe(200);
});

it('opens with the token, by a cookie that no script and no other site can use', async () => {
  const { status, headers } = await signIn(TOKEN);
  expect([status, headers.get('location')]).toEqual([303, '/console']);
  expect(headers.get('set-cookie')).toMatch(
    /^nfse_console=[\w.-]+; Max-Age=43200; Path=\/console; HttpOnly; SameSite=Strict$/,
  );
  expect(headers.get('set-cookie')).not.toContain(TOKEN);
  const cookie = await cookieOf();
  expect((await harness.visit('/console', { headers: { cookie } })).text).toContain('Signed in as maria');
});

it('opens behind a proxy with TLS by a cookie that the browser sends over TLS alone', async () => {
  const fields = { operator: 'maria', token: TOKEN };
  const overTls = { host: 'localhost', origin: 'https://localhost' };
  const sent = { page: '/console/sign-in', headers: overTls };
  const { status, headers } = await harness.send('/console/sign-in', fields, sent);
  expect([status, headers.get('set-cookie')]).toEqual([
    303,
    expect.stringMatching(/^__Secure-nfse_console=.*; HttpOnly; Secure; SameSite=Strict$/),
  ]);
});

it('has a name of its own for the cookie of a sign-in over TLS: a browser takes no plain one of the same name', async () => {
  const plain = await cookieOf();
  const fields = { operator: 'joana', token: TOKEN };
  const overTls = { host: 'localhost', origin: 'https://localhost' };
  const sent = await harness.send('/console/sign-in', fields, { page: '/console/sign-in', headers: overTls });
  const [secure = ''] = (sent.headers.get('set-cookie') ?? '').split(';');
  const open = async (cookie: string) => (await harness.visit('/console', { headers: { cookie } })).text;
  expect(await open(plain)).toContain('Signed in as maria');
  expect(await open(secure)).toContain('Signed in as joana');
  expect(await open(`${plain}; ${secure}`)).toContain('Signed in as joana');
  expect(await open(`${plain}; __Secure-nfse_console=x`)).toContain('Signed in as maria');
  const { headers } = await harness.send('/console/sign-out', {}, { headers: { cookie: `${plain}; ${secure}` } });
  expect(headers.getSetCookie()).toEqual([
    '__Secure-nfse_console=; Max-Age=0; Path=/console; Secure',
    'nfse_console=; Max-Age=0; Path=/console',
  ]);
  for (const cookie of [plain, secure]) expect(await harness.elsewhere('/console', { cookie })).toBe(303);
  expect((await harness.accesses()).map(({ type, actor }) => [type, actor]).slice(2)).toEqual([
    ['ConsoleSignedOut', 'support:joana'],
    ['ConsoleSignedOut', 'support:maria'],
  ]);
});

it('acts in the name of whoever signed in, whatever a form says', async () => {
  const cookie = await cookieOf();
  await harness.send('/console/parked/retry', { stream: 'all', operator: 'eve' }, { headers: { cookie } });
  expect(await harness.onRecord()).toMatchObject([{ type: 'ParkedWorkRetried', actor: 'support:maria' }]);
});

it('wants a name as well', async () => {
  expect((await signIn(TOKEN, undefined, '<b>')).status).toBe(400);
});

it('takes five wrong tokens a minute from an address, then none, not even the right one', async () => {
  for (let n = 0; n < 5; n += 1) expect((await signIn('wrong')).status).toBe(401);
  const { status, headers } = await signIn(TOKEN);
  expect([status, headers.get('retry-after'), headers.get('set-cookie')]).toEqual([429, '60', null]);
  expect((await signIn(TOKEN, '10.0.0.2')).status).toBe(303);
  harness.clock.pass(60);
  expect((await signIn(TOKEN)).status).toBe(303);
});

it('asks again after 12 hours, and when the token or the secret is another', async () => {
  const open = async (cookie: string) => (await harness.visit('/console', { headers: { cookie } })).status;
  const cookie = await cookieOf();
  expect(await open(cookie)).toBe(200);
  expect(await open(`nfse_console=${sessionCookie('eve', 'a-session', T0, { ...rules, token: 'another' })}`)).toBe(303);
  expect(
    await open(
      `nfse_console=${sessionCookie('eve', 'a-session', T0, { ...rules, secret: () => Buffer.alloc(32, 8) })}`,
    ),
  ).toBe(303);
  expect(await open(cookie.replace(/=\w/, '=X'))).toBe(303);
  expect(await open(`${cookie}.x`)).toBe(303);
  harness.clock.pass(43_199);
  expect(await open(cookie)).toBe(200);
  harness.clock.pass(1);
  expect(await open(cookie)).toBe(303);
});

it('takes no form of another session', async () => {
  const cookie = await cookieOf();
  harness.clock.pass(1);
  const other = await cookieOf();
  const { text } = await harness.visit('/console', { headers: { cookie: other } });
  const form_token = /name="form_token" value="([\w-]+)"/.exec(text)?.[1] ?? '';
  const sent = await harness.send('/console/parked/retry', { stream: 'all', form_token }, { headers: { cookie } });
  expect(sent.status).toBe(403);
});

it('asks an operator whose session ended for a new sign-in, and gives back what was typed', async () => {
  const cookie = await cookieOf();
  const { text } = await harness.visit(harness.invoice, { headers: { cookie } });
  const form_token = tokenOf(text);
  const fields = { as: 'failed', evidence: 'Consulta "ao" <portal>', access_key: '3304', form_token };
  harness.clock.pass(43_200);
  for (const headers of [{ cookie }, {}] as const) {
    const late = await harness.send(`${harness.invoice}/settle`, fields, { headers });
    expect(late.status).toBe(401);
    expect(late.text).toContain('Your session is over: sign in again.');
    expect(late.text).toContain('readonly>Consulta &quot;ao&quot; &lt;portal&gt;</textarea>');
    expect(late.text).toContain('You chose to settle as <strong>failed</strong>');
    expect(late.text).toContain('name="access_key" value="3304" readonly');
    expect(late.text).not.toContain(form_token);
  }
  expect([harness.settled, (await harness.visit(harness.invoice)).status]).toEqual([[], 303]);
});

it('goes on to the page that was asked for, after a wrong token and a change of the language too', async () => {
  const wanted = '/console/invoices?status=failed&company=12345678000195';
  const { headers } = await harness.visit(`${wanted}&lang=en`);
  expect(headers.get('location')).toBe(signInTo(wanted));
  const hidden = 'name="next" value="/console/invoices?status=failed&amp;company=12345678000195"';
  expect((await harness.visit(signInTo(wanted))).text).toContain(hidden);
  const fields = { operator: 'maria', next: wanted, evidence: 'Portal <consultado>' };
  const page = '/console/sign-in';
  const wrong = await harness.send('/console/sign-in', Object.assign({ token: 'wrong' }, fields), { page });
  expect([wrong.status, wrong.text.includes(hidden)]).toEqual([401, true]);
  expect(wrong.text).toContain('readonly>Portal &lt;consultado&gt;</textarea>');
  const right = await harness.send('/console/sign-in', Object.assign({ token: TOKEN }, fields), { page });
  expect([right.status, right.headers.get('location')]).toEqual([303, wanted]);
  const typed = { text: '529.982.247-25', as: 'valid', token: 'wrong' };
  const again = (await harness.send('/console/sign-in', Object.assign(typed, fields), { page })).text;
  for (const kept of ['name="text" value="529.982.247-25"', 'name="as" value="valid"']) expect(again).toContain(kept);
  const late = await harness.send(`${harness.invoice}/settle`, {}, { page });
  expect(late.text).toContain(`name="next" value="${harness.invoice}"`);
  const cookie = await cookieOf();
  expect((await harness.visit(signInTo(wanted), { headers: { cookie } })).headers.get('location')).toBe(wanted);
});

it.each([
  '',
  '//evil.example',
  'https://evil.example/console/',
  'javascript:alert(1)',
  '/\\evil.example',
  '/console',
  '/consolex',
  '/console//evil.example',
  '/console/\\evil.example',
  '/console/..//evil.example',
  '/console/../health/ready',
  '/console/%2e%2e/v1/nfse',
  '/console/\t/evil.example',
  '/console/parked\r\nset-cookie: a=b',
  ' /console/parked',
  'parked',
])('goes on to the overview, not to "%s"', async (next) => {
  expect(readNext(next)).toBeUndefined();
  const page = await harness.visit(signInTo(next));
  expect([page.status, page.text.includes('name="next"')]).toEqual([200, false]);
  const wrong = await harness.send('/console/sign-in', { operator: 'maria', token: 'x', next }, { page: signInTo('') });
  expect(wrong.text).not.toContain('name="next"');
  const fields = { operator: 'maria', token: TOKEN, next };
  const { status, headers } = await harness.send('/console/sign-in', fields, { page: '/console/sign-in' });
  expect([status, headers.get('location')]).toEqual([303, '/console']);
});

it('answers a wrong token with one page, whatever name was typed, so that no name is a guess of the token', async () => {
  const pages = [];
  for (const name of ['maria.silva@example.com', `x${TOKEN}`, '<b>']) {
    const { status, text } = await signIn('wrong', undefined, name);
    pages.push([status, text.replaceAll(/name="form_token" value="[^"]*"/g, '')]);
  }
  const [first, ...others] = pages;
  expect(first).toEqual([401, expect.not.stringContaining('maria')]);
  expect(others).toEqual([first, first]);
  expect((await signIn(TOKEN, undefined, TOKEN)).text).not.toContain(TOKEN);
});

it('gives back what was typed into a page from before the last sign-in, with a link to that page', async () => {
  const [before, cookie] = [await cookieOf(), await cookieOf()];
  const form_token = tokenOf((await harness.visit(harness.invoice, { headers: { cookie: before } })).text);
  harness.clock.pass(1);
  const fields = { as: 'failed', evidence: 'Portal <consultado>', other_sales: '"3304', form_token };
  const { status, text } = await harness.send(`${harness.invoice}/settle`, fields, { headers: { cookie } });
  expect([status, harness.settled]).toEqual([403, []]);
  expect(text).toContain('readonly>Portal &lt;consultado&gt;</textarea>');
  expect(text).toContain('name="other_sales" value="&quot;3304" readonly');
  expect(text).toContain(`<a href="${harness.invoice}">Open the page again</a>`);
});

it('ends the session at the sign-out: a copied cookie opens nothing any more, in no process and after a start', async () => {
  const [cookie, another] = [await cookieOf(), await cookieOf()];
  expect([
    await harness.elsewhere('/console', { cookie }),
    await harness.elsewhere('/console', { cookie: another }),
  ]).toEqual([200, 200]);
  const { headers } = await harness.send('/console/sign-out', {}, { headers: { cookie } });
  expect(headers.get('set-cookie')).toContain('nfse_console=; Max-Age=0');
  expect((await harness.visit('/console', { headers: { cookie } })).status).toBe(303);
  const sent = await harness.send(
    '/console/parked/retry',
    { stream: 'all' },
    { headers: { cookie }, page: '/console/sign-in' },
  );
  expect([sent.status, harness.parked.length]).toEqual([401, 1]);
  expect(await harness.elsewhere('/console', { cookie })).toBe(303);
  expect(await harness.elsewhere('/console', { cookie: another })).toBe(200);
});

it('puts on record who came in, who was refused and who left, from where, and never a token', async () => {
  const cookie = await cookieOf();
  await signIn('this-is-not-the-token', '10.0.0.9', 'eve');
  harness.clock.pass(60);
  await harness.send('/console/sign-out', {}, { headers: { cookie } });
  const accesses = await harness.accesses();
  expect(accesses).toMatchObject([
    { type: 'ConsoleSignedIn', actor: 'support:maria', data: { peer: '10.0.0.1', at: T0 } },
    { type: 'ConsoleSignInRefused', actor: 'support:console', data: { operator: 'eve', peer: '10.0.0.9' } },
    { type: 'ConsoleSignedOut', actor: 'support:maria', data: { peer: '10.0.0.1' } },
  ]);
  const [first, , last] = accesses.map(({ data }) => (data as { session?: string }).session);
  expect([first, cookie.includes(first ?? '-')]).toEqual([last, true]);
  for (const secret of [TOKEN, 'this-is-not-the-token', cookie.split('.').at(-1) ?? '-'])
    expect(JSON.stringify(accesses)).not.toContain(secret);
});

it('takes no token for a name, and lets nobody in whom the log cannot record', async () => {
  expect((await signIn(TOKEN, undefined, TOKEN)).status).toBe(400);
  expect(await harness.accesses()).toEqual([]);
  harness.store.append = () => Promise.reject(new Error('the log is down'));
  const { status, headers } = await signIn(TOKEN);
  expect([status, headers.get('set-cookie')]).toEqual([503, null]);
});

it('takes twenty wrong tokens a minute from all addresses together, and neither compares nor records more', async () => {
  for (let n = 0; n < 20; n += 1) expect((await signIn('wrong', `10.0.1.${n}`)).status).toBe(401);
  const { status, headers } = await signIn(TOKEN, '10.0.2.1');
  expect([status, headers.get('retry-after')]).toEqual([429, '60']);
  expect(await harness.accesses()).toHaveLength(20);
  harness.clock.pass(60);
  expect((await signIn(TOKEN, '10.0.2.1')).status).toBe(303);
});

it('counts a wrong token under whatever name, and records no name that holds the token', async () => {
  for (const name of ['<b>', '', `x${TOKEN}`, TOKEN, 'eve'])
    expect((await signIn('wrong', undefined, name)).status).toBe(401);
  expect((await signIn(TOKEN)).status).toBe(429);
  expect((await harness.accesses()).map(({ data }) => data)).toMatchObject([
    ...Array.from({ length: 4 }, () => ({ operator: '' })),
    { operator: 'eve' },
  ]);
});

it('has no sign-in and sets no cookie where no token is demanded', async () => {
  const open = await consoleHarness();
  expect((await open.visit('/console/sign-in')).status).toBe(404);
  expect((await open.visit('/console')).headers.get('set-cookie')).toBeNull();
});

it('keeps an address that signed in lately open, however many others try', async () => {
  expect((await signIn(TOKEN, '10.0.2.1')).status).toBe(303);
  for (let n = 0; n < 20; n += 1) expect((await signIn('wrong', `10.0.1.${n}`)).status).toBe(401);
  expect((await signIn(TOKEN, '10.0.2.2')).status).toBe(429);
  expect((await signIn(TOKEN, '10.0.2.1')).status).toBe(303);
  for (let n = 0; n < 5; n += 1) expect((await signIn('wrong', '10.0.2.1')).status).toBe(401);
  expect((await signIn(TOKEN, '10.0.2.1')).status).toBe(429);
});
