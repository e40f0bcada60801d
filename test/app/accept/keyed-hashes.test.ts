import { describe, expect, it } from 'vitest';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { bodyHashOf, fingerprintOf, invoiceIdOfReference, sha256Hex } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, publicInvoiceId } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { GuardKey } from '../../../src/ports/guard-keys.js';
import { UNKNOWN_BODY } from '../../../src/ports/idempotency-keys.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { imported, T0 } from '../../support/fixture/invoice.js';
import { type AcceptHarness, acceptHarness, arrangements, codeOf, idOf } from '../../support/harness/accept.js';
import { appendTo, fixedKeys, knownAs } from '../../support/harness/event-store.js';

const keyNamed = (tag: string): GuardKey => ({ tag, key: Buffer.alloc(32, tag) });
const CHANGE = addSeconds(T0, 10);

/** From `CHANGE` on another key hashes, as after midnight or a rotation; `lost`: the first key is lost then. */
const changeKeys = (harness: AcceptHarness, { lost = false } = {}): void => {
  const first = keyNamed('first');
  const second = keyNamed('second');
  harness.deps.hashes = guardHashes({
    inUse: async (_mode, at: Instant) => {
      if (at < CHANGE) return [first];
      return lost ? [second] : [second, first];
    },
    ofTag: async (tag) => (lost && tag === 'first' && harness.clock.now() >= CHANGE ? undefined : keyNamed(tag).key),
  });
};

const PLAIN = {
  body: bodyHashOf({ amountInCents: 10_000, description: 'Serviço' }),
  fingerprint: fingerprintOf('live', DEMO_CNPJ, 10_000, 'Serviço'),
};

describe.each(arrangements)('what is kept of a request%s', (_where, open) => {
  it('is hashed under a key, in the event and in the guards alike, and its plain hash stands nowhere', async () => {
    const harness = open();
    await harness.post({}, 'k');
    const [event] = await harness.acceptances();
    const kept = JSON.stringify([event?.data, harness.guards.contents()]);
    for (const plain of Object.values(PLAIN)) expect(kept).not.toContain(plain);
    expect(event?.data.fingerprint).toMatch(/^hmac:1:/);
    expect(event?.data.idempotency).toEqual({
      keyHash: sha256Hex('k'),
      bodyHash: harness.guards.contents().keys[0]?.bodyHash,
    });
    expect(event?.metadata.schemaVersion).toBe('2');
  });
});

describe.each(arrangements)('when another key hashes from now on%s', (_where, open) => {
  it('the same key and body give the same invoice to the end of its 24 hours, with and without the guards', async () => {
    const harness = open();
    changeKeys(harness);
    const first = idOf(await harness.post({}, 'k'));
    for (const seconds of [20, 86_399]) {
      harness.clock.moveTo(addSeconds(T0, seconds));
      expect(idOf(await harness.post({}, 'k'))).toBe(first);
      expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    }
    harness.loseGuards();
    expect(idOf(await harness.post({}, 'k'))).toBe(first);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('a twin is refused to the end of its 60 seconds, and not longer', async () => {
    const harness = open();
    changeKeys(harness);
    await harness.post();
    for (const seconds of [9, 10, 59]) {
      harness.clock.moveTo(addSeconds(T0, seconds));
      expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    }
    harness.clock.moveTo(addSeconds(T0, 60));
    expect(codeOf(await harness.post())).toBe('accepted');
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
  });

  it('requests of both sides at once give one invoice', async () => {
    const harness = open();
    changeKeys(harness);
    const before = Array.from({ length: 20 }, () => harness.post());
    harness.clock.moveTo(CHANGE);
    const after = Array.from({ length: 20 }, () => harness.post());
    const results = await Promise.all([...before, ...after]);
    expect(results.filter((result) => codeOf(result) === 'accepted')).toHaveLength(1);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('what was left by a process that died is resumed, and counts from then on', async () => {
    const harness = open();
    changeKeys(harness);
    const { store } = harness.deps;
    harness.deps.store = { load: store.load, append: () => Promise.reject(new Error('died')) };
    await expect(harness.post({}, 'k')).rejects.toThrow('died');
    harness.deps.store = store;
    harness.clock.moveTo(addSeconds(T0, 30));
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    const [event] = await harness.acceptances();
    expect(event?.data.acceptedAt).toBe(addSeconds(T0, 30));
  });

  it('and the one of before is gone: refused, with the invoice that it gave, and never a second one', async () => {
    const harness = open();
    changeKeys(harness, { lost: true });
    const first = idOf(await harness.post({}, 'k'));
    const referenced = idOf(await harness.post({ reference: 'r', description: 'x' }, 'other'));
    harness.clock.moveTo(addSeconds(T0, 20));
    const refused = (id: string) => ({
      refused: { code: 'idempotency_key_reuse', message: expect.stringContaining(publicInvoiceId(id)) },
    });
    expect(await harness.post({}, 'k')).toEqual(refused(first));
    harness.loseGuards();
    expect(await harness.post({}, 'k')).toEqual(refused(first));
    expect(await harness.post({ reference: 'r', description: 'x' }, 'other')).toEqual(refused(referenced));
    expect(await harness.acceptances()).toHaveLength(2);
  });
});

it.each(arrangements)(
  'a key that an import left to an invoice that is not there is refused without that invoice%s',
  async (_where, open) => {
    const harness = open();
    harness.deps.hashes = guardHashes({ inUse: async () => [keyNamed('first')], ofTag: async () => undefined });
    const owner = { mode: 'live', companyId: DEMO_CNPJ, keyHash: sha256Hex('k') } as const;
    const invoiceId = invoiceIdOfReference('live', DEMO_CNPJ, 'r');
    const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
    const claim = { leaseToken: '', commandId: '', acceptedAt: T0 };
    const key = { owner, bodyHash: UNKNOWN_BODY, claim, invoiceId, fingerprints: knownAs('other') };
    harness.guards.storeFinished(stream, key);
    const refused = async () => {
      const result = await harness.post({}, 'k');
      expect(codeOf(result)).toBe('idempotency_key_reuse');
      return JSON.stringify(result);
    };
    expect(await refused()).not.toContain('nfse_');
    await appendTo(harness.deps.store, stream, [imported({ companyId: DEMO_CNPJ, invoiceId })], T0);
    expect(await refused()).toContain(publicInvoiceId(invoiceId));
    expect(await harness.acceptances()).toHaveLength(0);
  },
);

describe.each(arrangements)('what was accepted before hashes had a key%s', (_where, open) => {
  /** Hashes as the previous version wrote them, in the log and in the guards. */
  const acceptedBefore = async (): Promise<AcceptHarness> => {
    const harness = open();
    const { hashes, idempotency, duplicates } = harness.deps;
    harness.deps.hashes = {
      ...hashes,
      bodyHash: async (_owner, plain) => plain,
      fingerprints: async (_mode, plain) => ({ placed: [plain], legacy: plain }),
    };
    await harness.post({}, 'k');
    Object.assign(harness.deps, { hashes, idempotency, duplicates });
    return harness;
  };

  it('is known by its key and its content as long as it was promised', async () => {
    const harness = await acceptedBefore();
    const [event] = await harness.acceptances();
    expect(event?.data).toMatchObject({ fingerprint: PLAIN.fingerprint, idempotency: { bodyHash: PLAIN.body } });
    harness.clock.pass(59);
    expect(codeOf(await harness.post())).toBe('duplicate_suspected');
    expect(idOf(await harness.post({}, 'k'))).toBe(event?.data.invoiceId);
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    harness.clock.pass(1);
    expect(codeOf(await harness.post())).toBe('accepted');
    harness.clock.pass(86_339);
    expect(idOf(await harness.post({}, 'k'))).toBe(event?.data.invoiceId);
    harness.loseGuards();
    expect(idOf(await harness.post({}, 'k'))).toBe(event?.data.invoiceId);
  });

  it('is not a reason to keep a plain hash: a key that is used again is kept under one', async () => {
    const harness = await acceptedBefore();
    harness.clock.pass(86_400);
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    expect(harness.guards.contents().keys.map(({ bodyHash }) => bodyHash)).toEqual([expect.stringMatching(/^hmac:1:/)]);
  });
});

it('a vault that cannot be read accepts nothing and leaves nothing', async () => {
  const harness = acceptHarness();
  const { hashes } = harness.deps;
  const unreadable = guardHashes({
    inUse: () => Promise.reject(new Error('the vault is away')),
    ofTag: () => Promise.reject(new Error('the vault is away')),
  });
  harness.deps.hashes = unreadable;
  harness.deps.store = createEventStore(harness.log, fixedKeys());
  await expect(harness.post({}, 'k')).rejects.toThrow('away');
  await expect(harness.post()).rejects.toThrow('away');
  expect(harness.guards.contents()).toEqual({ keys: [], marks: [] });
  harness.deps.hashes = hashes;
  expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
});
