import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import type { Claim } from '../../../src/ports/idempotency-keys.js';
import { at } from '../../support/fixture/invoice.js';
import { type AcceptHarness, acceptedOf, acceptHarness, codeOf, idOf } from '../../support/harness/accept.js';

class Crash extends Error {}

const DAY = 86_400;
const AFTER_LEASE = 16;

/** Remembers every claim that the use case was given. */
const watchClaims = (world: AcceptHarness): Claim[] => {
  const claims: Claim[] = [];
  const { idempotency } = world.deps;
  world.deps.idempotency = {
    ...idempotency,
    claim: async (...args) => {
      const result = await idempotency.claim(...args);
      if (result.kind === 'claimed') claims.push(result.claim);
      return result;
    },
  };
  return claims;
};

const crashOnceAt = (world: AcceptHarness, point: 'append' | 'markDone'): void => {
  let armed = true;
  const crash = (): void => {
    if (!armed) return;
    armed = false;
    throw new Crash();
  };
  const { store, idempotency } = world.deps;
  if (point === 'append') {
    const append: typeof store.append = async (...args) => {
      crash();
      return await store.append(...args);
    };
    world.deps.store = { ...store, append };
  } else {
    const markDone: typeof idempotency.markDone = async (...args) => {
      crash();
      return await idempotency.markDone(...args);
    };
    world.deps.idempotency = { ...idempotency, markDone };
  }
};

describe('a request with an Idempotency-Key', () => {
  it('is answered with its invoice again', async () => {
    const world = acceptHarness();
    const first = await world.post({}, 'k');
    world.clock.pass(60);
    expect(acceptedOf(await world.post({}, 'k'))).toEqual(acceptedOf(first));
    expect(await world.acceptances()).toHaveLength(1);
  });

  it('is replayed although the company could not issue any more', async () => {
    const world = acceptHarness();
    const first = await world.post({}, 'k');
    const { certificate: _expired, ...rest } = world.company.current;
    world.company.current = rest;
    expect(idOf(await world.post({}, 'k'))).toBe(idOf(first));
    expect(codeOf(await world.post({}, 'other'))).toBe('company.certificate_missing');
  });

  it('is refused with another body', async () => {
    const world = acceptHarness();
    await world.post({}, 'k');
    expect(codeOf(await world.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    expect(await world.acceptances()).toHaveLength(1);
  });

  it('belongs to its company and mode', async () => {
    const world = acceptHarness();
    const ids = [
      idOf(await world.post({}, 'k')),
      idOf(await world.post({}, 'k', { mode: 'test' })),
      idOf(await world.post({}, 'k', { companyId: '98765432000198' })),
    ];
    expect(new Set(ids).size).toBe(3);
  });

  it('is free again after a refusal by the rules', async () => {
    const world = acceptHarness();
    expect(codeOf(await world.post({ cnae: '9999999' }, 'k'))).toBe('nfse.cnae_not_allowed');
    expect(codeOf(await world.post({}, 'k'))).toBe('accepted');
  });

  it('is free again after a refusal behind the claim', async () => {
    const world = acceptHarness();
    await world.post({ reference: 'r' });
    expect(codeOf(await world.post({ reference: 'r' }, 'k'))).toBe('nfse.reference_in_use');
    expect(codeOf(await world.post({ amountInCents: 5 }, 'k'))).toBe('accepted');
  });

  it('gives a new invoice after 24 hours, also when the guards were lost meanwhile', async () => {
    const world = acceptHarness();
    const first = idOf(await world.post({}, 'k'));
    world.clock.pass(DAY - 1);
    expect(idOf(await world.post({}, 'k'))).toBe(first);
    world.clock.pass(1);
    const second = idOf(await world.post({}, 'k'));
    expect(second).not.toBe(first);
    world.loseGuards();
    expect(idOf(await world.post({}, 'k'))).toBe(second);
    expect(await world.acceptances()).toHaveLength(2);
  });

  it('never gives two invoices, not even when the guards are lost', async () => {
    const world = acceptHarness();
    const first = idOf(await world.post({}, 'k'));
    world.loseGuards();
    expect(idOf(await world.post({}, 'k'))).toBe(first);
    world.loseGuards();
    expect(codeOf(await world.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    expect(await world.acceptances()).toHaveLength(1);
  });

  it.each(['append', 'markDone'] as const)('resumes what a process left that died at %s', async (point) => {
    const world = acceptHarness();
    const claims = watchClaims(world);
    crashOnceAt(world, point);
    await expect(world.post({}, 'k')).rejects.toBeInstanceOf(Crash);
    expect(codeOf(await world.post({}, 'k'))).toBe('idempotency_key_in_use');
    world.clock.pass(AFTER_LEASE);
    const resumed = acceptedOf(await world.post({}, 'k'));
    const [event, ...others] = await world.acceptances();
    expect(others).toEqual([]);
    expect(new Set(claims.map(({ commandId }) => commandId))).toEqual(new Set([event?.metadata.commandId]));
    expect(resumed.facts.createdAt).toBe(at(0));
    expect(idOf(await world.post({}, 'k'))).toBe(resumed.facts.invoiceId);
  });

  it('stays claimed when nobody knows what was stored, and is resumed with the same command', async () => {
    const world = acceptHarness();
    const { store } = world.deps;
    world.deps.store = { ...store, append: () => Promise.reject(new StoreUnavailable('unknown')) };
    await expect(world.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    world.deps.store = store;
    expect(codeOf(await world.post({}, 'k'))).toBe('idempotency_key_in_use');
    expect(codeOf(await world.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    world.clock.pass(AFTER_LEASE);
    expect(codeOf(await world.post({}, 'k'))).toBe('accepted');
    expect(await world.acceptances()).toHaveLength(1);
  });

  it('shows the invoice of a process that died after the append, also when the rules have changed since', async () => {
    const world = acceptHarness();
    crashOnceAt(world, 'markDone');
    await expect(world.post({}, 'k')).rejects.toBeInstanceOf(Crash);
    world.clock.pass(AFTER_LEASE);
    world.deps.company = async () => undefined;
    expect(codeOf(await world.post({}, 'k'))).toBe('accepted');
    expect(codeOf(await world.post({}, 'other'))).toBe('company.issuer_not_configured');
    expect(await world.acceptances()).toHaveLength(1);
  });

  it('is free at once, and leaves no mark, when the log certainly stored nothing', async () => {
    const world = acceptHarness();
    const { store } = world.deps;
    world.deps.store = { ...store, append: () => Promise.reject(new EventLogUnavailable('refused')) };
    await expect(world.post({}, 'k')).rejects.toBeInstanceOf(EventLogUnavailable);
    await expect(world.post({})).rejects.toBeInstanceOf(EventLogUnavailable);
    world.deps.store = store;
    expect(codeOf(await world.post({}))).toBe('accepted');
    expect(codeOf(await world.post({}, 'k'))).toBe('accepted');
  });
});
