import type pg from 'pg';
import { addSeconds, epochMs, type Instant, isBefore } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { SealedTextChanged, SealingKeyUnknown } from '../../ports/sealing-keys.js';
import {
  isRegistered,
  listGenerations,
  mayHaveExisted,
  type RegisteredKey,
  registerInitialKeys,
} from './key-registry.js';
import {
  adviceWithoutCopy,
  byGeneration,
  generationNumber,
  type MasterKey,
  type MasterKeys,
  masterKeyId,
  WrongMasterKey,
} from './master-key.js';

export type KeyringOptions = {
  /** Throws when the file cannot be read; `file` names it in messages. */
  readFile(): Promise<MasterKeys>;
  file: string;
  db: pg.Pool;
  clock: Clock;
};

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

/**
 * The master keys of this process: the newest active key seals, and all keys open. Registers the keys of a new database, once. Throws
 * `WrongMasterKey` when the database has seen another key under the same name, or a generation that the file lacks: events sealed under a stray key
 * could not be opened again. Another key under a name that was given up is never used, and is no fault while another key seals.
 */
export const openKeyring = async ({ readFile, file, db, clock }: KeyringOptions) => {
  const keys: KnownKey[] = (await readFile()).map(known);
  await registerInitialKeys(db, keys, clock.now());
  let registered = await listGenerations(db);
  let usableKeys = usableKeysOf(keys, registered);
  const faults = faultsOf(keys, registered, usableKeys, file);
  if (faults.length > 0) throw new WrongMasterKey(faults.join('; '));

  /** Keys are added and never dropped: a file that lost a line stops the next start, not this process. */
  const reload = async (): Promise<readonly KnownKey[]> => {
    const found = (await readFile()).map(known);
    for (const one of found) if (!keys.some(({ generation }) => generation === one.generation)) keys.push(one);
    usableKeys = usableKeysOf(keys, registered);
    return found;
  };
  /**
   * The key that seals everything new; a rotation changes it, at most one refresh later. Throws `WrongMasterKey` when every key of this process was
   * given up, because what such a key seals could not be opened.
   */
  const sealing = (): KnownKey => {
    const [newest] = usableKeys.active;
    if (newest === undefined) throw new WrongMasterKey(noActiveKey(file));
    return newest;
  };
  const find = async (is: (one: KnownKey) => boolean): Promise<MasterKey | undefined> => {
    const found = usableKeys.usable.find(is);
    if (found !== undefined) return found;
    await reload();
    return usableKeys.usable.find(is);
  };

  /** Keys that sealed at some time within these last seconds, the sealing one first. */
  const recentSealingKeys = (seconds: number): readonly [KnownKey, ...KnownKey[]] => {
    const newest = sealing();
    const now = clock.now();
    const activatedAt = ({ generation }: KnownKey): Instant | undefined =>
      registered.find((one) => one.generation === generation)?.activatedAt;
    // A key sealed until its successor was activated.
    const before = usableKeys.active.slice(1).filter((_one, index) => {
      const successor = usableKeys.active[index];
      const until = successor === undefined ? undefined : activatedAt(successor);
      return until !== undefined && wasWithin(until, seconds, now);
    });
    return [newest, ...before];
  };

  return {
    sealing,
    /**
     * Undefined for a generation that was given up and is not in the key file. For any other unknown generation the file is read again; throws
     * `WrongMasterKey` when the file lacks it, `SealingKeyUnknown` for one that the database does not know either and that is newer than those of the
     * file, and `SealedTextChanged` for a text that is no name of a generation.
     */
    ofGeneration: async (generation: string): Promise<MasterKey | undefined> => {
      const is = (one: { generation: string }): boolean => one.generation === generation;
      // Checked before the file is read, because a log may hold any number of fields of a generation that was given up.
      if (registered.find(is)?.givenUpAt !== undefined) return usableKeys.usable.find(is);
      const found = await find(is);
      if (found !== undefined) return found;
      // Another process may have activated the generation since the last refresh. Without an answer of the database that stays unknown.
      if (mayHaveExisted(generation, [...registered, ...(await listGenerations(db))], keys))
        throw new WrongMasterKey(missing(generation, file));
      // Changed text may hold anything, so only what has the form of a name is quoted.
      throw generationNumber(generation) === undefined
        ? new SealedTextChanged('neither the database nor the key file knows the key that it names')
        : new SealingKeyUnknown(unknown(generation, file));
    },
    /** The key with this `masterKeyId`. The file is read again for an unknown id; undefined when the file lacks it. */
    ofId: (keyId: string): Promise<MasterKey | undefined> => find(({ id }) => id === keyId),
    /** Keys that may have signed a link in these last seconds, also in a process that is a moment ahead; the sealing one first. */
    recent: (seconds: number): MasterKeys => {
      const [newest, ...before] = recentSealingKeys(seconds);
      const waiting = usableKeys.usable.filter((one) => byGeneration(one, newest) < 0);
      return [newest, ...waiting, ...before];
    },
    recentSealingKeys,
    /** All keys, newest first, also those that wait for their activation. */
    all: (): readonly MasterKey[] => [...keys].sort(byGeneration),
    /** Reads key file and database again. What cannot be read stays as it was. Returns the faults that an operator must cure. */
    refresh: async (): Promise<readonly string[]> => {
      // An empty table was lost, so its last known rows stay valid.
      const listed = await listGenerations(db).catch(() => []);
      if (listed.length > 0) registered = listed;
      usableKeys = usableKeysOf(keys, registered);
      try {
        return faultsOf(await reload(), registered, usableKeys, file);
      } catch (error) {
        return [error instanceof Error ? error.message : `${file} cannot be read`];
      }
    },
  };
};

/** What an operator must cure before a process can open a database with these generations under these keys; empty when nothing is wrong. */
export const keyFaults = (keys: MasterKeys, registered: readonly RegisteredKey[], file: string): readonly string[] => {
  const knownKeys = keys.map(known);
  return faultsOf(knownKeys, registered, usableKeysOf(knownKeys, registered), file);
};

/** Holds the id, because deriving it costs as much as sealing. */
type KnownKey = MasterKey & { id: string };

const known = ({ generation, key }: MasterKey): KnownKey => ({ generation, key, id: masterKeyId(key) });

type UsableKeys = { usable: readonly KnownKey[]; active: readonly KnownKey[] };

/** Newest first. A key that differs from the registered one of its name must not be used, and a key that was given up must not seal. */
const usableKeysOf = (keys: readonly KnownKey[], registered: readonly RegisteredKey[]): UsableKeys => {
  const registration = ({ generation }: KnownKey) => registered.find((one) => one.generation === generation);
  const isUsable = (one: KnownKey): boolean => {
    const known = registration(one);
    return known === undefined || isRegistered(known, one.id);
  };
  const usable = keys.filter(isUsable).sort(byGeneration);
  const seals = (known: RegisteredKey | undefined): boolean => known !== undefined && known.givenUpAt === undefined;
  return { usable, active: usable.filter((one) => seals(registration(one))) };
};

const wasWithin = (since: Instant, seconds: number, now: Instant): boolean =>
  isBefore(now, addSeconds(since, seconds)) && epochMs(now) - epochMs(since) > -seconds * 1000;

const faultsOf = (
  keys: readonly KnownKey[],
  registered: readonly RegisteredKey[],
  { active }: UsableKeys,
  file: string,
): readonly string[] => {
  const faults = registered.flatMap((registration) => {
    const { generation, keyId, givenUpAt } = registration;
    const id = keys.find((one) => one.generation === generation)?.id;
    if (id === undefined) return givenUpAt === undefined ? [missing(generation, file)] : [];
    if (isRegistered(registration, id) || (givenUpAt !== undefined && active.length > 0)) return [];
    return [`master key ${generation} is ${id}, but this database was made with ${keyId}: restore that key file`];
  });
  return faults.length === 0 && active.length === 0 ? [noActiveKey(file)] : faults;
};

const missing = (generation: string, file: string): string =>
  `no master key of generation ${generation} is in ${file}, and what it sealed cannot be opened: restore that line from your copy (${adviceWithoutCopy([generation])})`;

const unknown = (generation: string, file: string): string =>
  `neither the database nor the key file knows a key of generation ${generation}: restore its line in ${file} from your copy; where no copy has such a line, the log was changed`;

const noActiveKey = (file: string): string => `no key of ${file} is one that this database was made with`;
