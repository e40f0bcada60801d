import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  attempted,
  BASE_URL,
  canceled,
  createHarness,
  type Harness,
  issuedInvoice,
  queuedInvoice,
  rejected,
} from '../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../support/harness/http-answers.js';

export type Format = { extension: 'pdf' | 'xml'; contentType: string; bytes: Buffer };

/** The path of a fresh link, as a client would open it. */
const linkOf = async (
  harness: Harness,
  id: string,
  { extension }: Format,
  key: 'test' | 'live' = 'test',
): Promise<string> => {
  const body = (await (await harness.call(`/v1/nfse/${id}`, { key })).json()) as {
    links: Record<'pdf' | 'xml', string>;
  };
  return body.links[extension].replace(BASE_URL, '');
};

/** PDF and XML share their availability rules; so do their tests. */
export const downloadTests = (format: Format): void => {
  const { extension, contentType, bytes } = format;
  const expectFile = async (response: Response, id: string): Promise<void> => {
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': contentType,
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="${id}.${extension}"`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'none',
      'request-id': expect.stringMatching(/^req_/),
    });
  };

  describe(`GET /v1/nfse/{id}/${extension} 200`, () => {
    it('with the key: bytes, headers and quota', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const response = await harness.call(`/v1/nfse/${id}/${extension}`);
      await expectFile(response, id);
      expect(commonHeadersOf(response)).toEqual({
        'ratelimit-limit': '300',
        'ratelimit-remaining': '299',
        'ratelimit-reset': '60',
      });
    });

    it('ignores a range, and takes the bare UUID', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const path = `/v1/nfse/${id.replace('nfse_', '').toUpperCase()}/${extension}`;
      await expectFile(await harness.call(path, { headers: { range: 'bytes=0-1' } }), id);
    });

    it('with the token alone: no quota, no rate headers', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      const response = await harness.call(link, { key: 'none' });
      await expectFile(response, id);
      expect(commonHeadersOf(response)).toEqual({});
      const next = await harness.call(`/v1/nfse/${id}`);
      expect(next.headers.get('ratelimit-remaining')).toBe('298');
    });

    it.each(['revoked', 'otherCompany', 'writeOnly', 'live'] as const)(
      'a good token beside the key "%s"',
      async (key) => {
        const harness = createHarness();
        const id = await issuedInvoice(harness);
        await expectFile(await harness.call(await linkOf(harness, id, format), { key }), id);
      },
    );

    it.each(['otherCompany', 'live'] as const)(
      'a good token beside the key "%s", which spends and shows no quota',
      async (key) => {
        const harness = createHarness();
        const id = await issuedInvoice(harness);
        const link = await linkOf(harness, id, format);
        expect(commonHeadersOf(await harness.call(link, { key }))).toEqual({});
        const next = await harness.call('/v1/activities', { key });
        expect(next.headers.get('ratelimit-remaining')).toBe('299');
      },
    );

    it('a good token beside a key of the same company and mode spends and shows its quota', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const response = await harness.call(await linkOf(harness, id, format));
      expect(response.headers.get('ratelimit-remaining')).toBe('298');
    });

    it('a good key beside a bad token', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      await expectFile(await harness.call(`/v1/nfse/${id}/${extension}?t=bad`), id);
    });

    it('a good token beside a key over its limit', async () => {
      const harness = createHarness({ rateLimits: { write: 60, read: 1 } });
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      const response = await harness.call(link);
      await expectFile(response, id);
      expect(commonHeadersOf(response)).toEqual({});
    });

    it('canceled in live mode', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness, 'live');
      await harness.call(`/v1/nfse/${id}/cancel`, { key: 'live', json: {} });
      await harness.record(id, [canceled()], 'live');
      await expectFile(await harness.call(await linkOf(harness, id, format, 'live'), { key: 'none' }), id);
    });

    it('HEAD has the headers and no body', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const response = await harness.call(`/v1/nfse/${id}/${extension}`, { method: 'HEAD' });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(await response.text()).toBe('');
    });
  });

  describe(`GET /v1/nfse/{id}/${extension} refusals`, () => {
    it('400 invalid_id, with a key', async () => {
      await expectRefusal(await createHarness().call(`/v1/nfse/x/${extension}`), 400, 'invalid_id');
    });

    it.each(['', '?t=', '?t=bad', '?t=a.b.c'])('401 without a key: %s', async (query) => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const response = await harness.call(`/v1/nfse/${id}/${extension}${query}`, { key: 'none' });
      expect(await expectRefusal(response, 401, 'unauthorized')).not.toHaveProperty('livemode');
    });

    it('401 for the token of another invoice, and for an expired token', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      const elsewhere = link.replace(id, `nfse_${randomUUID()}`);
      await expectRefusal(await harness.call(elsewhere, { key: 'none' }), 401, 'unauthorized');
      harness.pass(899);
      expect((await harness.call(link, { key: 'none' })).status).toBe(200);
      harness.pass(1);
      const over = await expectRefusal(await harness.call(link, { key: 'none' }), 401, 'unauthorized');
      expect(over.message).toContain('Este link de download venceu');
    });

    it('403 while the company is disabled, by token too', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      harness.company.enabled = false;
      const error = await expectRefusal(await harness.call(link, { key: 'none' }), 403, 'feature_not_enabled');
      expect(error).not.toHaveProperty('livemode');
    });

    it.each(['otherCompany', 'live'] as const)(
      '403 while the company of the token is disabled, beside the good key "%s"',
      async (key) => {
        const harness = createHarness();
        const id = await issuedInvoice(harness);
        const link = await linkOf(harness, id, format);
        harness.company.enabled = false;
        await expectRefusal(await harness.call(link, { key }), 403, 'feature_not_enabled');
      },
    );

    it('429 by token alone once the links of the invoice were opened 60 times in a minute, and for it only', async () => {
      const harness = createHarness();
      const another = await issuedInvoice(harness);
      harness.pass(61);
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      const otherFormat = link.replace(`/${extension}?`, extension === 'pdf' ? '/xml?' : '/pdf?');
      for (let opened = 0; opened < 30; opened += 1) {
        await expectFile(await harness.call(link, { key: 'none' }), id);
        expect((await harness.call(otherFormat, { key: 'otherCompany' })).status).toBe(200);
        harness.pass(1);
      }
      const response = await harness.call(link, { key: 'none' });
      expect(await expectRefusal(response, 429, 'rate_limit_exceeded')).toMatchObject({
        retryable: true,
        livemode: false,
        message: expect.stringContaining('links de download desta nota'),
      });
      expect(commonHeadersOf(response)).toEqual({ 'retry-after': '30' });
      await expectFile(await harness.call(`/v1/nfse/${id}/${extension}`), id);
      await expectFile(await harness.call(await linkOf(harness, another, format), { key: 'none' }), another);
      harness.pass(30);
      await expectFile(await harness.call(link, { key: 'none' }), id);
    });

    it('429 by token alone after a fifth of the reads of a key, where an operator has raised them', async () => {
      const harness = createHarness({ rateLimits: { write: 60, read: 400 } });
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      const statuses: number[] = [];
      for (let opened = 0; opened <= 80; opened += 1) statuses.push((await harness.call(link, { key: 'none' })).status);
      expect(statuses).toEqual([...Array<number>(80).fill(200), 429]);
    });

    it('403 insufficient_scope', async () => {
      await expectRefusal(
        await createHarness().call(`/v1/nfse/${randomUUID()}/${extension}`, { key: 'writeOnly' }),
        403,
        'insufficient_scope',
      );
    });

    it('404 for the other mode', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      await expectRefusal(await harness.call(`/v1/nfse/${id}/${extension}`, { key: 'live' }), 404, 'not_found');
    });

    it('404 by token after the invoice’s life, with its livemode and no rate headers', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      harness.pass(604_799);
      const link = await linkOf(harness, id, format);
      harness.pass(1);
      const response = await harness.call(link, { key: 'none' });
      expect((await expectRefusal(response, 404, 'not_found')).livemode).toBe(false);
      expect(commonHeadersOf(response)).toEqual({});
    });

    it('404 by token beside a live key, with the livemode of the test invoice', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      harness.pass(604_799);
      const link = await linkOf(harness, id, format);
      harness.pass(1);
      const error = await expectRefusal(await harness.call(link, { key: 'live' }), 404, 'not_found');
      expect(error.livemode).toBe(false);
    });

    it('409 nfse.not_issued is repeatable while the outcome is to come', async () => {
      const harness = createHarness();
      const id = await queuedInvoice(harness);
      for (const step of [[], [attempted()]]) {
        await harness.record(id, step);
        const response = await harness.call(`/v1/nfse/${id}/${extension}`);
        const error = await expectRefusal(response, 409, 'nfse.not_issued');
        expect(error).toMatchObject({ retryable: true, message: expect.stringContaining('Retry-After') });
        expect(response.headers.get('retry-after')).toBe('3');
      }
    });

    it('409 nfse.not_issued of a rejected invoice names the authorizer’s code', async () => {
      const harness = createHarness();
      const id = await queuedInvoice(harness);
      await harness.record(id, [attempted(), rejected()]);
      const response = await harness.call(`/v1/nfse/${id}/${extension}`);
      const error = await expectRefusal(response, 409, 'nfse.not_issued');
      expect(error).toMatchObject({ retryable: false, provider_code: 'E0120' });
      expect(error.message).toContain('Veja o motivo em error');
      expect(response.headers.get('retry-after')).toBeNull();
    });

    it('409 nfse.not_issued of a canceled test invoice, by a link from before', async () => {
      const harness = createHarness();
      const id = await issuedInvoice(harness);
      const link = await linkOf(harness, id, format);
      await harness.call(`/v1/nfse/${id}/cancel`, { json: {} });
      await harness.record(id, [canceled()]);
      const error = await expectRefusal(await harness.call(link, { key: 'none' }), 409, 'nfse.not_issued');
      expect(error).toMatchObject({
        retryable: false,
        livemode: false,
        message: expect.stringContaining('está cancelada'),
      });
    });
  });
};
