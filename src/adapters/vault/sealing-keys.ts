import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { GuardKey, GuardKeys } from '../../ports/guard-keys.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { type DayKeys, dayKeys, type UtcDay, utcDay } from './day-keys.js';
import type { Keyring } from './keyring.js';
import { deriveKey, type MasterKey, masterKeyId } from './master-key.js';

type SealingKeysOptions = {
  keyring: Keyring;
  db: pg.Pool;
  clock: Clock;
};

export type VaultSealingKeys = SealingKeys & {
  /** The keys of the guards, from the same keyring and the same cache of day keys. */
  guards: GuardKeys;
  /** Destroys the keys of the test days before this one, which erases what they sealed, in backups too. Returns how many. */
  destroyDayKeys(olderThanDay: UtcDay): Promise<number>;
};

const REMEMBERED_KEYS = 10_000;
const DAY_SECONDS = 86_400;

/**
 * Live keys are derived from the master key and the stream's name; test keys are rows of the database
 * (docs/architecture.md#sealing-and-hash-chain).
 */
export const createSealingKeys = ({ keyring, db, clock }: SealingKeysOptions): VaultSealingKeys => {
  const days = dayKeys(db, keyring, clock);
  const derived = new LRUCache<string, Buffer>({ max: REMEMBERED_KEYS });

  const liveKey = ({ generation, key }: MasterKey, stream: StreamName): Buffer => {
    const name = `${generation}/${stream}`;
    const known = derived.get(name) ?? deriveKey(key, `seal|${stream}`);
    derived.set(name, known);
    return known;
  };

  return {
    forSealing: async (mode, stream, at) => {
      if (mode === 'live') {
        const master = keyring.sealing();
        return { generation: master.generation, key: liveKey(master, stream) };
      }
      const kept = await days.find(utcDay(at));
      const day = kept === undefined ? sealingDay(at, clock.now()) : utcDay(at);
      const key = kept ?? (await days.ensure(day));
      return { generation: `t${day}.${idOf(key)}`, key };
    },
    forOpening: async (generation, stream) => {
      const [, day, keyId] = TEST_GENERATION.exec(generation) ?? [];
      if (day !== undefined) return keyWithId(await days.find(day), keyId);
      const master = await keyring.ofGeneration(generation);
      return master && liveKey(master, stream);
    },
    guards: createGuardKeys(keyring, days),
    destroyDayKeys: (olderThanDay) => days.destroyBefore(olderThanDay),
  };
};

/** Ids by buffer: deriving an id costs as much as sealing, and the day keys return the same buffers again. */
const ids = new WeakMap<Buffer, string>();
const idOf = (key: Buffer): string => {
  const id = ids.get(key) ?? masterKeyId(key);
  ids.set(key, id);
  return id;
};

/** Text sealed by the first versions lacks the id of its key. */
const TEST_GENERATION = /^t(\d{4}-\d{2}-\d{2})(?:\.([0-9a-f]{16}))?$/;

/** A day whose key was lost with the database has another key since. What the lost key sealed counts as erased. */
const keyWithId = (key: Buffer | undefined, keyId: string | undefined): Buffer | undefined =>
  key === undefined || keyId === undefined || idOf(key) === keyId ? key : undefined;

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
    const ahead = utcDay(addSeconds(at, MARGIN_SECONDS));
    // A day that begins within the margin gets its key now, because a process whose clock is ahead already hashes with it.
    const made = [own, ...(ahead === own ? [] : [ahead])];
    const found = daysBetween(addSeconds(at, -seconds - MARGIN_SECONDS), own);
    const [first, ...others] = await Promise.all(made.map(async (day) => dayKey(day, await days.ensure(day))));
    const earlier = await Promise.all(
      found.map(async (day) => {
        const key = await days.find(day);
        return key === undefined ? [] : [dayKey(day, key)];
      }),
    );
    if (first === undefined) throw new Error('a day has its key');
    return [first, ...others, ...earlier.flat()];
  },
  ofTag: async (tag) => {
    const { day, generation, keyId } = TAG.exec(tag)?.groups ?? {};
    if (day !== undefined) return derivedOf(await days.find(day), keyId);
    if (generation === undefined) return undefined;
    return derivedOf((await keyring.ofGeneration(generation))?.key, keyId);
  },
});

const TAG = /^(?:t(?<day>\d{4}-\d{2}-\d{2})|(?<generation>m[1-9]\d{0,5}))\.(?<keyId>[0-9a-f]{16})$/;

const liveKey = ({ generation, key }: MasterKey): GuardKey => {
  const { id, guard } = derived(key);
  return { tag: `${generation}.${id}`, key: guard };
};

const dayKey = (day: UtcDay, key: Buffer): GuardKey => {
  const { id, guard } = derived(key);
  return { tag: `t${day}.${id}`, key: guard };
};

/** Undefined when the name belongs to another key since a database was lost. Hashes under the lost key must not be compared. */
const derivedOf = (key: Buffer | undefined, keyId: string | undefined): Buffer | undefined => {
  if (key === undefined) return undefined;
  const { id, guard } = derived(key);
  return id === keyId ? guard : undefined;
};

/** Derived keys by the buffer of their source. The keyring and the day keys return the same buffers, and an entry goes when its buffer does. */
const known = new WeakMap<Buffer, { id: string; guard: Buffer }>();

const derived = (key: Buffer): { id: string; guard: Buffer } => {
  const found = known.get(key) ?? { id: masterKeyId(key), guard: deriveKey(key, 'guard') };
  known.set(key, found);
  return found;
};

/** The days from that of `from` up to the day before `to`; newest first. */
const daysBetween = (from: Instant, to: UtcDay): readonly UtcDay[] => {
  const days: UtcDay[] = [];
  for (let day = before(to); day >= utcDay(from); day = before(day)) days.push(day);
  return days;
};

const before = (day: UtcDay): UtcDay => utcDay(addSeconds(`${day}T00:00:00.000Z`, -1));
