import { describe, expect, it } from 'vitest';
import type { Mode } from '../../src/domain/common/ids.js';
import { invoiceIn, type StateName } from '../support/fixture/invoice-states.js';
import { BASE_URL, createHarness, type Harness } from '../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../support/harness/http-answers.js';
import type { Format } from './download.js';

/** What a download answers in each state: the file, or `nfse.not_issued`, repeatable or not. */
const answers: readonly [StateName, Mode, 'file' | 'repeatable' | 'final'][] = (['test', 'live'] as const).flatMap(
  (mode) => [
    ['queued', mode, 'repeatable'],
    ['processing', mode, 'repeatable'],
    ['issued', mode, 'file'],
    ['pending cancellation', mode, 'file'],
    ['failed cancellation', mode, 'file'],
    ['canceled', mode, mode === 'live' ? 'file' : 'final'],
    ['rejected', mode, 'final'],
    ['not processed', mode, 'final'],
    ['indeterminate', mode, 'final'],
  ],
);

/** PDF and XML are available in the same states, and their answers forbid caching. */
export const downloadStateTests = ({ extension, contentType, bytes }: Format): void => {
  const pathOf = (id: string): string => `/v1/nfse/${id}/${extension}`;

  const link = async ({ call }: Harness, id: string): Promise<string> => {
    const { links } = (await (await call(`/v1/nfse/${id}`)).json()) as { links: Record<string, string> };
    return links[extension]?.replace(BASE_URL, '') ?? '';
  };

  describe(`GET /v1/nfse/{id}/${extension} by state`, () => {
    it.each(answers)('%s in %s mode: %s', async (state, mode, expected) => {
      const harness = createHarness();
      const id = await invoiceIn(harness, state, mode);
      const response = await harness.call(pathOf(id), { key: mode });
      expect(response.headers.get('retry-after')).toBe(expected === 'repeatable' ? '3' : null);
      if (expected === 'file') {
        expect(response.status).toBe(200);
        expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
        return;
      }
      const error = await expectRefusal(response, 409, 'nfse.not_issued');
      expect(error).toMatchObject({ retryable: expected === 'repeatable', livemode: mode === 'live' });
      expect(error.provider_code).toBe(state === 'rejected' ? 'E0120' : undefined);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('content-disposition')).toBeNull();
    });
  });

  describe(`GET /v1/nfse/{id}/${extension}: ranges`, () => {
    it.each([
      { range: 'bytes=0-1' },
      { range: 'bytes=-1' },
      { range: 'bytes=0-0,2-3' },
      { range: 'bytes=999999-' },
      { range: 'lines=1-2' },
      { range: 'bytes=0-1', 'if-range': '"x"' },
      { 'if-none-match': '*' },
      { 'if-modified-since': 'Sat, 21 Nov 2099 12:00:00 GMT' },
    ])('%j: the whole file, and no promise of parts', async (headers) => {
      const harness = createHarness();
      const response = await harness.call(pathOf(await invoiceIn(harness, 'issued')), { headers });
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
      expect(response.headers.get('accept-ranges')).toBe('none');
      for (const absent of ['content-range', 'etag', 'last-modified']) expect(response.headers.has(absent)).toBe(false);
    });
  });

  describe(`HEAD /v1/nfse/{id}/${extension}`, () => {
    it('has every header of the GET and no body, and spends the same quota', async () => {
      const harness = createHarness();
      const id = await invoiceIn(harness, 'issued');
      const headersBy = async (method: string): Promise<object> => {
        const response = await harness.call(pathOf(id), { method });
        expect((await response.text()) === '').toBe(method === 'HEAD');
        const { 'request-id': _id, 'ratelimit-remaining': _left, ...headers } = Object.fromEntries(response.headers);
        return headers;
      };
      const byGet = await headersBy('GET');
      expect(await headersBy('HEAD')).toEqual(byGet);
      expect(byGet).toMatchObject({
        'content-type': contentType,
        'content-length': String(bytes.length),
        'content-disposition': `attachment; filename="${id}.${extension}"`,
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      });
      const next = await harness.call(pathOf(id));
      expect(next.headers.get('ratelimit-remaining')).toBe('297');
    });

    it('by the token alone, and refusals without a body', async () => {
      const harness = createHarness();
      const id = await invoiceIn(harness, 'issued');
      const open = await harness.call(await link(harness, id), { method: 'HEAD', key: 'none' });
      expect({ status: open.status, common: commonHeadersOf(open) }).toEqual({ status: 200, common: {} });
      for (const [path, key, status] of [
        [pathOf(id), 'none', 401],
        [pathOf(id), 'live', 404],
        [pathOf('x'), 'test', 400],
      ] as const) {
        const response = await harness.call(path, { method: 'HEAD', key });
        expect({ status: response.status, body: await response.text() }).toEqual({ status, body: '' });
      }
    });
  });

  describe(`GET /v1/nfse/{id}/${extension}: the token`, () => {
    it('opens for 15 minutes to the second', async () => {
      const harness = createHarness();
      const path = await link(harness, await invoiceIn(harness, 'issued'));
      const at = async (now: string): Promise<number> => {
        harness.state.now = now;
        return (await harness.call(path, { key: 'none' })).status;
      };
      expect(await at('2026-11-21T12:00:00.000Z')).toBe(200);
      expect(await at('2026-11-21T12:14:59.000Z')).toBe(200);
      expect(await at('2026-11-21T12:14:59.999Z')).toBe(200);
      expect(await at('2026-11-21T12:15:00.000Z')).toBe(401);
      expect(await at('2026-11-22T12:00:00.000Z')).toBe(401);
    });

    it('opens nothing else: not the invoice, not its cancel, not another invoice, not the other mode', async () => {
      const harness = createHarness();
      const id = await invoiceIn(harness, 'issued');
      const [, query = ''] = (await link(harness, id)).split('?');
      harness.pass(61);
      const other = await invoiceIn(harness, 'issued');
      const live = await invoiceIn(harness, 'issued', 'live');
      for (const path of [`/v1/nfse/${id}?${query}`, `${pathOf(other)}?${query}`, `${pathOf(live)}?${query}`])
        await expectRefusal(await harness.call(path, { key: 'none' }), 401, 'unauthorized');
      const cancel = await harness.call(`/v1/nfse/${id}/cancel?${query}`, { key: 'none', json: {} });
      await expectRefusal(cancel, 401, 'unauthorized');
    });

    it('opens the other format and any form of the id, and no letter of it may change', async () => {
      const harness = createHarness();
      const id = await invoiceIn(harness, 'issued');
      const path = await link(harness, id);
      const [, token = ''] = path.split('?t=');
      const bare = id.replace('nfse_', '').toUpperCase();
      const status = async (at: string): Promise<number> => (await harness.call(at, { key: 'none' })).status;
      for (const other of ['pdf', 'xml']) expect(await status(`/v1/nfse/${bare}/${other}?t=${token}`)).toBe(200);
      for (let index = 0; index < token.length - 1; index += 1) {
        const letter = token[index] === 'A' ? 'B' : 'A';
        const changed = `${token.slice(0, index)}${letter}${token.slice(index + 1)}`;
        expect(await status(`${pathOf(id)}?t=${changed}`), changed).toBe(401);
      }
    });
  });
};
