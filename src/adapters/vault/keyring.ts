import type pg from 'pg';
import { addSeconds, epochMs, type Instant, isBefore } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import { isNoted, listGenerations, type RegisteredKey, registerFirst } from './key-registry.js';
import { withoutCopy } from './lost-key.js';
import { byGeneration, type MasterKey, type MasterKeys, masterKeyId, WrongMasterKey } from './master-key.js';

/** The master keys of this process. The newest that the database knows seals, all of them open. */
export type Keyring = {
  /**
   * Seals everything new. Another one after a rotation, at most a refresh later. Throws `WrongMasterKey` once all that this
   * process has were given up: what they seal nobody opens.
   */
  sealing(): MasterKey;
  /**
   * Undefined for one that was given up and is not in the key file. Looks into the file again for any other that it does not
   * have; throws `WrongMasterKey`.
   */
  ofGeneration(generation: string): Promise<MasterKey | undefined>;
  /** Likewise, by `masterKeyId`. */
  ofId(keyId: string): Promise<MasterKey | undefined>;
  /** What a link of these last seconds, or of a process that is a moment ahead, may be signed with; the sealing one first. */
  recent(seconds: number): MasterKeys;
  /** Those that sealed at some time within these last seconds, the sealing one first. */
  sealedWith(seconds: number): MasterKeys;
  /** Newest first, those that wait for their activation included. */
  all(): readonly MasterKey[];
  /** Reads key file and database again; what cannot be read stays as it was. Answers what an operator must cure. */
  refresh(): Promise<readonly string[]>;
};

export type KeyringOptions = {
  /** Throws when it cannot be read; `file` names it in messages. */
  readFile(): Promise<MasterKeys>;
  file: string;
  db: pg.Pool;
  clock: Clock;
};

/**
 * Notes which key a generation is, once for all, when the database is new. Throws `WrongMasterKey` when the database has seen
 * another key under the same name, or one that the file does not hold: events sealed under a stray key could not be opened again.
 */
export const openKeyring = async ({ readFile, file, db, clock }: KeyringOptions): Promise<Keyring> => {
  const keys: KnownKey[] = (await readFile()).map(known);
  await registerFirst(db, keys, clock.now());
  let registered = await listGenerations(db);
  let standing = standingOf(keys, registered);
  const faults = faultsOf(keys, registered, standing, file);
  if (faults.length > 0) throw new WrongMasterKey(faults.join('; '));

  /** Keys are added and never dropped: a file that lost a line does harm at the next start, not now. */
  const reload = async (): Promise<readonly KnownKey[]> => {
    const found = (await readFile()).map(known);
    for (const one of found) if (!keys.some(({ generation }) => generation === one.generation)) keys.push(one);
    standing = standingOf(keys, registered);
    return found;
  };
  const sealing = (): KnownKey => {
    const [newest] = standing.active;
    if (newest === undefined) throw new WrongMasterKey(nothingSeals(file));
    return newest;
  };
  const find = async (is: (one: KnownKey) => boolean): Promise<MasterKey | undefined> => {
    const found = standing.usable.find(is);
    if (found !== undefined) return found;
    await reload();
    return standing.usable.find(is);
  };

  return {
    sealing,
    ofGeneration: async (generation) => {
      const is = (one: { generation: string }): boolean => one.generation === generation;
      // Before the file is read: a log may hold any number of fields that nobody opens.
      if (registered.find(is)?.givenUpAt !== undefined) return standing.usable.find(is);
      const found = await find(is);
      if (found === undefined) throw new WrongMasterKey(missing(generation, file));
      return found;
    },
    ofId: (keyId) => find(({ id }) => id === keyId),
    recent: (seconds) => {
      const newest = sealing();
      const before = standing.active[1];
      const since = registered.find(({ generation }) => generation === newest.generation)?.activatedAt;
      const waiting = standing.usable.filter((one) => byGeneration(one, newest) < 0);
      const isFresh = before !== undefined && since !== undefined && isWithin(since, seconds, clock.now());
      return [newest, ...waiting, ...(isFresh ? [before] : [])];
    },
    sealedWith: (seconds) => {
      const newest = sealing();
      const now = clock.now();
      const activatedAt = ({ generation }: KnownKey): Instant | undefined =>
        registered.find((one) => one.generation === generation)?.activatedAt;
      // Each sealed until the one after it was activated.
      const before = standing.active.slice(1).filter((_one, index) => {
        const successor = standing.active[index];
        const until = successor === undefined ? undefined : activatedAt(successor);
        return until !== undefined && isWithin(until, seconds, now);
      });
      return [newest, ...before];
    },
    all: () => [...keys].sort(byGeneration),
    refresh: async () => {
      // A table that is empty has been lost; what it said still holds.
      const listed = await listGenerations(db).catch(() => []);
      if (listed.length > 0) registered = listed;
      standing = standingOf(keys, registered);
      try {
        return faultsOf(await reload(), registered, standing, file);
      } catch (error) {
        return [error instanceof Error ? error.message : `${file} cannot be read`];
      }
    },
  };
};

/** Deriving its id costs as much as sealing with it. */
type KnownKey = MasterKey & { id: string };

const known = ({ generation, key }: MasterKey): KnownKey => ({ generation, key, id: masterKeyId(key) });

type Standing = { usable: readonly KnownKey[]; active: readonly KnownKey[] };

/** Newest first. A key that the database knows as another one under its name, or that was given up, must seal nothing. */
const standingOf = (keys: readonly KnownKey[], registered: readonly RegisteredKey[]): Standing => {
  const noted = ({ generation }: KnownKey) => registered.find((one) => one.generation === generation);
  const isUsable = (one: KnownKey): boolean => {
    const known = noted(one);
    return known === undefined || isNoted(known, one.id);
  };
  const usable = keys.filter(isUsable).sort(byGeneration);
  const seals = (known: RegisteredKey | undefined): boolean => known !== undefined && known.givenUpAt === undefined;
  return { usable, active: usable.filter((one) => seals(noted(one))) };
};

const isWithin = (since: Instant, seconds: number, now: Instant): boolean =>
  isBefore(now, addSeconds(since, seconds)) && epochMs(now) - epochMs(since) > -seconds * 1000;

const faultsOf = (
  keys: readonly KnownKey[],
  registered: readonly RegisteredKey[],
  { active }: Standing,
  file: string,
): readonly string[] => {
  const faults = registered.flatMap((noted) => {
    const { generation, keyId, givenUpAt } = noted;
    const id = keys.find((one) => one.generation === generation)?.id;
    if (id === undefined) return givenUpAt === undefined ? [missing(generation, file)] : [];
    if (isNoted(noted, id)) return [];
    return [`master key ${generation} is ${id}, but this database was made with ${keyId}: restore that key file`];
  });
  return faults.length === 0 && active.length === 0 ? [nothingSeals(file)] : faults;
};

const missing = (generation: string, file: string): string =>
  `no master key of generation ${generation} is in ${file}, and what it sealed cannot be opened: restore that line from your copy (${withoutCopy([generation])})`;

const nothingSeals = (file: string): string => `no key of ${file} is one that this database was made with`;
