import { describe, expect, it } from 'vitest';
import type { Authenticated } from '../../../src/http/deps.js';
import { DEMO_CNPJ, issueBodyOf } from '../../support/fixture/demo.js';
import { type CallOptions, createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const MAX = 10_485_760;

/** A service with one key, whose properties the test sets, and a limit of one write in 60 seconds. */
const oneKey = (who: Partial<Authenticated>) => {
  const state = { who: who as Partial<Authenticated> | undefined };
  const known: Authenticated = {
    keyId: 'key',
    companyId: DEMO_CNPJ,
    mode: 'test',
    scopes: ['nfse:write'],
    revoked: false,
    companyEnabled: true,
  };
  const authenticate = async (): Promise<Authenticated | undefined> =>
    state.who === undefined ? undefined : { ...known, ...state.who };
  return Object.assign(createHarness({ authenticate, rateLimits: { write: 1, read: 1 } }), { auth: state });
};

describe('of several faults the first in this order is answered (HTTP-ORDER)', () => {
  it('switch, route, credential, feature, scope, rate, headers, media type, size, JSON, shape, rule', async () => {
    const harness = oneKey({ companyEnabled: false, scopes: [], revoked: true });
    const { state, auth, pass } = harness;
    /** A request with all faults that the steps below have not removed yet. */
    let path = '/v1/nope';
    let options: CallOptions = {
      method: 'POST',
      raw: '[',
      headers: { 'content-type': 'text/plain', 'content-length': String(MAX + 1), 'idempotency-key': 'a b' },
    };
    const refusal = async (status: number, code: string, livemode: boolean): Promise<void> => {
      const response = await harness.call(path, options);
      const error = await expectRefusal(response, status, code);
      expect('livemode' in error).toBe(livemode);
      expect(response.headers.has('ratelimit-limit')).toBe(livemode);
    };
    const without = (name: string): void => {
      const { [name]: _gone, ...headers } = options.headers ?? {};
      options = { ...options, headers };
    };

    state.switchedOff = true;
    await refusal(503, 'service_unavailable', false);
    state.switchedOff = false;
    await refusal(404, 'route_not_found', false);
    path = '/v1/nfse';
    await refusal(401, 'unauthorized', false);
    auth.who = { companyEnabled: false, scopes: [] };
    await refusal(403, 'feature_not_enabled', false);
    auth.who = { scopes: ['nfse:read'] };
    await refusal(403, 'insufficient_scope', false);
    auth.who = {};
    await refusal(400, 'invalid_request', true);
    await refusal(429, 'rate_limit_exceeded', true);
    pass(60);
    without('idempotency-key');
    await refusal(415, 'unsupported_media_type', true);
    pass(60);
    without('content-type');
    await refusal(413, 'payload_too_large', true);
    pass(60);
    without('content-length');
    await refusal(400, 'malformed_json', true);
    pass(60);
    options = { json: { ...issueBodyOf({ cnae: '9999999' }), nope: 1 } };
    await refusal(400, 'invalid_request', true);
    pass(60);
    options = { json: issueBodyOf({ cnae: '9999999' }) };
    await refusal(422, 'nfse.cnae_not_allowed', true);
    pass(60);
    expect((await harness.call(path, { json: issueBodyOf() })).status).toBe(202);
  });

  it('rate before an id that is none, and before the one of another company', async () => {
    const harness = oneKey({ scopes: ['nfse:read'] });
    await expectRefusal(await harness.call('/v1/nfse/x'), 400, 'invalid_id');
    await expectRefusal(await harness.call('/v1/nfse/x'), 429, 'rate_limit_exceeded');
  });

  it('a key of the other prefix than its mode on record is unknown, not of another mode', async () => {
    const harness = oneKey({ mode: 'live', companyEnabled: false });
    await expectRefusal(await harness.call('/v1/nfse', { json: {} }), 401, 'unauthorized');
  });
});
