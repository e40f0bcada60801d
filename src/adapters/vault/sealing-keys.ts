import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, epochMs, type Instant, type UtcDay, utcDay } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import type { GuardKey, GuardKeys } from '../../ports/guard-keys.js';
import { isWrongKindOfKey, SealedTextChanged, type SealingKeys } from '../../ports/sealing-keys.js';
import { type DayKeys, dayKeys } from './day-keys.js';
import type { Keyring } from './keyring.js';
import { deriveKey, type MasterKey, masterKeyId } from './master-key.js';

type SealingKeysOptions = { keyring: Keyring; db: pg.Pool; clock: Clock };

export type VaultSealingKeys = SealingKeys & {
  /** The keys of the guards, from the same keyring and the same cache of day keys. */
  guards: GuardKeys;
  /** Destroys the keys of the test days before this one, which erases what they sealed, in backups too. Returns how many. */
  destroyDayKeys(olderThanDay: UtcDay): Promise<number>;
};

const REMEMBERED_KEYS = 10_000;
/**
 * Live keys are derived from the master key and the stream's name; test keys are rows of the database
 * (docs/architecture.md#sealing-and-hash-chain).
 */
export const createSealingKeys = ({ keyring, db, clock }: SealingKeysOptions): VaultSealingKeys => {
  const days = dayKeys(db, keyring, clock);
  const streamKeys = new LRUCache<string, Buffer>({ max: REMEMBERED_KEYS });

  const streamKey = ({ generation, key }: MasterKey, stream: StreamName): Buffer => {
    const name = `${generation}/${stream}`;
    const known = streamKeys.get(name) ?? deriveKey(key, `seal|${stream}`);
    streamKeys.set(name, known);
    return known;
  };

  return {
    forSealing: async (mode, stream, at) => {
      if (mode === 'live') {
        const master = keyring.sealing();
        return { generation: master.generation, key: streamKey(master, stream) };
      }
      const kept = await days.find(utcDay(at));
      const day = kept === undefined ? sealingDay(at, clock.now()) : utcDay(at);
      const key = kept ?? (await days.ensure(day));
      return { generation: `t${day}.${derived(key).id}`, key };
    },
    forOpening: async (generation, stream) => {
      // Otherwise a live field under the name of a destroyed day key would count as erased.
      if (isWrongKindOfKey(generation, stream)) throw new SealedTextChanged('it is sealed under the wrong kind of key');
      const [, day, keyId] = TEST_GENERATION.exec(generation) ?? [];
      if (day !== undefined) return keyWithId(await days.find(day), keyId);
      const master = await keyring.ofGeneration(generation);
      return master && streamKey(master, stream);
    },
    guards: createGuardKeys(keyring, days),
    destroyDayKeys: (olderThanDay) => days.destroyBefore(olderThanDay),
  };
};

/** Text sealed by the first versions lacks the id of its key. */
const TEST_GENERATION = /^t(\d{4}-\d{2}-\d{2})(?:\.([0-9a-f]{16}))?$/;

/**
 * Undefined for a key with another id: since a database was lost, the name belongs to another key. What the lost key sealed counts as erased, and
 * hashes under it must not be compared.
 */
const keyWithId = (key: Buffer | undefined, keyId: string | undefined): Buffer | undefined =>
  key === undefined || keyId === undefined || derived(key).id === keyId ? key : undefined;

/** A day long past may have lost its key; a new key of that day would make older texts look changed. So today's key seals instead. */
const sealingDay = (at: Instant, now: Instant): UtcDay =>
  utcDay(at) < utcDay(addSeconds(now, -DAY_SECONDS)) ? utcDay(now) : utcDay(at);

/** Greatest difference between the clocks and keyrings of two processes; each reads its keyring again every second. */
const MARGIN_SECONDS = 60;

/**
 * The keys of the guards' hashes (ADR 32): one of each generation of the master key and of each test day. Every process derives them, and none is
 * stored.
 */
const createGuardKeys = (keyring: Keyring, days: DayKeys): GuardKeys => ({
  inUse: async (mode, at, seconds) => {
    if (mode === 'live') {
      const [newest, ...before] = keyring.recentSealingKeys(seconds + MARGIN_SECONDS);
      return [liveKey(newest), ...before.map(liveKey)];
    }
    const own = utcDay(at);
    const first = guardKey(`t${own}`, await days.ensure(own));
    if (isFarFromMidnight(own, at, seconds + MARGIN_SECONDS)) return [first];
    const ahead = utcDay(addSeconds(at, MARGIN_SECONDS));
    // A day that begins within the margin gets its key now, because a process whose clock is ahead already hashes with it.
    const next = ahead === own ? [] : [guardKey(`t${ahead}`, await days.ensure(ahead))];
    const earlier = await Promise.all(
      daysBetween(addSeconds(at, -seconds - MARGIN_SECONDS), own).map(async (day) => {
        const key = await days.find(day);
        return key === undefined ? [] : [guardKey(`t${day}`, key)];
      }),
    );
    return [first, ...next, ...earlier.flat()];
  },
  ofTag: async (tag) => {
    const { day, generation, keyId } = TAG.exec(tag)?.groups ?? {};
    if (keyId === undefined) return undefined;
    const source = day === undefined ? (await keyring.ofGeneration(generation ?? ''))?.key : await days.find(day);
    const key = keyWithId(source, keyId);
    return key && derived(key).guard;
  },
});

const TAG = /^(?:t(?<day>\d{4}-\d{2}-\d{2})|(?<generation>m[1-9]\d{0,5}))\.(?<keyId>[0-9a-f]{16})$/;

const liveKey = ({ generation, key }: MasterKey): GuardKey => guardKey(generation, key);

const guardKey = (name: string, key: Buffer): GuardKey => {
  const { id, guard } = derived(key);
  return { tag: `${name}.${id}`, key: guard };
};

/**
 * What is derived from a key, by the buffer of the key: to derive an id costs as much as sealing. The keyring and the day keys return the same buffers,
 * and an entry goes when its buffer does.
 */
const known = new WeakMap<Buffer, { id: string; guard: Buffer }>();

const derived = (key: Buffer): { id: string; guard: Buffer } => {
  const found = known.get(key) ?? { id: masterKeyId(key), guard: deriveKey(key, 'guard') };
  known.set(key, found);
  return found;
};

/** Whether no other day is nearer than these seconds. */
const isFarFromMidnight = (day: UtcDay, at: Instant, seconds: number): boolean => {
  const sinceMidnight = (epochMs(at) - epochMs(`${day}T00:00:00.000Z`)) / 1_000;
  return sinceMidnight > seconds && sinceMidnight < DAY_SECONDS - seconds;
};

/** The days from that of `from` up to the day before `to`; newest first. */
const daysBetween = (from: Instant, to: UtcDay): readonly UtcDay[] => {
  const days: UtcDay[] = [];
  for (let day = before(to); day >= utcDay(from); day = before(day)) days.push(day);
  return days;
};

const before = (day: UtcDay): UtcDay => utcDay(addSeconds(`${day}T00:00:00.000Z`, -1));
