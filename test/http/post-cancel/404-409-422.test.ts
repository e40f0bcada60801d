import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  attempted,
  canceled,
  createHarness,
  type Harness,
  issuedInvoice,
  queuedInvoice,
  rejected,
} from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const cancel = async (harness: Harness, id: string, key: 'test' | 'live' = 'test'): Promise<Response> =>
  await harness.call(`/v1/nfse/${id}/cancel`, { key, json: {} });

describe('POST /v1/nfse/{id}/cancel 404', () => {
  it('not_found, of another mode or none at all', async () => {
    const harness = createHarness();
    const live = await issuedInvoice(harness, 'live');
    await expectRefusal(await cancel(harness, live), 404, 'not_found');
    await expectRefusal(await cancel(harness, randomUUID()), 404, 'not_found');
  });
});

describe('POST /v1/nfse/{id}/cancel 409', () => {
  it('nfse.cancel_in_progress while one is pending', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    await cancel(harness, id);
    const response = await cancel(harness, id);
    expect((await expectRefusal(response, 409, 'nfse.cancel_in_progress')).retryable).toBe(false);
    expect(response.headers.get('retry-after')).toBeNull();
  });

  it('a repeat with the same Idempotency-Key is no replay', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const repeat = () =>
      harness.call(`/v1/nfse/${id}/cancel`, { key: 'test', json: {}, headers: { 'Idempotency-Key': 'cancel-1' } });
    expect((await repeat()).status).toBe(202);
    await expectRefusal(await repeat(), 409, 'nfse.cancel_in_progress');
  });

  it('nfse.cancel_in_progress permanently after a failed one in live mode', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, 'live');
    await cancel(harness, id, 'live');
    const at = harness.state.now;
    await harness.record(
      id,
      [{ type: 'CancellationNotConfirmed', data: { request: 1, reason: 'timeout', codes: [], at } }],
      'live',
    );
    const error = await expectRefusal(await cancel(harness, id, 'live'), 409, 'nfse.cancel_in_progress');
    expect(error.livemode).toBe(true);
  });

  it('nfse.already_canceled', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    await cancel(harness, id);
    await harness.record(id, [canceled()]);
    await expectRefusal(await cancel(harness, id), 409, 'nfse.already_canceled');
  });

  it('nfse.not_cancelable when queued, processing or failed', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    await expectRefusal(await cancel(harness, id), 409, 'nfse.not_cancelable');
    await harness.record(id, [attempted()]);
    await expectRefusal(await cancel(harness, id), 409, 'nfse.not_cancelable');
    await harness.record(id, [rejected()]);
    const { message } = await expectRefusal(await cancel(harness, id), 409, 'nfse.not_cancelable');
    expect(message).toMatch(/Em queued ou processing, espere .*; em indeterminate, fale com o suporte\.$/);
  });
});

describe('POST /v1/nfse/{id}/cancel 422', () => {
  it('nfse.cancel_window_closed from the first instant of the next month', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, 'live');
    harness.state.now = '2026-12-01T03:00:00.000Z';
    const error = await expectRefusal(await cancel(harness, id, 'live'), 422, 'nfse.cancel_window_closed');
    expect(error).toMatchObject({ type: 'invalid_request', retryable: false, livemode: true });
  });
});
