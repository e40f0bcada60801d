import { describe, expect, it } from 'vitest';
import { IssuingPaused } from '../../../src/ports/event-log.js';
import { requestOf, routes } from '../../support/fixture/routes.js';
import { createHarness, EngineDown } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

const SECRET = 'connect ECONNREFUSED 10.0.0.1 password=hunter2';

describe.each(routes)('$name: 500 and 503', (route) => {
  it('503 while the kill switch is on, before the credential', async () => {
    for (const key of ['none', 'test', 'revoked'] as const) {
      const harness = createHarness();
      harness.state.switchedOff = true;
      const response = await harness.call(route.path, { ...requestOf(route), key });
      const error = await expectRefusal(response, 503, 'service_unavailable');
      expect(error).toMatchObject({ type: 'api_error', retryable: true });
      expect(error).not.toHaveProperty('livemode');
      expect(commonHeadersOf(response)).toEqual({ 'retry-after': expect.stringMatching(/^[1-9]\d*$/) });
    }
  });

  it('503 when an engine is down: livemode, Retry-After, no rate headers', async () => {
    const harness = createHarness();
    harness.state.beforeUse = () => {
      throw new EngineDown(SECRET);
    };
    const response = await harness.call(route.path, requestOf(route));
    const error = await expectRefusal(response, 503, 'service_unavailable');
    expect(error).toMatchObject({ type: 'api_error', retryable: true, livemode: false });
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(commonHeadersOf(response)).toEqual({ 'retry-after': expect.stringMatching(/^[1-9]\d*$/) });
    expect(harness.faults).toHaveLength(1);
  });

  it('500 for anything unexpected, with nothing of it in the body', async () => {
    const harness = createHarness();
    harness.state.beforeUse = () => {
      throw new Error(SECRET);
    };
    const response = await harness.call(route.path, requestOf(route));
    const error = await expectRefusal(response, 500, 'internal_error');
    expect(error).toMatchObject({ type: 'api_error', retryable: true, livemode: false });
    expect(JSON.stringify(error)).not.toContain('hunter2');
    expect(commonHeadersOf(response)).toMatchObject({ 'ratelimit-reset': '60' });
    expect(harness.faults).toHaveLength(1);
  });

  it('is summed up without key, query string or body', async () => {
    const harness = createHarness();
    const response = await harness.call(route.path, requestOf(route));
    const [summary] = harness.summaries;
    expect(summary).toMatchObject({
      route: route.template,
      method: route.json === undefined ? 'GET' : 'POST',
      status: response.status,
      requestId: response.headers.get('request-id'),
    });
    expect(JSON.stringify(harness.summaries)).not.toMatch(/svc_sk|reference=|Desenvolvimento/);
  });
});

describe.each(routes.filter(({ json }) => json !== undefined))('$name: a pause of issuing', (route) => {
  it('that another process has recorded is answered as one that this process knows, and is no fault', async () => {
    const harness = createHarness();
    harness.state.switchedOff = true;
    const known = await harness.call(route.path, requestOf(route));
    harness.state.switchedOff = false;
    harness.state.beforeUse = () => {
      throw new IssuingPaused();
    };
    const response = await harness.call(route.path, requestOf(route));
    const sameCode = { ...(await expectRefusal(known, 503, 'service_unavailable')), request_id: expect.any(String) };
    expect(await expectRefusal(response, 503, 'service_unavailable')).toEqual(sameCode);
    expect(commonHeadersOf(response)).toEqual(commonHeadersOf(known));
    expect(harness.faults).toEqual([]);
  });
});

describe('503 and 500 before the key is known', () => {
  it('does not speak of a suspended service while this process does not know its guards', async () => {
    const unready = await createHarness({ apiState: async () => 'unready' }).call('/v1/activities');
    const suspended = await createHarness({ apiState: async () => 'suspended' }).call('/v1/activities');
    expect((await expectRefusal(unready, 503, 'service_unavailable')).message).not.toContain('suspenso');
    expect((await expectRefusal(suspended, 503, 'service_unavailable')).message).toContain('suspenso');
    expect(commonHeadersOf(unready)).toEqual(commonHeadersOf(suspended));
  });

  it.each([
    ['the switch cannot be read', { apiState: () => Promise.reject(new EngineDown(SECRET)) }, 503],
    ['keys cannot be read', { authenticate: () => Promise.reject(new EngineDown(SECRET)) }, 503],
    ['keys cannot be read for another reason', { authenticate: () => Promise.reject(new Error(SECRET)) }, 500],
  ])('%s', async (_what, overrides, status) => {
    const response = await createHarness(overrides).call('/v1/activities');
    const error = await expectRefusal(response, status, status === 503 ? 'service_unavailable' : 'internal_error');
    expect(error).not.toHaveProperty('livemode');
  });

  it('a failing log line changes no answer', async () => {
    const fail = (): never => {
      throw new Error(SECRET);
    };
    const harness = createHarness({ onRequest: fail });
    expect((await harness.call('/v1/activities')).status).toBe(200);
    expect(harness.faults).toHaveLength(1);
    const worse = createHarness({ onRequest: fail, onFault: fail });
    await expectRefusal(await worse.call('/v1/activities'), 500, 'internal_error');
  });

  it('the kill switch comes before the route, under /v1 only', async () => {
    const harness = createHarness();
    harness.state.switchedOff = true;
    await expectRefusal(await harness.call('/v1/nope'), 503, 'service_unavailable');
    await expectRefusal(await harness.call('/v1/nfse', { method: 'OPTIONS' }), 503, 'service_unavailable');
    await expectRefusal(await harness.call('/nope'), 404, 'route_not_found');
  });
});
