import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthentication, READ, WRITE } from '../../../src/http/access/authentication.js';
import { createSlidingLimit } from '../../../src/http/access/sliding-limit.js';
import type { Authenticated } from '../../../src/http/deps.js';
import { shortCache } from '../../../src/lib/short-cache.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { createHarness, START } from '../../support/harness/http.js';

const FLOOD = 100_000;
const clock = { now: () => START };

/** A well-formed key that does not exist. */
const badKey = (n: number): string => `svc_sk_test_${String(n).padStart(43, '0')}`;

const known: Authenticated = {
  keyId: 'known',
  companyId: DEMO_CNPJ,
  mode: 'test',
  scopes: ['nfse:read', 'nfse:write'],
  revoked: false,
  companyEnabled: true,
};

describe('a flood of requests that no key stands behind', () => {
  it('leaves nothing in the quotas: a log begins with a key that is known', async () => {
    const limits = { write: createSlidingLimit(60), read: createSlidingLimit(300) };
    const gate = createAuthentication({ clock, authenticate: async () => undefined }, limits);
    for (let n = 0; n < FLOOD; n += 1)
      expect(
        await gate.authenticate(`Bearer ${badKey(n)}`, n % 2 === 0 ? READ : WRITE, { requestId: 'r', hasPages: false }),
      ).toHaveProperty('refused');
    expect([limits.write.kept(), limits.read.kept()]).toEqual([0, 0]);
  });

  it('nor do known keys that may not enter', async () => {
    const limits = { write: createSlidingLimit(60), read: createSlidingLimit(300) };
    const refusals: readonly Partial<Authenticated>[] = [{ revoked: true }, { companyEnabled: false }, { scopes: [] }];
    for (const changes of refusals) {
      const gate = createAuthentication({ clock, authenticate: async () => ({ ...known, ...changes }) }, limits);
      expect(await gate.authenticate(`Bearer ${badKey(0)}`, READ, { requestId: 'r', hasPages: false })).toHaveProperty(
        'refused',
      );
    }
    expect([limits.write.kept(), limits.read.kept()]).toEqual([0, 0]);
  });

  it('leaves at most 1,000 answers in the cache of keys, and all known ones', async () => {
    const asked: string[] = [];
    const cached = shortCache(1_000, clock, async (key) => {
      asked.push(key);
      return key.startsWith('known') ? known : undefined;
    });
    const knownKeys = Array.from({ length: 500 }, (_, n) => `known ${n}`);
    for (const key of knownKeys) await cached(key);
    for (let n = 0; n < FLOOD; n += 1) await cached(badKey(n));
    asked.length = 0;
    for (const key of knownKeys) await cached(key);
    expect(asked).toEqual([]);
    // Keys in the cache are answered without a question. The newest come first, because each question replaces an old entry.
    for (let n = FLOOD - 1; n >= FLOOD - 5_000; n -= 1) await cached(badKey(n));
    expect(5_000 - asked.length).toBe(1_000);
  });

  it('bounds the known ones too', async () => {
    const asked: string[] = [];
    const cached = shortCache(1_000, clock, async (key) => {
      asked.push(key);
      return known;
    });
    for (let n = 0; n < 12_000; n += 1) await cached(`known ${n}`);
    asked.length = 0;
    for (let n = 11_999; n >= 0; n -= 1) await cached(`known ${n}`);
    expect(12_000 - asked.length).toBe(10_000);
  });

  it('reads no key from the database when its form is wrong, and all requests are reported under one route', async () => {
    const asked = new Set<string>();
    const authenticate = async (keyHash: string): Promise<undefined> => {
      asked.add(keyHash);
    };
    const harness = createHarness({ authenticate });
    for (let n = 0; n < 3_000; n += 1) {
      const headers = { authorization: `Bearer ${randomBytes(20).toString('hex')}` };
      expect((await harness.app.request(`/v1/nfse/${n}`, { headers })).status).toBe(401);
      expect((await harness.app.request(`/v1/nope/${n}`, { headers })).status).toBe(404);
    }
    expect(asked.size).toBe(0);
    expect(new Set(harness.summaries.map(({ route }) => route))).toEqual(new Set(['/v1/nfse/:id', 'unmatched']));
  });
});
