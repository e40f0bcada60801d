import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { issueBodyOf, OTHER_CNPJ } from '../../support/fixture/demo.js';
import {
  attempted,
  authorized,
  createHarness,
  type Harness,
  issuedInvoice,
  queuedInvoice,
} from '../../support/harness/http.js';

/** Everything in which a client can see a difference: the bytes without the request id, and the names of the headers. */
const tracesOf = async ({ call }: Harness, path: string, json?: object): Promise<object> => {
  const response = await call(path, json === undefined ? {} : { json });
  const requestId = response.headers.get('request-id') ?? '';
  const text = await response.text();
  expect(text).toContain(requestId);
  return {
    status: response.status,
    bytes: text.replace(requestId, ''),
    headers: [...response.headers.keys()],
    type: response.headers.get('content-type'),
    cache: response.headers.get('cache-control'),
  };
};

/** A minute later, so that the requests are not refused as duplicates. */
const laterIssuedByOther = async (harness: Harness): Promise<string> => {
  harness.pass(60);
  const id = await queuedInvoice(harness, 'otherCompany');
  const { now } = harness.state;
  await harness.record(id, [attempted(now), authorized(now)], 'test', OTHER_CNPJ);
  return id;
};

const laterIssued = async (harness: Harness): Promise<string> => {
  harness.pass(60);
  return await issuedInvoice(harness, 'live');
};

describe('404 not_found tells nothing about what it hides', () => {
  it.each([
    ['GET /v1/nfse/{id}', '', undefined],
    ['GET /v1/nfse/{id}/pdf', '/pdf', undefined],
    ['GET /v1/nfse/{id}/xml', '/xml', undefined],
    ['POST /v1/nfse/{id}/cancel', '/cancel', {}],
  ] as const)('%s', async (_route, rest, json) => {
    const harness = createHarness();
    const expired = await issuedInvoice(harness);
    harness.pass(604_800);
    const hidden = {
      nonexistent: `nfse_${randomUUID()}`,
      'nonexistent, bare': randomUUID(),
      'of another company, queued': await queuedInvoice(harness, 'otherCompany'),
      'of another company, issued': await laterIssuedByOther(harness),
      'of the other mode, queued': await queuedInvoice(harness, 'live', issueBodyOf({ reference: 'queued' })),
      'of the other mode, issued': await laterIssued(harness),
      'a test invoice whose life is over': expired,
    };
    const traces = new Map<string, object>();
    for (const [what, id] of Object.entries(hidden)) {
      traces.set(what, await tracesOf(harness, `/v1/nfse/${id}${rest}`, json));
    }
    const [first, ...others] = traces.values();
    expect(first).toMatchObject({ status: 404 });
    for (const other of others) expect(other).toEqual(first);
  });
});
