import { describe, expect, it } from 'vitest';
import { ApiError, NoAnswerError, StillWaitingError } from '../../src/client/errors.js';
import {
  type Answer,
  busyFor,
  clientWith,
  inUse,
  invoiceThatIs,
  lost,
  methodsOf,
  overLimitFor,
  proxy,
  refusal,
  rejectionOf,
} from '../support/harness/scripted-client.js';

const request = { amount_in_cents: 100, description: 'x' };

/** Each may have done the work of the request. */
const unsettling: readonly [string, Answer, object][] = [
  ['no answer', lost, { name: 'NoAnswerError', status: undefined }],
  ['an answer of a proxy', proxy, { name: 'NoAnswerError', status: 503 }],
  ['a 5xx', busyFor(1), { name: 'ApiError', status: 503 }],
  ['a request with this key in progress', inUse, { name: 'ApiError', status: 409, mayHaveArrived: true }],
  ['a body that is not of the API', () => Response.json({}), { name: 'NoAnswerError', status: 200 }],
];

describe('an issue request after a try that may have arrived', () => {
  for (const [what, answer, cause] of unsettling)
    it.each([
      [401, 'unauthorized'],
      [403, 'feature_not_enabled'],
      [422, 'company.certificate_missing'],
    ])(`does not end as refused when ${what} came before a %i`, async (status, code) => {
      const { client, sent } = clientWith(answer, refusal(status, code));
      const error = await rejectionOf(client.issue(request));
      expect(error).toBeInstanceOf(NoAnswerError);
      expect(error).toMatchObject({ status, idempotencyKey: sent[0]?.key, refusal: { code, status }, cause });
      expect((error as Error).message).toBe(
        `POST /v1/nfse: an invoice may exist, from a try before this refusal: ${code}: m`,
      );
    });

  it('does not end as refused by the rate limit either', async () => {
    const { client } = clientWith(lost, overLimitFor(60));
    const error = await rejectionOf(client.issueAndWait(request, { withinMs: 0 }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ refusal: { code: 'rate_limit_exceeded', retryable: true } });
  });

  it('tells the key that the client made when the last answer is a 503', async () => {
    const { client, sent } = clientWith(lost, busyFor(1));
    const error = await rejectionOf(client.issue(request));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 503, mayHaveArrived: true, idempotencyKey: sent[0]?.key });
    expect(sent[0]?.key).toMatch(/^[!-~]+$/);
  });

  it('tells its key after no answer at all', async () => {
    const { client } = clientWith(lost);
    const error = await rejectionOf(client.issue(request, { idempotencyKey: 'k-1' }));
    expect(error).toMatchObject({ name: 'NoAnswerError', idempotencyKey: 'k-1', refusal: undefined });
  });
});

describe('a refusal', () => {
  it('of the first try is one, with the key', async () => {
    const { client } = clientWith(refusal(422, 'nfse.customer_required'));
    const error = await rejectionOf(client.issue(request, { idempotencyKey: 'k-1' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, mayHaveArrived: false, idempotencyKey: 'k-1' });
  });

  it('after a place was free again is one', async () => {
    const { client } = clientWith(overLimitFor(1), refusal(422, 'nfse.customer_required'));
    expect(await rejectionOf(client.issue(request))).toMatchObject({ name: 'ApiError', mayHaveArrived: false });
  });

  it('of a read is one, also after a read without an answer', async () => {
    const { client } = clientWith(lost, refusal(404, 'not_found'));
    const error = await rejectionOf(client.get('nfse_1'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, mayHaveArrived: false, idempotencyKey: undefined });
  });
});

describe('a read that is refused', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [404, 'not_found'],
  ])('with %i ends issueAndWait with the invoice of the 202', async (status, code) => {
    const { client, sent } = clientWith(invoiceThatIs('queued'), refusal(status, code));
    const error = await rejectionOf(client.issueAndWait(request));
    expect(error).toBeInstanceOf(StillWaitingError);
    expect(error).toMatchObject({ invoice: { id: 'nfse_1', status: 'queued' }, cause: { name: 'ApiError', code } });
    expect(methodsOf({ sent })).toEqual(['POST', 'GET']);
  });

  it('ends cancelAndWait with the invoice of the 202', async () => {
    const { client } = clientWith(invoiceThatIs('issued', 'pending'), refusal(403, 'insufficient_scope'));
    const error = await rejectionOf(client.cancelAndWait('nfse_1'));
    expect(error).toBeInstanceOf(StillWaitingError);
    expect(error).toMatchObject({ cause: { code: 'insufficient_scope' } });
  });

  it('ends waitForOutcome with the invoice that it had read, and as it is when it had read none', async () => {
    const once = clientWith(invoiceThatIs('processing'), refusal(401, 'unauthorized'));
    const error = await rejectionOf(once.client.waitForOutcome('nfse_1'));
    expect(error).toMatchObject({ name: 'StillWaitingError', cause: { code: 'unauthorized' } });
    const never = clientWith(refusal(404, 'not_found'));
    expect(await rejectionOf(never.client.waitForOutcome('nfse_1'))).toMatchObject({ name: 'ApiError', status: 404 });
  });

  it.each([
    ['no answer', lost, { name: 'NoAnswerError', message: 'POST /v1/nfse/nfse_1/cancel: no answer' }],
    ['a 503', busyFor(1), { name: 'ApiError', status: 503, mayHaveArrived: true }],
  ] as const)('does not hide that a cancel had %s', async (_what, answer, rejection) => {
    const { client, sent } = clientWith(answer, refusal(403, 'insufficient_scope'));
    const error = await rejectionOf(client.cancel('nfse_1'));
    expect(error).toMatchObject({ ...rejection, cause: { name: 'ApiError', code: 'insufficient_scope' } });
    expect(methodsOf({ sent })).toEqual(['POST', 'GET']);
  });
});
