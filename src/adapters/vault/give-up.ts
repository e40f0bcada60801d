import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { isRegistered, listGenerations, mayHaveExisted, type RegisteredKey, UNKNOWN_KEY_ID } from './key-registry.js';
import { type MasterKey, type MasterKeys, masterKeyId, nextGeneration } from './master-key.js';

/** Names of the secrets that were removed from the vault, because only the lost generation could open them. */
type RemovedSecrets = {
  /** `CNPJ certificate-id`. */
  certificates: readonly string[];
  /** Days of test invoices. */
  dayKeys: readonly string[];
  /** Public keys. */
  signingKeys: readonly string[];
};

/** What an earlier call has done. `sealing` is undefined where no generation of the key file is active. */
type GivenUpBefore = { generation: string; givenUpAt: Instant; sealing: string | undefined };

/** `sealing` is the generation that seals from now on; `refused` is one line for the operator. */
type GiveUpResult =
  | { done: RemovedSecrets & { generation: string; sealing: string } }
  | { already: GivenUpBefore }
  | { refused: string };

type GiveUpDeps = {
  db: pg.Pool;
  /** The keys of `file`, the key file that messages name. */
  keys: MasterKeys;
  file: string;
  clock: Clock;
  /** Records the act, before the vault is changed. When the process dies in between, the repeated command records it again. */
  record(generation: string): Promise<void>;
};

/**
 * Gives up a generation that is lost without a copy (ADR 26): removes from the vault what it sealed, and lets the service start without it. When no
 * key of the file is active, the newest key of the file becomes active. This is permanent but for one thing: a lost line that is put back into the
 * key file opens the events of its time.
 */
export const giveUpGeneration = async (generation: string, by: string, deps: GiveUpDeps): Promise<GiveUpResult> => {
  const { db, clock, record } = deps;
  const before = await givenUpBefore(generation, deps);
  if (before !== undefined) return before;
  const registered = await listGenerations(db);
  const refused = refusalOf(generation, registered, deps);
  if (refused !== undefined) return { refused };
  const successor = successorOf(registered, deps.keys);
  if (successor === undefined) return noSuccessor(registered, deps);
  await record(generation);
  const keyId = registered.find((one) => one.generation === generation)?.keyId ?? UNKNOWN_KEY_ID;
  const removed = await removeSecrets(db, { generation, keyId, by, at: clock.now(), successor });
  return { done: { generation, sealing: successor.generation, ...removed } };
};

/**
 * What an earlier call has recorded of this generation; undefined for one that was not given up. Refused as the first call is where no key of the file
 * can seal.
 */
export const givenUpBefore = async (
  generation: string,
  { db, keys, file }: Pick<GiveUpDeps, 'db' | 'keys' | 'file'>,
): Promise<{ already: GivenUpBefore } | { refused: string } | undefined> => {
  const registered = await listGenerations(db);
  const givenUpAt = registered.find((one) => one.generation === generation)?.givenUpAt;
  if (givenUpAt === undefined) return undefined;
  if (successorOf(registered, keys) === undefined) return noSuccessor(registered, { keys, file });
  return { already: { generation, givenUpAt, sealing: newestActive(registered, keys)?.generation } };
};

const noSuccessor = (
  registered: readonly RegisteredKey[],
  { keys, file }: Pick<GiveUpDeps, 'keys' | 'file'>,
): { refused: string } => ({ refused: `no key of ${file} can seal: ${addOne(file, registered, keys)}` });

const refusalOf = (
  generation: string,
  registered: readonly RegisteredKey[],
  { keys, file }: GiveUpDeps,
): string | undefined => {
  const registration = registered.find((one) => one.generation === generation);
  const here = keys.find((one) => one.generation === generation);
  if (here !== undefined && (registration === undefined || isRegistered(registration, masterKeyId(here.key))))
    return `${generation} is not lost: its key is in ${file}`;
  if (here !== undefined) {
    const cure =
      keys.length === 1
        ? `move that file away, then ${addOne(file, registered, [])}`
        : 'take that line out of it, then the same command again';
    return `${file} holds another key under the name ${generation}, which sealed nothing: ${cure}`;
  }
  if (!mayHaveExisted(generation, registered, keys)) return `there never was a generation ${generation}`;
  return undefined;
};

const addOne = (file: string, registered: readonly RegisteredKey[], keys: readonly MasterKey[]): string =>
  `nfse master-key add ${file} --generation ${nextGeneration([...registered, ...keys])}`;

/** The newest active key, else the newest key that may be activated. `keys` has the newest first. */
const successorOf = (registered: readonly RegisteredKey[], keys: readonly MasterKey[]): MasterKey | undefined =>
  newestActive(registered, keys) ??
  keys.find(({ generation }) => registered.every((one) => one.generation !== generation));

const newestActive = (registered: readonly RegisteredKey[], keys: readonly MasterKey[]): MasterKey | undefined =>
  keys.find(({ generation, key }) =>
    registered.some(
      (one) => one.generation === generation && one.givenUpAt === undefined && isRegistered(one, masterKeyId(key)),
    ),
  );

type GiveUp = { generation: string; keyId: string; by: string; at: string; successor: MasterKey };

/** One statement, so that all changes happen or none. */
const removeSecrets = async (
  db: pg.Pool,
  { generation, keyId, by, at, successor }: GiveUp,
): Promise<RemovedSecrets> => {
  const { rows } = await db.query<RemovedSecrets>(
    `with certificates as (
       delete from vault_certificates where split_part(sealed, ':', 3) = $2
       returning company_id || ' ' || certificate_id as name
     ), days as (
       delete from vault_day_keys where split_part(sealed, ':', 3) = $2 returning day as name
     ), signing as (
       delete from vault_signing_keys where split_part(sealed, ':', 3) = $2 returning public_key as name
     ), given_up as (
       insert into vault_master_keys as k (generation, key_id, given_up_at, given_up_by) values ($1, $2, $3, $4)
       on conflict (generation) do update set given_up_at = excluded.given_up_at, given_up_by = excluded.given_up_by
     ), successor as (
       insert into vault_master_keys (generation, key_id, activated_at, activated_by) values ($5, $6, $3, $4)
       on conflict do nothing
     )
     select array(select name from certificates order by name) as certificates,
       array(select name from days order by name) as "dayKeys",
       array(select name from signing order by name) as "signingKeys"`,
    [generation, keyId, at, by, successor.generation, masterKeyId(successor.key)],
  );
  return rows[0] ?? { certificates: [], dayKeys: [], signingKeys: [] };
};
