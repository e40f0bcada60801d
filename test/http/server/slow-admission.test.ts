import { describe, expect, it } from 'vitest';
import type { Authenticated } from '../../../src/http/deps.js';
import { DEMO_CNPJ, issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, issuedInvoice } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';
import { headOf, openConnection, start } from './connection.js';

/** A service that lets the test change what is on record of its keys. */
const changeable = () => {
  const credential: Partial<Authenticated> = {};
  const harness = createHarness({
    authenticate: async () => ({
      keyId: 'key',
      companyId: DEMO_CNPJ,
      mode: 'test',
      scopes: ['nfse:read', 'nfse:write'],
      revoked: false,
      companyEnabled: true,
      ...credential,
    }),
  });
  return Object.assign(harness, { credential });
};

type Changeable = ReturnType<typeof changeable>;

/** Sends a request whose body ends after `meanwhile`; returns its answer. */
const slowRequest = async (harness: Changeable, path: string, json: object, meanwhile: () => void) => {
  const connection = openConnection(await start(harness));
  const body = JSON.stringify(json);
  const framing = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const asked = harness.summaries.length;
  connection.socket.write(headOf(harness, `POST ${path}`, framing) + body.slice(0, 1));
  // The head is admitted before the rest of the body is sent.
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(harness.summaries).toHaveLength(asked);
  meanwhile();
  connection.socket.write(body.slice(1));
  const [answer] = await connection.answers(1);
  return answer ?? Response.error();
};

const whatEnds: readonly [string, (harness: Changeable) => void, number, string][] = [
  ['its key is revoked', ({ credential }) => Object.assign(credential, { revoked: true }), 401, 'unauthorized'],
  [
    'its company is disabled',
    ({ credential }) => Object.assign(credential, { companyEnabled: false }),
    403,
    'feature_not_enabled',
  ],
  ['the kill switch is turned', ({ state }) => Object.assign(state, { switchedOff: true }), 503, 'service_unavailable'],
];

describe.each(whatEnds)('while the body of a request is under way, %s', (_what, end, status, code) => {
  it('issue: nothing is accepted, the quota is not spent', async () => {
    const harness = changeable();
    const accepted = await slowRequest(harness, '/v1/nfse', issueBodyOf(), () => {});
    expect(accepted.status).toBe(202);
    const other = issueBodyOf({ amount_in_cents: 777 });
    const refused = await slowRequest(harness, '/v1/nfse', other, () => end(harness));
    expect(await expectRefusal(refused, status, code)).not.toHaveProperty('livemode');
    expect(commonHeadersOf(refused)).not.toHaveProperty('ratelimit-limit');

    Object.assign(harness.credential, { revoked: false, companyEnabled: true });
    harness.state.switchedOff = false;
    const later = await harness.call('/v1/nfse', { json: other });
    expect(later.status).toBe(202);
    expect(later.headers.get('ratelimit-remaining')).toBe('58');
  });

  it('cancel: nothing is requested', async () => {
    const harness = changeable();
    const id = await issuedInvoice(harness);
    const refused = await slowRequest(harness, `/v1/nfse/${id}/cancel`, {}, () => end(harness));
    await expectRefusal(refused, status, code);

    Object.assign(harness.credential, { revoked: false, companyEnabled: true });
    harness.state.switchedOff = false;
    expect(await (await harness.call(`/v1/nfse/${id}`)).json()).not.toHaveProperty('cancellation');
  });

  it('is answered before a fault of the body (HTTP-ORDER)', async () => {
    const harness = changeable();
    const refused = await slowRequest(harness, '/v1/nfse', [], () => end(harness));
    await expectRefusal(refused, status, code);
  });
});
