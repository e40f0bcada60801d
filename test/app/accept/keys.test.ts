import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { invoiceIdOfKey, sha256Hex } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, publicInvoiceId } from '../../../src/domain/common/ids.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import type { Claim } from '../../../src/ports/idempotency-keys.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { at, dataOf, imported, T0 } from '../../support/fixture/invoice.js';
import {
  type AcceptHarness,
  acceptedOf,
  acceptHarness,
  arrangements,
  codeOf,
  idOf,
} from '../../support/harness/accept.js';
import { appendTo } from '../../support/harness/event-store.js';

class Crash extends Error {}

const DAY = 86_400;
const AFTER_LEASE = 16;

/** Remembers every claim that the use case was given. */
const watchClaims = (harness: AcceptHarness): Claim[] => {
  const claims: Claim[] = [];
  const { idempotency } = harness.deps;
  harness.deps.idempotency = {
    ...idempotency,
    claim: async (...args) => {
      const result = await idempotency.claim(...args);
      if (result.kind === 'claimed') claims.push(result.claim);
      return result;
    },
  };
  return claims;
};

const crashOnceAt = (harness: AcceptHarness, point: 'append' | 'markDone'): void => {
  let armed = true;
  const crash = (): void => {
    if (!armed) return;
    armed = false;
    throw new Crash();
  };
  const { store, idempotency } = harness.deps;
  if (point === 'append') {
    const append: typeof store.append = async (...args) => {
      crash();
      return await store.append(...args);
    };
    harness.deps.store = { ...store, append };
  } else {
    const markDone: typeof idempotency.markDone = async (...args) => {
      crash();
      return await idempotency.markDone(...args);
    };
    harness.deps.idempotency = { ...idempotency, markDone };
  }
};

/** Nobody learns what became of an append, until the returned function is called. */
const loseAnswers = (harness: AcceptHarness): (() => void) => {
  const { store } = harness.deps;
  harness.deps.store = { ...store, append: () => Promise.reject(new StoreUnavailable('unknown')) };
  return () => {
    harness.deps.store = store;
  };
};

describe.each(arrangements)('a request with an Idempotency-Key%s', (_where, open) => {
  it('is answered with its invoice again', async () => {
    const harness = open();
    const first = await harness.post({}, 'k');
    harness.clock.pass(60);
    expect(acceptedOf(await harness.post({}, 'k'))).toEqual(acceptedOf(first));
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('is replayed although the company could not issue any more', async () => {
    const harness = open();
    const first = await harness.post({}, 'k');
    const { certificate: _expired, ...rest } = harness.company.current;
    harness.company.current = rest;
    expect(idOf(await harness.post({}, 'k'))).toBe(idOf(first));
    expect(codeOf(await harness.post({}, 'other'))).toBe('company.certificate_missing');
  });

  it('is refused with another body', async () => {
    const harness = open();
    await harness.post({}, 'k');
    const refused = await harness.post({ amountInCents: 1 }, 'k');
    expect(codeOf(refused)).toBe('idempotency_key_reuse');
    // After a failed or canceled invoice the same sale needs a new key too.
    const message = expect.stringContaining('ou se ela está em failed ou canceled, use uma chave nova');
    expect(refused).toMatchObject({ refused: { message } });
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('belongs to its company and mode', async () => {
    const harness = open();
    const ids = [
      idOf(await harness.post({}, 'k')),
      idOf(await harness.post({}, 'k', { mode: 'test' })),
      idOf(await harness.post({}, 'k', { companyId: '98765432000198' })),
    ];
    expect(new Set(ids).size).toBe(3);
  });

  it('is free again after a refusal by the rules', async () => {
    const harness = open();
    expect(codeOf(await harness.post({ cnae: '9999999' }, 'k'))).toBe('nfse.cnae_not_allowed');
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
  });

  it('is free again after a refusal behind the claim', async () => {
    const harness = open();
    await harness.post({ reference: 'r' });
    expect(codeOf(await harness.post({ reference: 'r' }, 'k'))).toBe('nfse.reference_in_use');
    expect(codeOf(await harness.post({ amountInCents: 5 }, 'k'))).toBe('accepted');
  });

  it('gives a new invoice after 24 hours, also when the guards were lost meanwhile', async () => {
    const harness = open();
    const first = idOf(await harness.post({}, 'k'));
    harness.clock.pass(DAY - 1);
    expect(idOf(await harness.post({}, 'k'))).toBe(first);
    harness.clock.pass(1);
    const second = idOf(await harness.post({}, 'k'));
    expect(second).not.toBe(first);
    harness.loseGuards();
    expect(idOf(await harness.post({}, 'k'))).toBe(second);
    expect(await harness.acceptances()).toHaveLength(2);
  });

  it('is refused when its invoice was taken over by an import, until 24 hours after the date of issue', async () => {
    const harness = open();
    const invoiceId = invoiceIdOfKey('live', DEMO_CNPJ, sha256Hex('k'), 0);
    const event = imported({ companyId: DEMO_CNPJ, invoiceId, issuedAt: T0 });
    await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, invoiceId), [event], T0);
    harness.clock.pass(DAY - 1);
    const refused = await harness.post({}, 'k');
    expect(codeOf(refused)).toBe('idempotency_key_reuse');
    expect(JSON.stringify(refused)).toContain(publicInvoiceId(invoiceId));
    expect(await harness.acceptances()).toHaveLength(0);
    harness.clock.pass(1);
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
  });

  it('is refused permanently when its imported invoice has no date', async () => {
    const harness = open();
    const invoiceId = invoiceIdOfKey('live', DEMO_CNPJ, sha256Hex('k'), 0);
    const { issuedAt: _at, ...data } = dataOf(
      imported({ companyId: DEMO_CNPJ, invoiceId, state: 'canceled' }),
      'InvoiceImported',
    );
    const event = { type: 'InvoiceImported', data } as const;
    await appendTo(harness.deps.store, invoiceStream('live', DEMO_CNPJ, invoiceId), [event], T0);
    harness.clock.pass(2 * DAY);
    expect(codeOf(await harness.post({}, 'k'))).toBe('idempotency_key_reuse');
  });

  it('never gives two invoices, not even when the guards are lost', async () => {
    const harness = open();
    const first = idOf(await harness.post({}, 'k'));
    harness.loseGuards();
    expect(idOf(await harness.post({}, 'k'))).toBe(first);
    harness.loseGuards();
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    expect(await harness.acceptances()).toHaveLength(1);
  });
});

describe('a claimed key', () => {
  it.each(['append', 'markDone'] as const)('resumes what a process left that died at %s', async (point) => {
    const harness = acceptHarness();
    const claims = watchClaims(harness);
    crashOnceAt(harness, point);
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(Crash);
    expect(codeOf(await harness.post({}, 'k'))).toBe('idempotency_key_in_use');
    harness.clock.pass(AFTER_LEASE);
    const resumed = acceptedOf(await harness.post({}, 'k'));
    const [event, ...others] = await harness.acceptances();
    expect(others).toEqual([]);
    expect(new Set(claims.map(({ commandId }) => commandId)).size).toBe(1);
    // What was stored is the first command; what was not is accepted now, as the client learns now.
    const isStored = point === 'markDone';
    expect(event?.metadata.commandId === claims[0]?.commandId).toBe(isStored);
    expect(resumed.facts.createdAt).toBe(isStored ? at(0) : at(AFTER_LEASE));
    expect(idOf(await harness.post({}, 'k'))).toBe(resumed.facts.invoiceId);
  });

  it('stays claimed when nobody knows what was stored, and is resumed by a retry', async () => {
    const harness = acceptHarness();
    const answerAgain = loseAnswers(harness);
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    answerAgain();
    expect(codeOf(await harness.post({}, 'k'))).toBe('idempotency_key_in_use');
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    harness.clock.pass(AFTER_LEASE);
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('has its whole 15 minutes when the log comes back long after the first try', async () => {
    const harness = acceptHarness();
    const answerAgain = loseAnswers(harness);
    for (let minutes = 0; minutes < 20; minutes += 1) {
      await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
      harness.clock.pass(60);
    }
    answerAgain();
    expect(acceptedOf(await harness.post({}, 'k')).facts.createdAt).toBe(at(1_200));
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('marks the duplicate window from the acceptance on, not from the first try', async () => {
    const harness = acceptHarness();
    const answerAgain = loseAnswers(harness);
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    answerAgain();
    harness.clock.pass(300);
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    harness.clock.pass(30);
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
  });

  it('gives no second invoice while reads do not show yet what the log refuses its append for', async () => {
    const harness = acceptHarness();
    const first = idOf(await harness.post({}, 'k'));
    harness.loseGuards();
    const { store } = harness.deps;
    harness.deps.store = { ...store, load: async () => ({ events: [], version: { kind: 'none' } }) };
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    harness.deps.store = store;
    expect(await harness.acceptances()).toHaveLength(1);
    harness.clock.pass(AFTER_LEASE);
    expect(idOf(await harness.post({}, 'k'))).toBe(first);
  });

  it('tells no refusal while the append of an earlier try may still come, and keeps the key for it', async () => {
    const harness = acceptHarness();
    const answerAgain = loseAnswers(harness);
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    harness.clock.pass(AFTER_LEASE);
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    answerAgain();
    harness.deps.company = async () => undefined;
    harness.clock.pass(AFTER_LEASE);
    expect(codeOf(await harness.post({}, 'k'))).toBe('idempotency_key_in_use');
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    harness.clock.pass(AFTER_LEASE);
    expect(codeOf(await harness.post({}, 'k'))).toBe('company.issuer_not_configured');
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('company.issuer_not_configured');
  });

  it('gives no invoice to a retry that was overtaken, once the key has served another body', async () => {
    const harness = acceptHarness();
    const answerAgain = loseAnswers(harness);
    const first = () => harness.post({ reference: 'r' }, 'k');
    await expect(first()).rejects.toBeInstanceOf(StoreUnavailable);
    answerAgain();
    harness.clock.pass(AFTER_LEASE);
    const { company } = harness.deps;
    harness.deps.company = async (companyId) => {
      harness.deps.company = async () => undefined;
      harness.clock.pass(AFTER_LEASE);
      expect(codeOf(await first())).toBe('company.issuer_not_configured');
      harness.deps.company = company;
      expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('accepted');
      return await company(companyId);
    };
    expect(codeOf(await first())).toBe('idempotency_key_in_use');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('shows the invoice of a process that died after the append, also when the rules have changed since', async () => {
    const harness = acceptHarness();
    crashOnceAt(harness, 'markDone');
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(Crash);
    harness.clock.pass(AFTER_LEASE);
    harness.deps.company = async () => undefined;
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    expect(codeOf(await harness.post({}, 'other'))).toBe('company.issuer_not_configured');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('is free at once, and leaves no mark, when the log certainly stored nothing', async () => {
    const harness = acceptHarness();
    const { store } = harness.deps;
    harness.deps.store = { ...store, append: () => Promise.reject(new EventLogUnavailable('refused')) };
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(EventLogUnavailable);
    await expect(harness.post({})).rejects.toBeInstanceOf(EventLogUnavailable);
    harness.deps.store = store;
    expect(codeOf(await harness.post({}))).toBe('accepted');
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
  });
});
