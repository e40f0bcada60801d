import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/domain/common/time.js';
import type { DuplicateMark, DuplicateWindow } from '../../src/ports/duplicate-window.js';
import type { Claim, IdempotencyKeys, KeyOwner } from '../../src/ports/idempotency-keys.js';
import { knownAs } from '../support/harness/event-store.js';

/** Both guards are opened with a time to live of 24 h and a lease of 15 s. */
type GuardsUnderTest = { idempotency: IdempotencyKeys; duplicates: DuplicateWindow };

const NOW = '2026-11-21T12:00:00.000Z';
const later = (seconds: number): string => addSeconds(NOW, seconds);
const owner = (): KeyOwner => ({ mode: 'live', companyId: '12345678000195', keyHash: randomUUID() });
const claimAt = (acceptedAt: string): Claim => ({ leaseToken: randomUUID(), commandId: randomUUID(), acceptedAt });

/** The contract of every store of idempotency keys and marks; call it inside a `describe`. */
export const guardsContract = (guards: () => GuardsUnderTest): void => {
  describe('idempotency keys', () => {
    it('gives a key to exactly one of 50 parallel claims', async () => {
      const key = owner();
      const claims = Array.from({ length: 50 }, () => claimAt(NOW));
      const results = await Promise.all(claims.map((claim) => guards().idempotency.claim(key, 'body', claim, NOW)));
      const won = results.flatMap((result) => (result.kind === 'claimed' ? [result.claim] : []));
      expect(won).toHaveLength(1);
      expect(claims).toContainEqual(won[0]);
      expect(results.filter(({ kind }) => kind === 'in_use')).toHaveLength(49);
    });

    it('gives an abandoned key to exactly one of 50 parallel retries', async () => {
      const key = owner();
      const dead = claimAt(NOW);
      await guards().idempotency.claim(key, 'body', dead, NOW);
      const retries = Array.from({ length: 50 }, () => claimAt(later(15)));
      const results = await Promise.all(
        retries.map((retry) => guards().idempotency.claim(key, 'body', retry, later(15))),
      );
      const won = results.flatMap((result) => (result.kind === 'claimed' ? [result.claim] : []));
      expect(won).toHaveLength(1);
      expect(won[0]).toMatchObject({ commandId: dead.commandId, acceptedAt: NOW });
      expect(retries.map(({ leaseToken }) => leaseToken)).toContain(won[0]?.leaseToken);
    });

    it.each([
      ['within the lease', 'body', 14.999, 'in_use'],
      ['after the lease', 'body', 15, 'free'],
      ['another body within the lease', 'other', 1, 'reuse'],
      ['another body after the lease', 'other', 16, 'reuse'],
      ['another body in the last millisecond', 'other', 86_399.999, 'reuse'],
      ['another body after 24 hours', 'other', 86_400, 'free'],
      ['the same body after 24 hours', 'body', 86_400, 'free'],
    ])('a claim without an invoice, %s', async (_case, body, seconds, kind) => {
      const key = owner();
      await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      const { kind: claimed } = await guards().idempotency.claim(key, body, claimAt(later(seconds)), later(seconds));
      expect(claimed).toBe(kind === 'free' ? 'claimed' : kind);
    });

    it.each([
      ['the same body', 'body', 1, { kind: 'done', invoiceId: 'invoice' }],
      ['the same body in the last millisecond', 'body', 86_399.999, { kind: 'done', invoiceId: 'invoice' }],
      ['another body', 'other', 1, { kind: 'reuse', bodyHash: 'body', invoiceId: 'invoice' }],
      ['after 24 hours', 'other', 86_400, { kind: 'free' }],
    ])('a finished key, %s', async (_case, body, seconds, state) => {
      const key = owner();
      const claim = claimAt(NOW);
      await guards().idempotency.claim(key, 'body', claim, NOW);
      expect(await guards().idempotency.markDone(key, claim.leaseToken, 'invoice')).toBe(true);
      const fresh = claimAt(later(seconds));
      expect(await guards().idempotency.claim(key, body, fresh, later(seconds))).toEqual(
        state.kind === 'free' ? { kind: 'claimed', claim: fresh } : state,
      );
    });

    it('is of the same body under a hash that the caller knows to be of it', async () => {
      const key = owner();
      const dead = claimAt(NOW);
      await guards().idempotency.claim(key, 'under the old key', dead, NOW);
      const ask = (seconds: number, sameBody?: string) =>
        guards().idempotency.claim(key, 'under the new key', claimAt(later(seconds)), later(seconds), sameBody);
      expect(await ask(1)).toEqual({ kind: 'reuse', bodyHash: 'under the old key' });
      expect(await ask(1, 'under the old key')).toEqual({ kind: 'in_use' });
      expect(await ask(16, 'another')).toEqual({ kind: 'reuse', bodyHash: 'under the old key' });
      const taken = await ask(16, 'under the old key');
      expect(taken).toMatchObject({ kind: 'claimed', claim: { commandId: dead.commandId, acceptedAt: NOW } });
      if (taken.kind === 'claimed') await guards().idempotency.markDone(key, taken.claim.leaseToken, 'invoice');
      expect(await ask(17, 'under the old key')).toEqual({ kind: 'done', invoiceId: 'invoice' });
      // After it is used again, the key is held under the new hash only.
      expect(await ask(86_400, 'under the old key')).toMatchObject({ kind: 'claimed' });
      expect(await ask(86_401)).toEqual({ kind: 'in_use' });
    });

    it('counts the 24 hours from the acceptance, not from the last take-over', async () => {
      const key = owner();
      await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      await guards().idempotency.claim(key, 'body', claimAt(later(80_000)), later(80_000));
      const fresh = claimAt(later(86_400));
      expect(await guards().idempotency.claim(key, 'other', fresh, later(86_400))).toEqual({
        kind: 'claimed',
        claim: fresh,
      });
    });

    it('is in use while a retry works on it, also when the 24 hours since the first try are over', async () => {
      const key = owner();
      await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      await guards().idempotency.claim(key, 'body', claimAt(later(86_395)), later(86_395));
      const ask = (seconds: number) =>
        guards().idempotency.claim(key, 'other', claimAt(later(seconds)), later(seconds));
      expect(await ask(86_401)).toEqual({ kind: 'in_use' });
      expect(await ask(86_410)).toMatchObject({ kind: 'claimed' });
    });

    it('holds the command and the instant of the retry that renewed it, and counts from then on', async () => {
      const key = owner();
      const retry = claimAt(later(20));
      await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      await guards().idempotency.claim(key, 'body', retry, later(20));
      expect(await guards().idempotency.renew(key, retry)).toBe(true);
      const next = await guards().idempotency.claim(key, 'body', claimAt(later(40)), later(40));
      expect(next).toMatchObject({ claim: { commandId: retry.commandId, acceptedAt: retry.acceptedAt } });
      const other = await guards().idempotency.claim(key, 'other', claimAt(later(86_410)), later(86_410));
      expect(other).toEqual({ kind: 'reuse', bodyHash: 'body' });
    });

    it('is renewed only under the lease, and never once it is finished', async () => {
      const key = owner();
      const [dead, taker] = [claimAt(NOW), claimAt(later(20))];
      await guards().idempotency.claim(key, 'body', dead, NOW);
      await guards().idempotency.claim(key, 'body', taker, later(20));
      expect(await guards().idempotency.renew(key, dead)).toBe(false);
      await guards().idempotency.markDone(key, taker.leaseToken, 'invoice');
      expect(await guards().idempotency.renew(key, taker)).toBe(false);
    });

    it('obeys only the holder of the lease', async () => {
      const key = owner();
      const dead = claimAt(NOW);
      const taker = claimAt(later(20));
      await guards().idempotency.claim(key, 'body', dead, NOW);
      await guards().idempotency.claim(key, 'body', taker, later(20));
      expect(await guards().idempotency.markDone(key, dead.leaseToken, 'invoice')).toBe(false);
      await guards().idempotency.release(key, dead.leaseToken, later(20));
      const early = claimAt(later(21));
      expect(await guards().idempotency.claim(key, 'body', early, later(21))).toEqual({ kind: 'in_use' });
      await guards().idempotency.release(key, taker.leaseToken, later(21));
      expect(await guards().idempotency.claim(key, 'other', early, later(21))).toEqual({
        kind: 'claimed',
        claim: early,
      });
    });

    it.each([
      ['a minute and a half', 90],
      ['half an hour', 1_800],
    ])('is free, once released, for a process whose clock is %s behind', async (_time, seconds) => {
      const key = owner();
      const refused = claimAt(NOW);
      await guards().idempotency.claim(key, 'body', refused, NOW);
      await guards().idempotency.release(key, refused.leaseToken, NOW);
      const corrected = claimAt(later(-seconds));
      expect(await guards().idempotency.claim(key, 'other', corrected, later(-seconds))).toEqual({
        kind: 'claimed',
        claim: corrected,
      });
    });

    it('never releases a finished key', async () => {
      const key = owner();
      const claim = claimAt(NOW);
      await guards().idempotency.claim(key, 'body', claim, NOW);
      await guards().idempotency.markDone(key, claim.leaseToken, 'invoice');
      await guards().idempotency.release(key, claim.leaseToken, NOW);
      const again = await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      expect(again).toEqual({ kind: 'done', invoiceId: 'invoice' });
    });

    it('keeps modes and companies apart', async () => {
      const key = owner();
      await guards().idempotency.claim(key, 'body', claimAt(NOW), NOW);
      for (const other of [
        { ...key, mode: 'test' as const },
        { ...key, companyId: '98765432000198' },
      ]) {
        expect(await guards().idempotency.claim(other, 'other', claimAt(NOW), NOW)).toMatchObject({ kind: 'claimed' });
      }
    });
  });

  describe('duplicate window', () => {
    const mark = (at = NOW): DuplicateMark => ({ stream: `nfseLive-${randomUUID()}`, at });

    it('places exactly one of 50 parallel marks and shows it to the others', async () => {
      const fingerprints = knownAs(randomUUID());
      const shared = { stream: 'nfseLive-same', at: NOW };
      const results = await Promise.all(
        Array.from({ length: 50 }, () => guards().duplicates.place(fingerprints, shared, later(-60))),
      );
      expect(results.filter((standing) => standing === undefined)).toHaveLength(1);
      expect(results.filter((standing) => standing !== undefined)).toEqual(Array.from({ length: 49 }, () => shared));
    });

    it('lets a mark stand while it is younger, and replaces it from then on', async () => {
      const fingerprints = knownAs(randomUUID());
      const [first, second] = [mark(), mark(later(59.999))];
      expect(await guards().duplicates.place(fingerprints, first, later(-60))).toBeUndefined();
      expect(await guards().duplicates.place(fingerprints, second, later(-0.001))).toEqual(first);
      expect(await guards().duplicates.place(fingerprints, mark(later(60)), NOW)).toBeUndefined();
    });

    it('places in any case when told so', async () => {
      const fingerprints = knownAs(randomUUID());
      await guards().duplicates.place(fingerprints, mark(), null);
      const keyed = mark(later(1));
      expect(await guards().duplicates.place(fingerprints, keyed, null)).toBeUndefined();
      expect(await guards().duplicates.place(fingerprints, mark(later(2)), later(-58))).toEqual(keyed);
    });

    it('is taken over once, and only as it was seen', async () => {
      const fingerprints = knownAs(randomUUID());
      const seen = mark();
      await guards().duplicates.place(fingerprints, seen, null);
      const takers = Array.from({ length: 10 }, () => mark(later(6)));
      const results = await Promise.all(
        takers.map((to) => guards().duplicates.takeOver(fingerprints, seen, to, later(-54))),
      );
      expect(results.filter((taken) => taken)).toHaveLength(1);
      expect(await guards().duplicates.takeOver(fingerprints, { ...seen, at: later(1) }, mark(), later(-60))).toBe(
        false,
      );
    });

    it('lets requests meet that have one fingerprint of several in common, whichever comes first', async () => {
      for (let round = 0; round < 10; round += 1) {
        const [yesterday, today, tomorrow] = [randomUUID(), randomUUID(), randomUUID()];
        const sides = [knownAs(today, yesterday), knownAs(yesterday, today), knownAs(today), knownAs(tomorrow, today)];
        const results = await Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            guards().duplicates.place(sides[index % 4] ?? knownAs(today), mark(), later(-60)),
          ),
        );
        expect(results.filter((standing) => standing === undefined)).toHaveLength(1);
        expect(new Set(results.map((standing) => standing?.stream)).size).toBe(2);
      }
    });

    it('leaves no mark of a refused request under any of its fingerprints', async () => {
      const [before, after] = [randomUUID(), randomUUID()];
      const standing = mark();
      await guards().duplicates.place(knownAs(before), standing, later(-60));
      expect(await guards().duplicates.place(knownAs(after, before), mark(), later(-60))).toEqual(standing);
      expect(await guards().duplicates.place(knownAs(after), mark(), later(-60))).toBeUndefined();
    });

    it('compares marks of before the keyed hashes, and places none', async () => {
      const [plain, keyed] = [randomUUID(), randomUUID()];
      const old = mark();
      await guards().duplicates.place(knownAs(plain), old, null);
      const fingerprints = { placed: [keyed], legacy: plain } as const;
      expect(await guards().duplicates.place(fingerprints, mark(), later(-60))).toEqual(old);
      expect(
        await guards().duplicates.place({ ...fingerprints, placed: [keyed, randomUUID()] }, mark(), later(-60)),
      ).toEqual(old);
      const second = mark(later(61));
      expect(await guards().duplicates.place(fingerprints, second, later(1))).toBeUndefined();
      expect(await guards().duplicates.place(fingerprints, mark(later(62)), later(2))).toEqual(second);
      expect(await guards().duplicates.place(knownAs(plain), mark(later(62)), later(2))).toBeUndefined();
    });

    it.each([
      ['one fingerprint', () => knownAs(randomUUID())],
      ['several', () => knownAs(randomUUID(), randomUUID())],
      ['a mark of before the keyed hashes', () => knownAs(randomUUID()), 'legacy'],
    ])('replaces a mark that a clock more than five minutes ahead has placed: %s', async (_what, named, legacy?) => {
      const fingerprints = named();
      const ahead = mark(later(10_800));
      const placed = legacy === undefined ? fingerprints : knownAs(fingerprints.legacy);
      await guards().duplicates.place(placed, ahead, null);
      const soon = later(10_500);
      expect(await guards().duplicates.place(fingerprints, mark(soon), later(10_440))).toEqual(ahead);
      const second = mark(later(10_499.999));
      expect(await guards().duplicates.place(fingerprints, second, later(10_439.999))).toBeUndefined();
      expect(await guards().duplicates.place(fingerprints, mark(later(10_501)), later(10_441))).toEqual(
        legacy === undefined ? second : ahead,
      );
    });

    it('takes a mark over under all its fingerprints, from one of before the keyed hashes too', async () => {
      const [plain, keyed, next] = [randomUUID(), randomUUID(), randomUUID()];
      const old = mark();
      await guards().duplicates.place(knownAs(plain), old, null);
      const fingerprints = { placed: [keyed, next], legacy: plain } as const;
      const takers = Array.from({ length: 10 }, () => mark(later(21)));
      const taken = await Promise.all(
        takers.map((to) => guards().duplicates.takeOver(fingerprints, old, to, later(-39))),
      );
      expect(taken.filter((one) => one)).toHaveLength(1);
      const winner = takers[taken.indexOf(true)];
      for (const name of [keyed, next])
        expect(await guards().duplicates.place(knownAs(name), mark(later(22)), later(-38))).toEqual(winner);
      await guards().duplicates.remove(fingerprints, winner ?? mark());
      for (const name of [keyed, next])
        expect(await guards().duplicates.place(knownAs(name), mark(later(22)), later(-38))).toBeUndefined();
    });

    it('removes only its own mark', async () => {
      const fingerprints = knownAs(randomUUID());
      const own = mark();
      await guards().duplicates.place(fingerprints, own, null);
      await guards().duplicates.remove(fingerprints, { ...own, stream: 'nfseLive-other' });
      await guards().duplicates.remove(fingerprints, { ...own, at: later(1) });
      expect(await guards().duplicates.place(fingerprints, mark(), later(-60))).toEqual(own);
      await guards().duplicates.remove(fingerprints, own);
      expect(await guards().duplicates.place(fingerprints, mark(), later(-60))).toBeUndefined();
    });
  });
};
