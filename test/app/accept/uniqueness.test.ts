import { describe, expect, it } from 'vitest';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import { type EventStore, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { bodyHashOf, fingerprintOf, invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, publicInvoiceId } from '../../../src/domain/common/ids.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { type AcceptHarness, arrangements, codeOf, idOf } from '../../support/harness/accept.js';
import { appendTo, fixedGuardKeys } from '../../support/harness/event-store.js';

const ONE_MINUTE = 60;
const orphan = { stream: invoiceStream('live', DEMO_CNPJ, '99999999-9999-4999-8999-999999999999'), at: T0 };
const plain = fingerprintOf('live', DEMO_CNPJ, 10_000, 'Serviço');
const keyed = () => guardHashes(fixedGuardKeys()).fingerprints('live', plain, T0, ONE_MINUTE);

describe.each(arrangements)('a reference%s', (_where, open) => {
  it('is taken permanently, and its holder is named', async () => {
    const harness = open();
    const first = idOf(await harness.post({ reference: 'r' }));
    harness.clock.pass(400 * 86_400);
    harness.company.current = { ...harness.company.current, ...stillValid };
    const refused = await harness.post({ reference: 'r', amountInCents: 2 });
    expect(refused).toMatchObject({ refused: { code: 'nfse.reference_in_use' } });
    expect(JSON.stringify(refused)).toContain(publicInvoiceId(first));
  });

  it('is a replay under the same key and body, also without the guards', async () => {
    const harness = open();
    const first = idOf(await harness.post({ reference: 'r' }, 'k'));
    expect(idOf(await harness.post({ reference: 'r' }, 'k'))).toBe(first);
    harness.loseGuards();
    expect(idOf(await harness.post({ reference: 'r' }, 'k'))).toBe(first);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('is reuse under the same key with another body, also without the guards', async () => {
    const harness = open();
    await harness.post({ reference: 'r' }, 'k');
    expect(codeOf(await harness.post({ reference: 'r', amountInCents: 2 }, 'k'))).toBe('idempotency_key_reuse');
    harness.loseGuards();
    expect(codeOf(await harness.post({ reference: 'r', amountInCents: 2 }, 'k'))).toBe('idempotency_key_reuse');
  });

  it('is in use under another key, and for who sends none', async () => {
    const harness = open();
    await harness.post({ reference: 'r' }, 'k');
    expect(codeOf(await harness.post({ reference: 'r' }, 'other'))).toBe('nfse.reference_in_use');
    expect(codeOf(await harness.post({ reference: 'r', amountInCents: 2 }))).toBe('nfse.reference_in_use');
  });

  it('is in use under its own key once that key is over', async () => {
    const harness = open();
    await harness.post({ reference: 'r' }, 'k');
    harness.clock.pass(86_400);
    expect(codeOf(await harness.post({ reference: 'r' }, 'k'))).toBe('nfse.reference_in_use');
  });

  it('is accepted when its request is repeated after an append of which no answer came and that stored nothing', async () => {
    const harness = open();
    const { store } = harness.deps;
    harness.deps.store = { ...store, append: () => Promise.reject(new StoreUnavailable('unknown')) };
    await expect(harness.post({ reference: 'r' })).rejects.toBeInstanceOf(StoreUnavailable);
    harness.deps.store = store;
    harness.clock.pass(5);
    expect(codeOf(await harness.post({ reference: 'r' }))).toBe('accepted');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('belongs to its company and mode', async () => {
    const harness = open();
    const ids = [
      idOf(await harness.post({ reference: 'r' })),
      idOf(await harness.post({ reference: 'r' }, undefined, test)),
    ];
    expect(new Set(ids).size).toBe(2);
  });

  it('stays taken by an imported invoice and by a deleted test invoice', async () => {
    const harness = open();
    const imported = invoiceStream('live', DEMO_CNPJ, invoiceIdOfReference('live', DEMO_CNPJ, 'imported'));
    const other = '88888888-8888-4888-8888-888888888888';
    await appendTo(
      harness.deps.store,
      imported,
      [{ type: 'ReferenceTaken', data: { invoiceId: other, takenAt: T0 } }],
      T0,
    );
    const refused = await harness.post({ reference: 'imported' });
    expect(codeOf(refused)).toBe('nfse.reference_in_use');
    expect(JSON.stringify(refused)).toContain(publicInvoiceId(other));

    const id = idOf(await harness.post({ reference: 'r' }, undefined, test));
    const deleted = { type: 'TestInvoiceDeleted' as const, data: { lastHash: 'h', deletedAt: T0 } };
    await appendTo(harness.deps.store, invoiceStream('test', DEMO_CNPJ, id), [deleted], T0);
    harness.clock.pass(ONE_MINUTE);
    expect(codeOf(await harness.post({ reference: 'r' }, undefined, test))).toBe('nfse.reference_in_use');
  });
});

describe.each(arrangements)('duplicate_suspected%s', (_where, open) => {
  it('refuses the same amount and description for 60 seconds, and not longer', async () => {
    const harness = open();
    await harness.post();
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    expect(codeOf(await harness.post({ amountInCents: 10_001 }))).toBe('accepted');
    expect(codeOf(await harness.post({ description: 'Outro' }))).toBe('accepted');
    harness.clock.pass(ONE_MINUTE - 1);
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    harness.clock.pass(1);
    expect(codeOf(await harness.post())).toBe('accepted');
  });

  it('counts keyed invoices but never refuses a keyed request', async () => {
    const harness = open();
    await harness.post({}, 'k1');
    expect(codeOf(await harness.post({}, 'k2'))).toBe('accepted');
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
  });

  it('does not prolong itself by refusing', async () => {
    const harness = open();
    await harness.post();
    harness.clock.pass(40);
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    harness.clock.pass(20);
    expect(codeOf(await harness.post())).toBe('accepted');
  });

  it('gives up a mark whose invoice never came, once its request cannot be on the way any more', async () => {
    const harness = open();
    await harness.guards.duplicates.place(await keyed(), orphan, null);
    harness.clock.moveTo(at(20));
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    harness.clock.moveTo(at(21));
    expect(codeOf(await harness.post())).toBe('accepted');
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
  });

  it('lets one of many take over an abandoned mark', async () => {
    const harness = open();
    await harness.guards.duplicates.place(await keyed(), orphan, null);
    harness.clock.moveTo(at(21));
    const results = await Promise.all(Array.from({ length: 20 }, () => harness.post()));
    expect(results.filter((result) => codeOf(result) === 'accepted')).toHaveLength(1);
  });

  it('takes an abandoned mark over with its invoice id, so that the first request can add no second invoice', async () => {
    const harness = open();
    const { store } = harness.deps;
    let thaw: () => void = () => undefined;
    const thawed = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const append: EventStore['append'] = async (...event) => {
      await thawed;
      return await store.append(...event);
    };
    harness.deps.store = { ...store, append };
    const first = harness.post();
    await expect.poll(() => harness.guards.contents().marks).not.toEqual([]);
    harness.deps.store = store;
    harness.clock.pass(21);
    expect(codeOf(await harness.post())).toBe('accepted');
    thaw();
    expect(codeOf(await first)).toBe('duplicate_suspected');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('puts an abandoned mark back when the log takes no event, and a late refusal of its request leaves later marks', async () => {
    const harness = open();
    const { store } = harness.deps;
    await harness.guards.duplicates.place(await keyed(), orphan, null);
    harness.clock.moveTo(at(25));
    harness.deps.store = { ...store, append: () => Promise.reject(new EventLogUnavailable('away')) };
    await expect(harness.post()).rejects.toThrow(EventLogUnavailable);
    expect(harness.guards.contents().marks).toEqual([orphan]);
    harness.deps.store = store;
    harness.clock.moveTo(at(26));
    expect(codeOf(await harness.post())).toBe('accepted');
    await harness.guards.duplicates.remove(await keyed(), orphan);
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    expect((await harness.acceptances()).map(({ stream }) => stream)).toEqual([orphan.stream]);
  });

  it('does not take over a mark whose id belongs to a reference, nor lend an id to a reference', async () => {
    const harness = open();
    const ofReference = {
      stream: invoiceStream('live', DEMO_CNPJ, invoiceIdOfReference('live', DEMO_CNPJ, 'r')),
      at: T0,
    };
    await harness.guards.duplicates.place(await keyed(), ofReference, null);
    harness.clock.moveTo(at(25));
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    await harness.guards.duplicates.place(await keyed(), orphan, null);
    expect(codeOf(await harness.post({ reference: 'other' }))).toBe('duplicate_suspected');
    harness.clock.moveTo(at(ONE_MINUTE));
    expect(codeOf(await harness.post({ reference: 'r' }))).toBe('accepted');
  });

  it('keeps no trace of a refused request', async () => {
    const harness = open();
    await harness.post({ reference: 'r', amountInCents: 1 });
    expect(codeOf(await harness.post({ reference: 'r' }))).toBe('nfse.reference_in_use');
    expect(codeOf(await harness.post({ cnae: '9999999', description: 'x' }))).toBe('nfse.cnae_not_allowed');
    expect(codeOf(await harness.post())).toBe('accepted');
    expect(codeOf(await harness.post({ description: 'x' }))).toBe('accepted');
  });

  it('names the invoice of a taken reference, and not another sale with the same amount and description', async () => {
    const harness = open();
    const id = idOf(await harness.post({ reference: 'r' }));
    harness.clock.pass(3_600);
    expect(codeOf(await harness.post())).toBe('accepted');
    const refused = await harness.post({ reference: 'r' });
    expect(codeOf(refused)).toBe('nfse.reference_in_use');
    expect(JSON.stringify(refused)).toContain(publicInvoiceId(id));
  });

  it('names no older invoice, whose reference a request at the same moment has', async () => {
    const harness = open();
    await harness.post({ reference: 'r' });
    harness.clock.pass(3_600);
    const { store } = harness.deps;
    let meanwhile: unknown;
    const append: EventStore['append'] = async (...args) => {
      harness.deps.store = store;
      meanwhile = await harness.post();
      return await store.append(...args);
    };
    harness.deps.store = { ...store, append };
    expect(codeOf(await harness.post({ reference: 'r' }))).toBe('nfse.reference_in_use');
    expect(meanwhile).toEqual({ refused: { code: 'duplicate_suspected' } });
  });
});

describe.each(arrangements)('a hundred requests at once%s', (_where, open) => {
  const hundred = async (harness: AcceptHarness, changes: object, key?: string) => {
    const results = await Promise.all(Array.from({ length: 100 }, () => harness.post(changes, key)));
    const accepted = results.filter((result) => codeOf(result) === 'accepted');
    const refusals = new Set(results.map(codeOf).filter((code) => code !== 'accepted'));
    return { ids: new Set(accepted.map(idOf)), accepted: accepted.length, refusals: [...refusals] };
  };

  it('with one key give one invoice', async () => {
    const harness = open();
    const { ids, refusals } = await hundred(harness, {}, 'k');
    expect(ids.size).toBe(1);
    expect(refusals.filter((code) => code !== 'idempotency_key_in_use')).toEqual([]);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('with one reference give one invoice', async () => {
    const harness = open();
    const { accepted, refusals } = await hundred(harness, { reference: 'r' });
    expect(accepted).toBe(1);
    expect(refusals.every((code) => ['nfse.reference_in_use', 'duplicate_suspected'].includes(code))).toBe(true);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('with one reference and different bodies give one invoice', async () => {
    const harness = open();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => harness.post({ reference: 'r', amountInCents: index + 1 })),
    );
    expect(results.filter((result) => codeOf(result) === 'accepted')).toHaveLength(1);
    expect(new Set(results.map(codeOf))).toEqual(new Set(['accepted', 'nfse.reference_in_use']));
  });

  it('with neither give one invoice', async () => {
    const harness = open();
    const { accepted, refusals } = await hundred(harness, {});
    expect(accepted).toBe(1);
    expect(refusals).toEqual(['duplicate_suspected']);
    expect(await harness.acceptances()).toHaveLength(1);
  });
});

describe('body hashes', () => {
  it('do not depend on the order of keys, and on nothing else less', () => {
    expect(bodyHashOf({ a: 1, b: { c: [1, 2], d: 'x' } })).toBe(bodyHashOf({ b: { d: 'x', c: [1, 2] }, a: 1 }));
    const different = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: { 0: 1 } }, { a: [['0', 1]] }, {}, []];
    expect(new Set(different.map(bodyHashOf)).size).toBe(different.length);
  });
});

const test = { mode: 'test' as const };

const stillValid = {
  certificate: {
    certificateId: 'certificate',
    notBefore: '2026-01-01T00:00:00.000Z',
    notAfter: '2036-01-01T00:00:00.000Z',
    fingerprint: 'f'.repeat(64),
  },
};
