import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { giveUpGeneration } from '../../../src/adapters/vault/give-up.js';
import type { Keyring } from '../../../src/adapters/vault/keyring.js';
import type { MasterKey } from '../../../src/adapters/vault/master-key.js';
import { rotateMasterKey } from '../../../src/adapters/vault/rotation.js';
import { createSealingKeys } from '../../../src/adapters/vault/sealing-keys.js';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { KeyOwner } from '../../../src/ports/idempotency-keys.js';
import { keyringOf } from '../../support/harness/vault.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const m1 = { generation: 'm1', key: Buffer.alloc(32, 7) };
const m2 = { generation: 'm2', key: Buffer.alloc(32, 9) };
const m3 = { generation: 'm3', key: Buffer.alloc(32, 11) };
const NOON = '2026-11-21T12:00:00.000Z';
const MIDNIGHT = '2026-11-22T00:00:00.000Z';
const WINDOW = 60;
const owner = (mode: 'live' | 'test'): KeyOwner => ({ mode, companyId: '12345678000195', keyHash: 'k' });

describeWithPostgres('the keys of the guards', () => {
  let database: FreshDatabase;
  let file: MasterKey[];
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await database.admin.query('truncate vault_day_keys, vault_certificates, vault_master_keys');
    file = [m1];
  });
  afterAll(() => database.close());

  /** One process, with its own clock and keyring. */
  const start = async (at: Instant, keys: readonly MasterKey[] = file) => {
    const clock = { at, now: () => clock.at };
    const keyring = await keyringOf(keys, { db: database.pool, clock });
    const sealing = createSealingKeys({ keyring, db: database.pool, clock });
    const hashes = guardHashes(sealing.guards);
    const known = (mode: 'live' | 'test') => hashes.fingerprints(mode, 'plain', clock.at, WINDOW);
    const body = (mode: 'live' | 'test') => hashes.bodyHash(owner(mode), 'plain', clock.at);
    const compare = (stored: string, mode: 'live' | 'test' = 'live') =>
      hashes.compareBody(stored, owner(mode), 'plain');
    return { clock, keyring, sealing, known, body, compare };
  };
  type Process = Awaited<ReturnType<typeof start>>;
  const rotate = (keyring: Keyring, clock: Process['clock']) =>
    rotateMasterKey({ db: database.pool, keyring, clock }, 'support:ana', () => undefined);
  /** True when both processes place a mark under a common key, so that each refuses a duplicate of the other's request. */
  const meet = async (mode: 'live' | 'test', one: Process, other: Process): Promise<boolean> => {
    const [first, second] = [await one.known(mode), await other.known(mode)];
    return first.placed.some((fingerprint) => second.placed.includes(fingerprint));
  };

  it('are one for a quiet day, and neither hash says its text without it', async () => {
    const one = await start(NOON);
    for (const mode of ['live', 'test'] as const) {
      const { placed } = await one.known(mode);
      expect(placed).toHaveLength(1);
      expect(placed[0]).toMatch(/^hmac:1:(m1|t2026-11-21)\.[0-9a-f]{16}:[\w-]{43}$/);
      expect(await one.body(mode)).not.toBe(placed[0]);
      expect(await one.compare(await one.body(mode), mode)).toBe('same');
    }
    expect((await one.known('live')).placed).not.toEqual((await one.known('test')).placed);
  });

  it('are the same after a restart, and for live after the loss of the database', async () => {
    const before = await start(NOON);
    const [live, test] = [await before.body('live'), await before.body('test')];
    const restarted = await start(addSeconds(NOON, 86_000));
    expect([await restarted.compare(live), await restarted.compare(test, 'test')]).toEqual(['same', 'same']);
    await database.admin.query('truncate vault_day_keys, vault_certificates, vault_master_keys');
    const over = await start(addSeconds(NOON, 30));
    expect((await over.known('live')).placed).toEqual((await before.known('live')).placed);
    // The day has another key under its name, so the bodies cannot be compared, and the request stays refused.
    await over.body('test');
    expect(await over.compare(test, 'test')).toBe('unknown');
  });

  it('let both sides of a rotation meet, also a process that has not heard of it', async () => {
    const behind = await start(NOON, [m1]);
    const ahead = await start(NOON);
    const before = await behind.body('live');
    file.push(m2);
    await rotate(ahead.keyring, ahead.clock);
    for (const seconds of [0, 1, 59]) {
      ahead.clock.at = addSeconds(NOON, seconds);
      expect((await ahead.known('live')).placed[0]).toMatch(/^hmac:1:m2\./);
      expect(await meet('live', behind, ahead)).toBe(true);
    }
    expect(await ahead.compare(before)).toBe('same');
    ahead.clock.at = addSeconds(NOON, 180);
    expect((await ahead.known('live')).placed).toHaveLength(1);
    ahead.clock.at = addSeconds(NOON, 86_399);
    expect(await ahead.compare(before)).toBe('same');
    expect(await (await start(ahead.clock.at)).compare(before)).toBe('same');
  });

  it('are compared by a process whose key file gains the line only when it is asked', async () => {
    const behind = await start(NOON);
    file.push(m2);
    const ahead = await start(NOON);
    await rotate(ahead.keyring, ahead.clock);
    expect(await behind.compare(await ahead.body('live'))).toBe('same');
  });

  it('are all in use for a while after two rotations within the window', async () => {
    file.push(m2);
    const one = await start(NOON, [m1]);
    const process = await start(NOON);
    await rotate(process.keyring, process.clock);
    file.push(m3);
    process.clock.at = addSeconds(NOON, 20);
    await rotate(process.keyring, process.clock);
    process.clock.at = addSeconds(NOON, 50);
    expect(await meet('live', one, process)).toBe(true);
  });

  it('are gone with a generation that was given up: what they hashed is of nobody', async () => {
    const before = await (await start(NOON)).body('live');
    const given = { db: database.pool, keys: [m2] as const, file: 'master.key', clock: { now: () => NOON } };
    await giveUpGeneration('m1', 'support:ana', { ...given, record: async () => undefined });
    const after = await start(NOON, [m2]);
    expect(await after.compare(before)).toBe('unknown');
    expect(await after.compare(await after.body('live'))).toBe('same');
  });

  it.each([
    [-1, 1],
    [-59, 0.5],
    [-0.001, 59.998],
    [0, -60],
    [30, -29],
    [90, 31],
  ])('let test requests meet on both sides of midnight: %s s and %s s from it', async (first, second) => {
    const one = await start(addSeconds(MIDNIGHT, first));
    const other = await start(addSeconds(MIDNIGHT, second));
    expect(await meet('test', one, other)).toBe(true);
    expect(await meet('test', other, one)).toBe(true);
    expect(await other.compare(await one.body('test'), 'test')).toBe('same');
  });

  it('know a test body for its 24 hours, and never again once its day is destroyed', async () => {
    const process = await start(addSeconds(MIDNIGHT, -5));
    const stored = await process.body('test');
    process.clock.at = addSeconds(MIDNIGHT, 86_390);
    expect(await process.body('test')).not.toBe(stored);
    expect(await process.compare(stored, 'test')).toBe('same');
    await process.sealing.destroyDayKeys('2026-11-22');
    expect(await process.compare(stored, 'test')).toBe('unknown');
  });

  it('say of a plain hash of before whether it is of this body, and of other texts that it is not', async () => {
    const { compare } = await start(NOON);
    expect(await compare('plain')).toBe('same');
    expect(await compare('other')).toBe('other');
    for (const other of ['hmac:1:', 'hmac:1:m1:x', 'hmac:1:t2026-11-21.0123456789abcdef:x', 'hmac:1:?:x'])
      expect(await compare(other)).toBe('unknown');
  });
});
