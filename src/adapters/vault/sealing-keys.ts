import type pg from 'pg';
import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { GuardKeys } from '../../ports/guard-keys.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { dayKeys, type UtcDay, utcDay } from './day-keys.js';
import { createGuardKeys } from './guard-keys.js';
import type { Keyring } from './keyring.js';
import { deriveKey, type MasterKey, masterKeyId } from './master-key.js';

export type SealingKeysOptions = {
  keyring: Keyring;
  db: pg.Pool;
  clock: Clock;
};

export type VaultSealingKeys = SealingKeys & {
  /** Of the same keys; their memory of test days is one. */
  guards: GuardKeys;
  /** Destroys the keys of the test days before this one: what they sealed is gone for good, in backups too. */
  destroyDayKeys(olderThanDay: UtcDay): Promise<number>;
};

const REMEMBERED_KEYS = 10_000;
const DAY_SECONDS = 86_400;

/** Live keys are derived from the master key and the stream's name, test keys are rows of R (design section 4). */
export const createSealingKeys = ({ keyring, db, clock }: SealingKeysOptions): VaultSealingKeys => {
  const days = dayKeys(db, keyring, clock);
  const derived = new Map<string, Buffer>();

  const liveKey = ({ generation, key }: MasterKey, stream: StreamName): Buffer => {
    const place = `${generation}/${stream}`;
    const known = derived.get(place) ?? deriveKey(key, `seal|${stream}`);
    derived.delete(place);
    derived.set(place, known);
    for (const oldest of derived.keys()) {
      if (derived.size <= REMEMBERED_KEYS) break;
      derived.delete(oldest);
    }
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
      if (day !== undefined) return ownKey(await days.find(day), keyId);
      const master = await keyring.ofGeneration(generation);
      return master && liveKey(master, stream);
    },
    guards: createGuardKeys(keyring, days),
    destroyDayKeys: (olderThanDay) => days.destroyBefore(olderThanDay),
  };
};

/** Deriving it costs as much as sealing, and the cache of days gives the same bytes again. */
const ids = new WeakMap<Buffer, string>();
const idOf = (key: Buffer): string => {
  const id = ids.get(key) ?? masterKeyId(key);
  ids.set(key, id);
  return id;
};

/** The key's id is missing in what the first versions sealed. */
const TEST_GENERATION = /^t(\d{4}-\d{2}-\d{2})(?:\.([0-9a-f]{16}))?$/;

/** A day whose key was lost with R has another one since: what the lost one sealed is as good as erased. */
const ownKey = (key: Buffer | undefined, keyId: string | undefined): Buffer | undefined =>
  key === undefined || keyId === undefined || idOf(key) === keyId ? key : undefined;

/** A day long past may have lost its key for good; another one under its name would make old texts look tampered with. */
const sealingDay = (at: Instant, now: Instant): UtcDay =>
  utcDay(at) < utcDay(addSeconds(now, -DAY_SECONDS)) ? utcDay(now) : utcDay(at);
