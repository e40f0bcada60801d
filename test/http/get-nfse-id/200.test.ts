import { describe, expect, it } from 'vitest';
import {
  ACCESS_KEY,
  attempted,
  canceled,
  createHarness,
  issuedInvoice,
  queuedInvoice,
  rejected,
  START,
} from '../../support/harness/http.js';
import { commonHeadersOf } from '../../support/harness/http-answers.js';

const bodyOf = async (response: Response): Promise<Record<string, unknown>> => {
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
};

describe('GET /v1/nfse/{id} 200', () => {
  it('agrees with the 202', async () => {
    const { call } = createHarness();
    const issued = await call('/v1/nfse', { json: { amount_in_cents: 100, description: 'x' } });
    const accepted = (await issued.json()) as { id: string };
    const response = await call(`/v1/nfse/${accepted.id}`);
    expect(await bodyOf(response)).toEqual(accepted);
    expect(commonHeadersOf(response)).toEqual({
      'ratelimit-limit': '300',
      'ratelimit-remaining': '299',
      'ratelimit-reset': '60',
    });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('takes the bare UUID and any case of it, and answers in lower case', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    const bare = id.replace('nfse_', '');
    for (const form of [bare, bare.toUpperCase(), `nfse_${bare.toUpperCase()}`]) {
      expect(await bodyOf(await harness.call(`/v1/nfse/${form}`))).toMatchObject({ id });
    }
  });

  it('processing shows neither key nor links', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    await harness.record(id, [attempted()]);
    const body = await bodyOf(await harness.call(`/v1/nfse/${id}`));
    expect(body.status).toBe('processing');
    expect(body).not.toHaveProperty('links');
    expect(body).not.toHaveProperty('access_key');
  });

  it('issued has key, window and fresh links', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const first = await bodyOf(await harness.call(`/v1/nfse/${id}`));
    expect(first).toMatchObject({
      status: 'issued',
      access_key: ACCESS_KEY,
      issued_at: START,
      cancelable_until: '2026-12-01T02:59:59.000Z',
      links: {
        pdf: expect.stringMatching(new RegExp(`^https://nfse\\.example/v1/nfse/${id}/pdf\\?t=[^&]+$`)),
        xml: expect.stringMatching(new RegExp(`^https://nfse\\.example/v1/nfse/${id}/xml\\?t=[^&]+$`)),
      },
    });
    expect(Object.keys(first).at(-1)).toBe('links');
    harness.pass(1);
    expect((await bodyOf(await harness.call(`/v1/nfse/${id}`))).links).not.toEqual(first.links);
  });

  it('a proxy’s headers never change the links', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const headers = { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const { links } = await bodyOf(await harness.call(`/v1/nfse/${id}`, { headers }));
    expect(JSON.stringify(links)).not.toContain('evil');
  });

  it('failed has its error and no links', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    await harness.record(id, [attempted(), rejected()]);
    const body = await bodyOf(await harness.call(`/v1/nfse/${id}`));
    expect(body).toMatchObject({ status: 'failed', failed_attempts: 1, error: { code: 'issue_failed' } });
    expect(body).not.toHaveProperty('links');
  });

  it.each([
    ['test', false],
    ['live', true],
  ] as const)('canceled in %s mode: links %s', async (mode, hasLinks) => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, mode);
    await harness.call(`/v1/nfse/${id}/cancel`, { key: mode, json: {} });
    await harness.record(id, [canceled()], mode);
    const body = await bodyOf(await harness.call(`/v1/nfse/${id}`, { key: mode }));
    expect(body).toMatchObject({ status: 'canceled', access_key: ACCESS_KEY, cancellation: { status: 'succeeded' } });
    expect('links' in body).toBe(hasLinks);
  });

  it('serves the last second of a test invoice', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    harness.pass(604_799);
    expect((await harness.call(`/v1/nfse/${id}`)).status).toBe(200);
    harness.pass(1);
    expect((await harness.call(`/v1/nfse/${id}`)).status).toBe(404);
  });
});
