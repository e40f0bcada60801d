import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { GuardKey, GuardKeys } from '../../ports/guard-keys.js';
import { type DayKeys, type UtcDay, utcDay } from './day-keys.js';
import type { Keyring } from './keyring.js';
import { deriveKey, type MasterKey, masterKeyId } from './master-key.js';

/** How far clocks and keyrings of two processes may be apart: a keyring is read again every second. */
const MARGIN_SECONDS = 60;

/** One of each generation of the master key and of each test day, derived anew by every process: nothing of them is stored. */
export const createGuardKeys = (keyring: Keyring, days: DayKeys): GuardKeys => ({
  inUse: async (mode, at, seconds) => {
    if (mode === 'live') {
      const [newest, ...before] = keyring.sealedWith(seconds + MARGIN_SECONDS);
      return [liveKey(newest), ...before.map(liveKey)];
    }
    const own = utcDay(at);
    const ahead = utcDay(addSeconds(at, MARGIN_SECONDS));
    // A day that begins within the margin has its key made now: a process that is ahead hashes with it already.
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

/** A name may stand for another key by now, of a database that was lost: what the lost one hashed is not to be compared. */
const derivedOf = (key: Buffer | undefined, keyId: string | undefined): Buffer | undefined => {
  if (key === undefined) return undefined;
  const { id, guard } = derived(key);
  return id === keyId ? guard : undefined;
};

/** The keyring and the cache of days give the same bytes again, and forget them when they must. */
const known = new WeakMap<Buffer, { id: string; guard: Buffer }>();

const derived = (key: Buffer): { id: string; guard: Buffer } => {
  const found = known.get(key) ?? { id: masterKeyId(key), guard: deriveKey(key, 'guard') };
  known.set(key, found);
  return found;
};

/** From the day of `from` on, without `to` itself; newest first. */
const daysBetween = (from: Instant, to: UtcDay): readonly UtcDay[] => {
  const days: UtcDay[] = [];
  for (let day = before(to); day >= utcDay(from); day = before(day)) days.push(day);
  return days;
};

const before = (day: UtcDay): UtcDay => utcDay(addSeconds(`${day}T00:00:00.000Z`, -1));
