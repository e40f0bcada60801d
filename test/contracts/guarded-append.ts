import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/domain/common/time.js';
import type { DuplicateWindow } from '../../src/ports/duplicate-window.js';
import type { EventLog, GuardedAppend } from '../../src/ports/event-log.js';
import type { Claim, IdempotencyKeys } from '../../src/ports/idempotency-keys.js';
import type { KeyedGuards } from '../../src/ports/keyed-guards.js';
import { chained, freshStream, NONE } from '../support/harness/event-log.js';
import { knownAs } from '../support/harness/event-store.js';

/** A log and the guards of the same database. */
type GuardedLog = {
  log: EventLog & { appendGuarded?: GuardedAppend };
  idempotency: IdempotencyKeys;
  duplicates: DuplicateWindow;
};

export const NOW = '2026-11-21T12:00:00.000Z';
const later = (seconds: number): string => addSeconds(NOW, seconds);

export const claimAt = (acceptedAt: string): Claim => ({
  leaseToken: randomUUID(),
  commandId: randomUUID(),
  acceptedAt,
});

/** The guards of a request that nobody has made before. */
export const freshGuards = (part: Partial<KeyedGuards> = {}): KeyedGuards => ({
  owner: { mode: 'live', companyId: '12345678000195', keyHash: randomUUID() },
  bodyHash: 'body',
  claim: claimAt(NOW),
  invoiceId: randomUUID(),
  fingerprints: knownAs(randomUUID()),
  ...part,
});

/** The contract of a log that appends together with the guards; call it inside a `describe`. */
export const guardedAppendContract = (database: () => GuardedLog): void => {
  const append: GuardedAppend = (...given) => {
    const { appendGuarded } = database().log;
    if (appendGuarded === undefined) throw new Error('the log does not append with guards');
    return appendGuarded(...given);
  };
  const accept = (guards: KeyedGuards, stream = freshStream()): Promise<boolean> =>
    append(stream, chained(stream, 0), guards);
  const stateOf = ({ owner, bodyHash }: KeyedGuards) =>
    database().idempotency.claim(owner, bodyHash, claimAt(later(1)), later(1));
  const markOf = ({ fingerprints }: KeyedGuards) =>
    database().duplicates.place(fingerprints, { stream: 'nfseLive-other', at: later(1) }, later(-59));

  describe('an append with guards', () => {
    it('stores the event, the key with its invoice, and the mark under every fingerprint', async () => {
      const stream = freshStream();
      const [today, yesterday] = [randomUUID(), randomUUID()];
      const guards = freshGuards({ fingerprints: knownAs(today, yesterday) });
      const event = chained(stream, 0);
      expect(await database().idempotency.isFinished(guards.owner, NOW)).toBe(false);
      expect(await append(stream, event, guards)).toBe(true);
      expect(await database().log.read(stream)).toMatchObject([{ ...event, revision: 0 }]);
      expect(await database().idempotency.isFinished(guards.owner, NOW)).toBe(true);
      expect(await database().idempotency.isFinished(guards.owner, later(86_400))).toBe(false);
      expect(await stateOf(guards)).toEqual({ kind: 'done', invoiceId: guards.invoiceId });
      for (const one of [today, yesterday])
        expect(await markOf({ ...guards, fingerprints: knownAs(one) })).toEqual({ stream, at: NOW });
    });

    it('replaces a mark, as every keyed request does', async () => {
      const guards = freshGuards();
      await database().duplicates.place(guards.fingerprints, { stream: 'nfseLive-before', at: NOW }, null);
      const stream = freshStream();
      expect(await accept(guards, stream)).toBe(true);
      expect(await markOf(guards)).toEqual({ stream, at: NOW });
    });

    it.each([
      ['is claimed', async (held: KeyedGuards) => void (await stateOf(held))],
      ['has an invoice', async (held: KeyedGuards) => void (await accept(held))],
    ])('stores nothing when the key %s', async (_how, hold) => {
      const held = freshGuards();
      await hold(held);
      const before = await stateOf(held);
      const [stream, fingerprints] = [freshStream(), knownAs(randomUUID())];
      for (const at of [later(1), later(100_000)]) {
        const again = freshGuards({ owner: held.owner, claim: claimAt(at), fingerprints });
        expect(await accept(again, stream)).toBe(false);
      }
      expect(await database().log.lastEvent(stream)).toBeNull();
      expect(await stateOf(held)).toEqual(before);
      expect(await markOf(freshGuards({ fingerprints }))).toBeUndefined();
    });

    it('stores nothing under a key that was released meanwhile, which anybody may claim', async () => {
      const refused = freshGuards();
      const { owner, claim } = refused;
      await database().idempotency.claim(owner, 'refused body', claim, NOW);
      await database().idempotency.release(owner, claim.leaseToken, NOW);
      const stream = freshStream();
      expect(await accept(freshGuards({ owner }), stream)).toBe(false);
      expect(await database().log.lastEvent(stream)).toBeNull();
      const behind = addSeconds(NOW, -1);
      const fresh = claimAt(behind);
      expect(await database().idempotency.claim(owner, 'corrected body', fresh, behind)).toEqual({
        kind: 'claimed',
        claim: fresh,
      });
    });

    it('stores nothing when the stream has an event, and leaves the key free', async () => {
      const stream = freshStream();
      await database().log.append(stream, NONE, [chained(stream, 0)]);
      const guards = freshGuards();
      expect(await accept(guards, stream)).toBe(false);
      expect(await database().log.read(stream)).toHaveLength(1);
      expect(await markOf(guards)).toBeUndefined();
      expect(await stateOf(guards)).toMatchObject({ kind: 'claimed' });
    });

    it('gives a key to exactly one of 50 at once', async () => {
      const { owner } = freshGuards();
      const streams = Array.from({ length: 50 }, freshStream);
      const stored = await Promise.all(streams.map((stream) => accept(freshGuards({ owner }), stream)));
      expect(stored.filter((one) => one)).toHaveLength(1);
      const last = await Promise.all(streams.map((stream) => database().log.lastEvent(stream)));
      expect(last.map((event) => event?.revision === 0)).toEqual(stored);
    });

    it('gives a stream to exactly one of 50 at once, and leaves the keys of the others free', async () => {
      const stream = freshStream();
      const all = Array.from({ length: 50 }, () => freshGuards());
      const stored = await Promise.all(all.map((guards) => accept(guards, stream)));
      expect(stored.filter((one) => one)).toHaveLength(1);
      expect(await database().log.read(stream)).toHaveLength(1);
      const states = await Promise.all(all.map(stateOf));
      expect(states.map(({ kind }) => kind === 'done')).toEqual(stored);
    });

    it('and a claim give a key to one of them, whoever comes first', async () => {
      for (let round = 0; round < 10; round += 1) {
        const guards = freshGuards();
        const [stream, fresh] = [freshStream(), claimAt(NOW)];
        const [stored, claimed] = await Promise.all([
          accept(guards, stream),
          database().idempotency.claim(guards.owner, guards.bodyHash, fresh, NOW),
        ]);
        expect(claimed).toEqual(
          stored ? { kind: 'done', invoiceId: guards.invoiceId } : { kind: 'claimed', claim: fresh },
        );
        expect((await database().log.lastEvent(stream))?.revision).toBe(stored ? 0 : undefined);
      }
    });

    it('goes together with other appends, each with its own result', async () => {
      const { log } = database();
      const known = freshGuards();
      await accept(known);
      const [begun, used] = [freshStream(), freshStream()];
      for (const stream of [begun, used]) await log.append(stream, NONE, [chained(stream, 0)]);
      const plain = freshStream();
      const results = await Promise.all([
        accept(freshGuards()),
        log.append(plain, NONE, [chained(plain, 0), chained(plain, 1)]),
        accept(freshGuards({ owner: known.owner })),
        log.append(begun, { kind: 'exact', revision: 0 }, [chained(begun, 1)]),
        accept(freshGuards(), used),
        log.append(begun, { kind: 'exact', revision: 7 }, [chained(begun, 8)]),
        accept(freshGuards()),
      ]);
      expect(results).toEqual([
        true,
        { ok: true, revision: 1 },
        false,
        { ok: true, revision: 1 },
        false,
        { ok: false, actual: 1 },
        true,
      ]);
      expect((await log.read(plain)).map(({ revision }) => revision)).toEqual([0, 1]);
    });
  });
};
