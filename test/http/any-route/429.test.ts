import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { requestOf, routes } from '../../support/fixture/routes.js';
import { createHarness } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

const rate = (remaining: number, reset: number, extra = {}): object => ({
  'ratelimit-limit': '3',
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
  ...extra,
});

describe('429 rate_limit_exceeded', () => {
  it.each(routes)('on "$name", with the key’s livemode', async (route) => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    await call(route.path, { ...requestOf(route), key: 'live' });
    const response = await call(route.path, { ...requestOf(route), key: 'live' });
    const error = await expectRefusal(response, 429, 'rate_limit_exceeded');
    expect(error).toMatchObject({ type: 'rate_limit_error', retryable: true, livemode: true });
    expect(response.headers.get('retry-after')).toBe('60');
  });

  it('the window slides: reset with the newest hit, the next slot with the oldest', async () => {
    const { call, pass } = createHarness({ rateLimits: { write: 60, read: 3 } });
    const read = async (): Promise<[number, object]> => {
      const response = await call('/v1/activities');
      return [response.status, commonHeadersOf(response)];
    };
    expect(await read()).toEqual([200, rate(2, 60)]);
    pass(10);
    expect(await read()).toEqual([200, rate(1, 60)]);
    pass(20);
    expect(await read()).toEqual([200, rate(0, 60)]);
    pass(0.5);
    expect(await read()).toEqual([429, rate(0, 60, { 'retry-after': '30' })]);
    pass(29.4);
    expect(await read()).toEqual([429, rate(0, 31, { 'retry-after': '1' })]);
    pass(0.1);
    expect(await read()).toEqual([200, rate(0, 60)]);
    pass(60);
    expect(await read()).toEqual([200, rate(2, 60)]);
  });

  it('whatever the pauses: never more than the limit in 60 s, and what the headers promise holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 40 }), async (pausesMs) => {
        const { call, pass } = createHarness({ rateLimits: { write: 60, read: 3 } });
        const hits: number[] = [];
        let nowMs = 0;
        for (const pauseMs of pausesMs) {
          nowMs += pauseMs;
          pass(pauseMs / 1000);
          const { status, headers } = await call('/v1/activities');
          const taken = hits.filter((at) => nowMs - at < 60_000);
          expect(status).toBe(taken.length < 3 ? 200 : 429);
          if (status === 200) taken.push(nowMs);
          hits.splice(0, hits.length, ...taken);
          expect(headers.get('ratelimit-remaining')).toBe(String(3 - taken.length));
          expect(headers.get('ratelimit-reset')).toBe(String(Math.ceil((Math.max(...taken) + 60_000 - nowMs) / 1000)));
          const retryAfter = String(Math.ceil((Math.min(...taken) + 60_000 - nowMs) / 1000));
          expect(headers.get('retry-after')).toBe(status === 429 ? retryAfter : null);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('60 writes and 300 reads, each in its own bucket', async () => {
    const { call } = createHarness();
    const statuses = { write: new Map<number, number>(), read: new Map<number, number>() };
    const count = (bucket: Map<number, number>, { status }: Response): unknown =>
      bucket.set(status, (bucket.get(status) ?? 0) + 1);
    for (let n = 0; n < 61; n += 1)
      count(statuses.write, await call('/v1/nfse', { json: issueBodyOf({ amount_in_cents: 100 + n }) }));
    for (let n = 0; n < 301; n += 1) count(statuses.read, await call('/v1/activities'));
    expect([...statuses.write]).toEqual([
      [202, 60],
      [429, 1],
    ]);
    expect([...statuses.read]).toEqual([
      [200, 300],
      [429, 1],
    ]);
  });

  it('is per key', async () => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    await call('/v1/activities');
    expect((await call('/v1/activities', { key: 'live' })).status).toBe(200);
  });

  it('comes before media type and body, and refusals of those spend', async () => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    const bad = { raw: '{', headers: { 'content-type': 'text/plain' } };
    await expectRefusal(await call('/v1/nfse', bad), 415, 'unsupported_media_type');
    await expectRefusal(await call('/v1/nfse', bad), 429, 'rate_limit_exceeded');
  });

  it('401 and 403 spend nothing', async () => {
    const { call } = createHarness({ rateLimits: { write: 1, read: 1 } });
    for (let n = 0; n < 3; n += 1) {
      expect((await call('/v1/nfse', { key: 'readOnly', json: {} })).status).toBe(403);
      expect((await call('/v1/activities', { key: 'disabled' })).status).toBe(403);
    }
    expect((await call('/v1/activities', { key: 'readOnly' })).status).toBe(200);
  });

  it('survives a clock that is set back', async () => {
    const { call, pass } = createHarness({ rateLimits: { write: 1, read: 1 } });
    await call('/v1/activities');
    pass(-3600);
    const response = await call('/v1/activities');
    expect(commonHeadersOf(response)).toMatchObject({ 'ratelimit-reset': '60', 'retry-after': '60' });
  });
});
