import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import {
  cancelAttempted,
  cancelNamed,
  cancelNotConfirmed,
  cancelNotSent,
  cancelUnknown,
} from '../../support/fixture/invoice.js';
import {
  ACCESS_KEY,
  attempted,
  canceled,
  createHarness,
  type Harness,
  issuedInvoice,
  queuedInvoice,
} from '../../support/harness/http.js';

type Body = Record<string, unknown>;

const read = async ({ call }: Harness, id: string, key: Mode = 'test'): Promise<Body> =>
  (await (await call(`/v1/nfse/${id}`, { key })).json()) as Body;

const notProcessed = (failedAt: string): InvoiceEvent => ({ type: 'NotProcessed', data: { failedAt, at: failedAt } });
const interrupted = (failedAt: string): InvoiceEvent => ({
  type: 'IssuanceInterrupted',
  data: { failedAt, at: failedAt },
});
const notConfirmed = (at: string): InvoiceEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'refused', codes: ['E0840'], at },
});

describe('GET /v1/nfse/{id}: every state', () => {
  it('queued has none of the optional fields of later states', async () => {
    const harness = createHarness();
    const body = await read(harness, await queuedInvoice(harness));
    expect(body).toMatchObject({ status: 'queued', failed_attempts: 0 });
    for (const field of ['access_key', 'issued_at', 'cancelable_until', 'cancellation', 'failed_at', 'error', 'links'])
      expect(body).not.toHaveProperty(field);
  });

  it('failed without an attempt: nfse.not_processed at the expiry of its 15 minutes', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    harness.pass(901);
    await harness.record(id, [notProcessed('2026-11-21T12:15:00.000Z')]);
    expect(await read(harness, id)).toMatchObject({
      status: 'failed',
      failed_at: '2026-11-21T12:15:00.000Z',
      error: { code: 'nfse.not_processed', message: expect.stringContaining('suporte') },
    });
  });

  it('indeterminate: nfse.issue_interrupted, nothing to download or cancel', async () => {
    const harness = createHarness();
    const id = await queuedInvoice(harness);
    await harness.record(id, [attempted()]);
    harness.pass(3601);
    await harness.record(id, [interrupted('2026-11-21T13:00:00.000Z')]);
    const body = await read(harness, id);
    expect(body).toMatchObject({
      status: 'indeterminate',
      failed_at: '2026-11-21T13:00:00.000Z',
      error: { code: 'nfse.issue_interrupted' },
    });
    for (const field of ['access_key', 'links', 'cancelable_until']) expect(body).not.toHaveProperty(field);
  });

  it('shows cancelable_until exactly while a cancel would be accepted', async () => {
    const harness = createHarness();
    harness.state.now = '2026-11-30T12:00:00.000Z';
    const id = await issuedInvoice(harness);
    harness.state.now = '2026-12-01T02:59:59.000Z';
    expect(await read(harness, id)).toHaveProperty('cancelable_until', '2026-12-01T02:59:59.000Z');
    harness.state.now = '2026-12-01T03:00:00.000Z';
    expect(await read(harness, id)).not.toHaveProperty('cancelable_until');
    expect((await harness.call(`/v1/nfse/${id}/cancel`, { json: {} })).status).toBe(422);
  });

  it('a pending cancellation leaves it issued, without a window', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    await harness.call(`/v1/nfse/${id}/cancel`, { json: { reason: 'service_not_provided' } });
    const body = await read(harness, id);
    expect(body).toMatchObject({
      status: 'issued',
      cancellation: { status: 'pending', requested_at: '2026-11-21T12:00:00.000Z', reason: 'service_not_provided' },
    });
    expect(body).not.toHaveProperty('cancelable_until');
    expect(body.cancellation).not.toHaveProperty('error');
  });

  it('canceled keeps its key and its issued_at', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, 'live');
    await harness.call(`/v1/nfse/${id}/cancel`, { key: 'live', json: {} });
    await harness.record(id, [canceled()], 'live');
    const body = await read(harness, id, 'live');
    expect(body).toMatchObject({
      status: 'canceled',
      access_key: ACCESS_KEY,
      issued_at: '2026-11-21T12:00:00.000Z',
      cancellation: { status: 'succeeded', reason: 'other' },
    });
    expect(body).not.toHaveProperty('cancelable_until');
  });

  it.each([
    ['test', 'E0840', true],
    ['live', 'E0840', false],
  ] as const)('a failed cancellation in %s mode: the reason %s shows: %s', async (mode, reason, shows) => {
    const harness = createHarness();
    const id = await issuedInvoice(harness, mode);
    await harness.call(`/v1/nfse/${id}/cancel`, { key: mode, json: {} });
    await harness.record(id, [notConfirmed('2026-11-21T12:00:09.000Z')], mode);
    const body = await read(harness, id, mode);
    expect(body).toMatchObject({
      status: 'issued',
      cancellation: { status: 'failed', error: { code: 'nfse.cancel_failed' } },
    });
    expect(JSON.stringify(body.cancellation).includes(reason)).toBe(shows);
    expect('cancelable_until' in body).toBe(mode === 'test');
  });

  it.each([
    ['test', 'E0840 that names a cancellation', cancelNamed(1, 6), true],
    ['live', 'E0840 that names a cancellation', cancelNamed(1, 6), false],
    ['test', 'a lost answer', cancelUnknown(1, 6), false],
    ['test', 'nothing sent', cancelNotSent(1, 6), false],
  ] as const)(
    'a cancellation that ended by time, in %s mode: a reason shows after %s: %s',
    async (mode, _what, answer, shows) => {
      const harness = createHarness();
      const id = await issuedInvoice(harness, mode);
      await harness.call(`/v1/nfse/${id}/cancel`, { key: mode, json: {} });
      await harness.record(id, [cancelAttempted(1, 5), answer, cancelNotConfirmed(3_605)], mode);
      const { cancellation } = await read(harness, id, mode);
      expect(cancellation).toMatchObject({ status: 'failed', error: { code: 'nfse.cancel_failed' } });
      expect(JSON.stringify(cancellation).includes(' Motivo do autorizador: E0840: ')).toBe(shows);
    },
  );
});
