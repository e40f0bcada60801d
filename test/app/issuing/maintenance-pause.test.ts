import { describe, expect, it } from 'vitest';
import { type Breaker, type BreakerChange, createBreaker } from '../../../src/app/issuing/breaker.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import { createMetrics } from '../../../src/runtime/metrics/metrics.js';
import { DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { at } from '../../support/fixture/invoice.js';
import { issuingHarness } from '../../support/harness/issuing.js';
import { readMetrics } from '../../support/metrics-text.js';

const CLOSED_UNTIL = at(40);
const shut: Breaker = {
  requestPermit: async () => ({ kind: 'paused', until: CLOSED_UNTIL }),
  isAnswering: () => false,
  probeWithoutSend: async () => undefined,
};

describe('while sends are paused', () => {
  it('an invoice stays queued, without a number and without an attempt, and is looked at again', async () => {
    const harness = await issuingHarness('live', { breaker: shut });
    expect(await harness.issue()).toEqual({ kind: 'later', at: CLOSED_UNTIL });
    expect(await harness.status()).toBe('queued');
    expect(await harness.types()).toEqual(['InvoiceAccepted']);
    const { series } = demoCompany(DEMO_CNPJ).registration.dps.live;
    expect((await harness.store.load(dpsStream('live', DEMO_CNPJ, series))).events).toEqual([]);
    expect(harness.authorizer.calls).toEqual([]);
  });

  it('an invoice that was sent is looked up all the same, and found', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_answer'];
    await harness.issue();
    harness.deps.breaker = shut;
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('a cancellation waits too, and its time-out does not', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record({
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Pedido do cliente.', requestedAt: harness.clock.now() },
    });
    harness.deps.breaker = shut;
    expect(await harness.cancel()).toEqual({ kind: 'later', at: CLOSED_UNTIL });
    expect(await harness.types()).not.toContain('CancellationAttempted');
    harness.clock.moveTo(at(4_000));
    expect(await harness.cancel()).toEqual({ kind: 'done' });
    expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
  });
});

it('a cancellation that meets an outage opens the breaker of events, and its answer closes it', async () => {
  const changes: BreakerChange[] = [];
  const harness = await issuingHarness();
  await harness.issueToTheEnd();
  await harness.record({
    type: 'CancellationRequested',
    data: { request: 1, reason: 'other', description: 'Pedido do cliente.', requestedAt: harness.clock.now() },
  });
  const onChange = (change: BreakerChange) => changes.push(change);
  harness.deps.breaker = createBreaker({
    clock: harness.clock,
    leaseSeconds: 65,
    shortestWindowSeconds: 900,
    chance: () => 0,
    onChange,
  });
  const { sendCancellation } = harness.authorizer;
  let refusals = 5;
  harness.authorizer.sendCancellation = async (...call) => {
    refusals -= 1;
    if (refusals < 0) return sendCancellation(...call);
    return { kind: 'not_sent', reason: 'ECONNREFUSED', codes: [], outage: true };
  };
  await harness.cancelToTheEnd();
  expect(await harness.status()).toBe('canceled');
  expect(changes.map(({ resource, to }) => `${resource} ${to}`)).toEqual([
    'events open',
    'events half_open',
    'events closed',
  ]);
});

it('an invoice is issued while cancellations meet an outage, of which look-ups say the same', async () => {
  const harness = await issuingHarness();
  const { breaker } = harness.deps;
  const caller = { mode: 'live', companyId: OTHER_CNPJ } as const;
  for (let sends = 0; sends < 5; sends += 1) {
    const permit = await breaker.requestPermit(caller, 'events');
    if (permit.kind === 'permit')
      permit.report({ kind: 'unknown', reason: 'no_json', codes: [], outage: true }, async () => ({
        kind: 'inconclusive',
        reason: 'no_json_503',
        outage: true,
      }));
  }
  await harness.issueToTheEnd();
  expect(await harness.status()).toBe('issued');
});

it('shows the state of notes and events of each environment, one series at 1', async () => {
  const metrics = createMetrics([], []);
  metrics.circuit({ mode: 'live', resource: 'notes', from: 'closed', to: 'open' });
  const shown = readMetrics((await metrics.scrape()).text);
  const states = (mode: string, resource: string) =>
    ['closed', 'open', 'half_open'].map((state) => shown.value('nfse_authorizer_circuit', { mode, resource, state }));
  expect(states('live', 'notes')).toEqual([0, 1, 0]);
  expect([states('live', 'events'), states('test', 'notes')]).toEqual([
    [1, 0, 0],
    [1, 0, 0],
  ]);
});
