import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCnpj, isCpf } from '../../src/domain/common/cnpj.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { SLOW_MS, TEST_VALUES, testEffect, UNSETTLED_SECONDS } from '../../src/simulator/test-values.js';
import { createTimers } from '../../src/simulator/timers.js';
import {
  cancel,
  codesOf,
  customer,
  type DpsChanges,
  dpsIdOf,
  issue,
  keyOf,
  ledger,
  openSimulatorHarness,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

type Outcome = (typeof TEST_VALUES)[number]['outcome'];

const testValue = (outcome: Outcome) => {
  const value = TEST_VALUES.find((one) => one.outcome === outcome);
  if (value === undefined) throw new Error(`no test value ${outcome}`);
  return value;
};

const by = (document: string): DpsChanges => ({
  toma: customer(document.length === 14 ? `<CNPJ>${document}</CNPJ>` : `<CPF>${document}</CPF>`),
});

/** The DPS of the value's customer, and of its amount where it has one. */
const waysTo = (outcome: Outcome): readonly DpsChanges[] => {
  const { customer: document, amountInCents } = testValue(outcome);
  return [
    by(document),
    ...(amountInCents === undefined ? [] : [{ toma: '', amount: (amountInCents / 100).toFixed(2) }]),
  ];
};

describe('the test values', () => {
  let harness: SimulatorHarness;
  const waits: number[] = [];
  let number = 0;
  const fresh = (changes: DpsChanges): DpsChanges => {
    number += 1;
    return { ...changes, number };
  };
  beforeAll(async () => {
    const timers = { ...createTimers(), wait: async (ms: number) => void waits.push(ms) };
    harness = await openSimulatorHarness({ timers });
  });
  afterAll(() => harness.close());

  it('have right check digits, and no document or amount twice', () => {
    for (const { customer: document } of TEST_VALUES)
      expect([document, isCnpj(document) || isCpf(document)]).toEqual([document, true]);
    const chosen = TEST_VALUES.flatMap(({ customer: document, amountInCents = document }) => [document, amountInCents]);
    expect(new Set(chosen).size).toBe(TEST_VALUES.length * 2 - 2);
  });

  it('unregistered: the customer is not in the federal register, unless an entry says otherwise', async () => {
    for (const [document, code] of [
      ['99990001000198', 'E0190'],
      ['99999900100', 'E0207'],
    ] as const) {
      expect(codesOf(await issue(harness, fresh(by(document))))).toEqual([code]);
    }
    const entry = { environment: 'test', company: { cnpj: '99990001000198', registered: true } };
    expect(await harness.control('POST', 'registry', entry)).toMatchObject({ status: 200 });
    expect(await issue(harness, fresh(by('99990001000198')))).toMatchObject({ status: 201 });
  });

  it('refused: one rule more is broken, and nothing is made', async () => {
    for (const changes of waysTo('refused')) {
      expect(codesOf(await issue(harness, fresh(changes)))).toEqual(['E0312']);
      expect(codesOf(await issue(harness, fresh({ ...changes, tpAmb: '1' })))).toEqual(['E0006', 'E0312']);
    }
    expect((await ledger(harness)).filter(({ amount_in_cents }) => amount_in_cents === 99_990_002)).toEqual([]);
  });

  it('slow: the note is made, and its answer takes its time', async () => {
    for (const changes of waysTo('slow')) {
      waits.length = 0;
      expect(await issue(harness, fresh(changes))).toMatchObject({ status: 201 });
      expect(waits).toEqual([SLOW_MS]);
    }
  });

  it('lost: the note is made without an answer, and found', async () => {
    for (const changes of waysTo('lost')) {
      const sent = fresh(changes);
      await expect(issue(harness, sent)).rejects.toThrow();
      expect(await harness.call('GET', `/dps/${dpsIdOf(sent)}`)).toMatchObject({ status: 200 });
      // A document that is sent again is refused with an answer.
      expect(codesOf(await issue(harness, sent))).toEqual(['E0014']);
    }
  });

  it('unsettled: the note is made, and nothing can be learnt of it for longer than the contract waits', async () => {
    const began = harness.clock.at;
    for (const changes of waysTo('unsettled')) {
      harness.clock.at = began;
      const sent = fresh(changes);
      const path = `/dps/${dpsIdOf(sent)}`;
      expect(codesOf(await issue(harness, sent))).toEqual(['RNG9999']);
      for (const seconds of [30, 3_600, UNSETTLED_SECONDS - 2]) {
        harness.clock.at = addSeconds(began, seconds);
        expect(codesOf(await harness.call('GET', path))).toEqual(['RNG9999']);
        expect(await harness.call('HEAD', path)).toMatchObject({ status: 400 });
      }
      harness.clock.at = addSeconds(began, UNSETTLED_SECONDS);
      expect(await harness.call('GET', path)).toMatchObject({ status: 200 });
    }
    harness.clock.at = began;
  });

  it('cancellation refused, slow or lost: only the cancellation', async () => {
    for (const outcome of ['cancel_refused', 'cancel_slow', 'cancel_lost'] as const) {
      for (const changes of waysTo(outcome)) {
        waits.length = 0;
        const key = keyOf(await issue(harness, fresh(changes)));
        expect(key).toMatch(/^\d{50}$/);
        if (outcome === 'cancel_refused') expect(codesOf(await cancel(harness, key))).toEqual(['E0822']);
        if (outcome === 'cancel_slow') expect(await cancel(harness, key)).toMatchObject({ status: 201 });
        if (outcome === 'cancel_lost') await expect(cancel(harness, key)).rejects.toThrow();
        expect(waits).toEqual(outcome === 'cancel_slow' ? [SLOW_MS] : []);
        const event = await harness.call('GET', `/nfse/${key}/eventos/101101/1`);
        expect(event.status).toBe(outcome === 'cancel_refused' ? 404 : 200);
      }
    }
  });

  it('leave a document that is refused its usual answer, and an order of the control port goes before them', async () => {
    const lost = by(testValue('lost').customer);
    expect(codesOf(await issue(harness, fresh({ ...lost, tpAmb: '1' })))).toEqual(['E0006']);
    await harness.control('POST', 'faults', { on: 'issue', kind: 'http_503' });
    expect(await issue(harness, fresh(lost))).toMatchObject({ status: 503 });
    const calls = (await harness.control('GET', 'calls')).json as { faults?: string[] }[];
    expect(calls.at(-1)?.faults).toEqual(['http_503']);
    await expect(issue(harness, fresh(lost))).rejects.toThrow();
    const after = (await harness.control('GET', 'calls')).json as { faults?: string[] }[];
    expect(after.at(-1)).toMatchObject({ outcome: 'cut', faults: ['lost_after_commit'] });
  });

  it('of customer and amount act on different calls together, and on the same call the customer’s does', () => {
    const customerOf = (outcome: Outcome) => testValue(outcome).customer;
    const { amountInCents } = testValue('cancel_refused');
    const both = { customer: customerOf('slow'), amountInCents };
    expect([testEffect('issue', both), testEffect('event', both)]).toEqual(['slow', 'refuse']);
    expect(testEffect('event', { customer: customerOf('cancel_slow'), amountInCents })).toBe('slow');
    expect(testEffect('issue', { customer: '11222333000181', amountInCents: 99_990_000 })).toBeUndefined();
    expect(testEffect('issue', {})).toBeUndefined();
  });
});
