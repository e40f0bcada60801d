import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { invoiceIn, type StateName } from '../../support/fixture/invoice-states.js';
import { ACCESS_KEY, createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const DAY = '2026-11-30T15:00:00.000Z';
const NEXT_MONTH = '2026-12-01T15:00:00.000Z';

const cancel = async ({ call }: Harness, id: string, key: Mode = 'test', json: unknown = {}): Promise<Response> =>
  await call(`/v1/nfse/${id}/cancel`, { key, json });

const stood = async (state: StateName, mode: Mode): Promise<{ harness: Harness; id: string }> => {
  const harness = createHarness();
  harness.state.now = DAY;
  return { harness, id: await invoiceIn(harness, state, mode) };
};

/** The answer to a cancel in this state, in the month of issue and after it (CANCEL-3). */
const answers: readonly [StateName, Mode, string, string][] = (['test', 'live'] as const).flatMap((mode) => [
  ['canceled', mode, 'nfse.already_canceled', 'nfse.already_canceled'],
  ['pending cancellation', mode, 'nfse.cancel_in_progress', 'nfse.cancel_in_progress'],
  ['queued', mode, 'nfse.not_cancelable', 'nfse.not_cancelable'],
  ['processing', mode, 'nfse.not_cancelable', 'nfse.not_cancelable'],
  ['rejected', mode, 'nfse.not_cancelable', 'nfse.not_cancelable'],
  ['not processed', mode, 'nfse.not_cancelable', 'nfse.not_cancelable'],
  ['indeterminate', mode, 'nfse.not_cancelable', 'nfse.not_cancelable'],
  ['issued', mode, 'accepted', 'nfse.cancel_window_closed'],
  mode === 'live'
    ? ['failed cancellation', mode, 'nfse.cancel_in_progress', 'nfse.cancel_in_progress']
    : ['failed cancellation', mode, 'accepted', 'nfse.cancel_window_closed'],
]);

describe('POST /v1/nfse/{id}/cancel: the refusal of each state', () => {
  it.each(answers)('%s in %s mode: %s in its month, %s after it', async (state, mode, inMonth, afterMonth) => {
    for (const [now, expected] of [
      [DAY, inMonth],
      [NEXT_MONTH, afterMonth],
    ] as const) {
      const { harness, id } = await stood(state, mode);
      harness.state.now = now;
      const response = await cancel(harness, id, mode);
      if (expected === 'accepted') expect(response.status).toBe(202);
      else {
        const status = expected === 'nfse.cancel_window_closed' ? 422 : 409;
        const error = await expectRefusal(response, status, expected);
        expect(error).toMatchObject({ retryable: false, livemode: mode === 'live' });
        expect(error).not.toHaveProperty('errors');
        expect(response.headers.get('retry-after')).toBeNull();
      }
    }
  });

  const imported = (origin: 'manual' | 'legacy', state: 'issued' | 'replaced' | 'canceled'): InvoiceEvent => ({
    type: 'InvoiceImported',
    data: {
      mode: 'live',
      companyId: '12345678000195',
      invoiceId: '77777777-7777-4777-8777-777777777777',
      origin,
      state,
      amountInCents: 100,
      accessKey: ACCESS_KEY,
      issuedAt: DAY,
      createdAt: DAY,
      importedAt: DAY,
      ...(state === 'canceled' ? { canceledAt: DAY } : {}),
    },
  });
  it.each([
    ['attached manually', imported('manual', 'issued'), 'nfse.not_cancelable'],
    ['replaced', imported('legacy', 'replaced'), 'nfse.not_cancelable'],
    ['attached manually and canceled', imported('manual', 'canceled'), 'nfse.already_canceled'],
  ])('%s, in its month and after it', async (_what, event, code) => {
    const harness = createHarness();
    const id = 'nfse_77777777-7777-4777-8777-777777777777';
    harness.state.now = DAY;
    await harness.record(id, [event], 'live');
    for (const now of [DAY, NEXT_MONTH]) {
      harness.state.now = now;
      await expectRefusal(await cancel(harness, id, 'live'), 409, code);
    }
  });
});

describe('POST /v1/nfse/{id}/cancel 409', () => {
  it('nfse.not_cancelable says what helps in which state', async () => {
    for (const [state, says] of [
      ['queued', /ainda não tem resultado .* peça o cancelamento então\.$/],
      ['processing', /ainda não tem resultado .* peça o cancelamento então\.$/],
      ['rejected', /está em failed: nada foi emitido, e não há o que cancelar\.$/],
      ['not processed', /está em failed: nada foi emitido, e não há o que cancelar\.$/],
      ['indeterminate', /está em indeterminate: .* Não emita outra/],
    ] as const) {
      const { harness, id } = await stood(state, 'test');
      const { message } = await expectRefusal(await cancel(harness, id), 409, 'nfse.not_cancelable');
      expect([state, message]).toEqual([state, expect.stringMatching(says)]);
    }
  });

  it('nfse.cancel_in_progress promises no result of a cancellation that failed in live mode', async () => {
    const { harness, id } = await stood('failed cancellation', 'live');
    const { message } = await expectRefusal(await cancel(harness, id, 'live'), 409, 'nfse.cancel_in_progress');
    expect(message).toMatch(/em failed, que em produção é definitivo, fale com o suporte\.$/);
  });

  it('a repeat with the same Idempotency-Key is no replay', async () => {
    const { harness, id } = await stood('issued', 'test');
    const repeat = () =>
      harness.call(`/v1/nfse/${id}/cancel`, { json: {}, headers: { 'Idempotency-Key': 'cancel-1' } });
    expect((await repeat()).status).toBe(202);
    await expectRefusal(await repeat(), 409, 'nfse.cancel_in_progress');
  });
});

describe('POST /v1/nfse/{id}/cancel: what comes before what', () => {
  it('the id, then the body, then whether the invoice is there, then its state', async () => {
    const { harness, id } = await stood('canceled', 'test');
    const absent = randomUUID();
    await expectRefusal(await cancel(harness, 'x', 'test', { reason: 1 }), 400, 'invalid_id');
    await expectRefusal(await cancel(harness, absent, 'test', { reason: 1 }), 400, 'invalid_request');
    await expectRefusal(await cancel(harness, absent), 404, 'not_found');
    await expectRefusal(await cancel(harness, id, 'live'), 404, 'not_found');
    await expectRefusal(await cancel(harness, id, 'test', { reason: 1 }), 400, 'invalid_request');
    await expectRefusal(await cancel(harness, id), 409, 'nfse.already_canceled');
  });

  it('a refused cancel leaves no trace on the invoice', async () => {
    const { harness, id } = await stood('issued', 'live');
    const before = (await (await harness.call(`/v1/nfse/${id}`, { key: 'live' })).json()) as object;
    await cancel(harness, id, 'live', { reason: 'because' });
    await cancel(harness, id, 'test');
    const after = (await (await harness.call(`/v1/nfse/${id}`, { key: 'live' })).json()) as object;
    expect(after).toEqual({ ...before, links: expect.anything() });
  });
});

describe('POST /v1/nfse/{id}/cancel: test and live mode', () => {
  const failedCancellation = async (mode: Mode): Promise<Record<string, unknown>> => {
    const { harness, id } = await stood('failed cancellation', mode);
    return (await (await harness.call(`/v1/nfse/${id}`, { key: mode })).json()) as Record<string, unknown>;
  };

  it('only test mode says why it failed; both say to whom to turn, and have the one code', async () => {
    const messages = [];
    for (const mode of ['test', 'live'] as const) {
      const { cancellation, status } = await failedCancellation(mode);
      const { error } = cancellation as { error: { code: string; message: string } };
      expect({ status, code: error.code }).toEqual({ status: 'issued', code: 'nfse.cancel_failed' });
      expect(error.message).toContain('suporte');
      messages.push(error.message);
    }
    expect(messages.map((message) => message.includes('E0840'))).toEqual([true, false]);
  });

  it('a new attempt in test mode is a new request, with its own reason and instant, and may succeed', async () => {
    const { harness, id } = await stood('failed cancellation', 'test');
    harness.pass(10);
    const again = await cancel(harness, id, 'test', { reason: 'issuance_error' });
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({
      status: 'issued',
      cancellation: { status: 'pending', reason: 'issuance_error', requested_at: harness.state.now },
    });
    await expectRefusal(await cancel(harness, id), 409, 'nfse.cancel_in_progress');
  });

  it('two cancels at the same time: one is accepted, the other is in progress', async () => {
    const { harness, id } = await stood('issued', 'live');
    const both = await Promise.all([cancel(harness, id, 'live'), cancel(harness, id, 'live')]);
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  it('a reference of a canceled invoice stays taken', async () => {
    const harness = createHarness();
    const json = issueBodyOf({ reference: 'gone' });
    await invoiceIn(harness, 'canceled', 'test', json);
    harness.pass(61);
    await expectRefusal(await harness.call('/v1/nfse', { json }), 409, 'nfse.reference_in_use');
  });
});
