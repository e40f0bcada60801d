import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { SCRIPT_SOURCE } from '../../src/console/script.js';
import { type ConsoleHarness, consoleHarness, HOST } from '../support/harness/console.js';

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness({ hosts: ['support.example'] });
});

it('forbids other scripts, frames, other addresses and keeping, on every answer', async () => {
  const answers = [
    await harness.visit('/console'),
    await harness.visit(harness.invoice),
    await harness.visit('/console/style.css'),
    await harness.visit('/console/nowhere'),
    await harness.visit('/console', { headers: { host: 'evil.example' } }),
    await harness.visit('/console', { method: 'DELETE' }),
    await harness.send('/console/parked/retry', { stream: 'x' }, { headers: { origin: 'https://evil.example' } }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 421, 405, 403]);
  for (const { headers } of answers) {
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'self'; script-src ${SCRIPT_SOURCE}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

it('lets one script run, which is in the page with the digest that the header names', async () => {
  const page = await harness.app.request('/console', { headers: { host: HOST } });
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(await page.text()) ?? [];
  const digest = createHash('sha256').update(script).digest('base64');
  expect(page.headers.get('content-security-policy')).toContain(`script-src 'sha256-${digest}';`);
});

it('has no style and no other script inside of a page, and names no other address', async () => {
  for (const path of ['/console', harness.invoice, '/console/parked', '/console/projections']) {
    const { text } = await harness.visit(path);
    expect(text).not.toMatch(/<script|<style|\sstyle=|\son\w+=|https?:\/\//i);
  }
});

describe('the Host', () => {
  it.each([HOST, 'localhost', 'LOCALHOST:81', '[::1]:3001', '127.0.0.2', 'support.example:8443'])(
    'may be %s',
    async (host) => {
      expect((await harness.visit('/console', { headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '127.0.0.1@evil',
    '',
    '10.0.0.1',
    '127.999.1.1',
    '127.0.0.256',
    '127.1',
  ])('may not be "%s", which a page of another site could be made to send', async (host) => {
    const { status, text } = await harness.visit('/console', { headers: { host } });
    expect([status, text]).toEqual([421, expect.not.stringContaining('form_token')]);
  });
});

describe('a form', () => {
  const retry = (headers: Record<string, string>) =>
    harness.send('/console/parked/retry', { stream: 'all', operator: 'ana' }, { headers });

  it('is taken from a page of the console', async () => {
    expect((await retry({})).status).toBe(303);
  });

  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:9999' }],
    ['nowhere', { origin: 'null' }],
    ['another site that hides its origin', { origin: `http://${HOST}`, 'sec-fetch-site': 'cross-site' }],
    ['another program of the same site', { origin: `http://${HOST}`, 'sec-fetch-site': 'same-site' }],
  ])('is refused from %s, and does nothing', async (_from, headers) => {
    expect((await retry(headers)).status).toBe(403);
    expect(harness.parked).toHaveLength(1);
    expect(await harness.onRecord()).toEqual([]);
  });

  it.each(['', 'x', 'A'.repeat(43)])('is refused with the form token "%s"', async (form_token) => {
    const fields = { stream: 'all', operator: 'ana', form_token };
    expect((await harness.send('/console/parked/retry', fields)).status).toBe(403);
    expect(harness.parked).toHaveLength(1);
  });

  it('that breaks off does nothing, and is no fault for the log', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('aborted')) });
    const headers = { host: HOST, 'content-length': '99', 'content-type': 'application/x-www-form-urlencoded' };
    const init = { method: 'POST', body, duplex: 'half' as const, headers };
    const incoming = { socket: { remoteAddress: '10.0.0.1' } };
    const response = await harness.app.request('/console/parked/retry', init, { incoming });
    expect([response.status, harness.faults, harness.parked.length]).toEqual([403, [], 1]);
  });

  it('may be sent over midnight, and not a day later', async () => {
    const { text } = await harness.visit('/console');
    const form_token = /value="([\w-]{43})"/.exec(text)?.[1] ?? '';
    const search = { text: 'pedido-2', form_token };
    harness.clock.pass(86_400);
    expect((await harness.send('/console/search', search)).status).toBe(200);
    harness.clock.pass(86_400);
    expect((await harness.send('/console/search', search)).status).toBe(403);
  });

  it.each([
    [413, { 'content-length': '16385' }],
    [411, { 'content-length': 'many' }],
    [415, { 'content-type': 'text/plain' }],
    [415, { 'content-type': 'multipart/form-data; boundary=x' }],
  ])('answers %i to %j', async (status, headers) => {
    expect((await retry(headers)).status).toBe(status);
    expect(harness.parked).toHaveLength(1);
  });
});

it('shows no more than that something failed, and tells the log', async () => {
  harness.answers.broken = true;
  const { status, text } = await harness.visit('/console');
  expect([status, text]).toEqual([503, expect.not.stringContaining('hunter2')]);
  expect(harness.faults).toHaveLength(1);
});
