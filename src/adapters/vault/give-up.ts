import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import { isNoted, listGenerations, type RegisteredKey, UNSEEN } from './key-registry.js';
import { nextGeneration } from './lost-key.js';
import { byGeneration, generationNumber, type MasterKey, type MasterKeys, masterKeyId } from './master-key.js';

/** What left the vault, by name: nothing but the lost generation could open it. */
export type TakenOut = {
  /** `CNPJ certificate-id`. */
  certificates: readonly string[];
  /** Days of test data. */
  dayKeys: readonly string[];
  /** Public halves. */
  signingKeys: readonly string[];
};

/** `sealing` is the generation that seals from now on; `refused` is one line for the operator. */
export type GiveUpResult = { done: TakenOut & { generation: string; sealing: string } } | { refused: string };

export type GiveUpDeps = {
  db: pg.Pool;
  /** Of the key file, which is named in messages. */
  keys: MasterKeys;
  file: string;
  clock: Clock;
  /** Puts the act on record; it is done after it, and again by whoever died between the two. */
  record(generation: string): Promise<void>;
};

/**
 * Gives up a generation that is lost without a copy: takes out of the vault what it sealed, and lets the service start without
 * it. Where no key of the file seals yet, its newest one does from now on. For ever, but for one thing: a line that turns up
 * again, in the key file, opens the events of its time.
 */
export const giveUpGeneration = async (generation: string, by: string, deps: GiveUpDeps): Promise<GiveUpResult> => {
  const { db, clock, record } = deps;
  const registered = await listGenerations(db);
  const refused = whyNot(generation, registered, deps);
  if (refused !== undefined) return { refused };
  const successor = successorOf(generation, registered, deps.keys);
  if (successor === undefined)
    return { refused: `no key of ${deps.file} can seal: ${addOne(deps.file, registered, deps.keys)}` };
  await record(generation);
  const keyId = registered.find((one) => one.generation === generation)?.keyId ?? UNSEEN;
  const taken = await takeOut(db, { generation, keyId, by, at: clock.now(), successor });
  return { done: { generation, sealing: successor.generation, ...taken } };
};

const whyNot = (
  generation: string,
  registered: readonly RegisteredKey[],
  { keys, file }: GiveUpDeps,
): string | undefined => {
  const noted = registered.find((one) => one.generation === generation);
  const here = keys.find((one) => one.generation === generation);
  if (noted?.givenUpAt !== undefined) return `${generation} was given up at ${noted.givenUpAt}`;
  if (here !== undefined && (noted === undefined || isNoted(noted, masterKeyId(here.key))))
    return `${generation} is not lost: its key is in ${file}`;
  if (here !== undefined)
    return `${file} holds another key under the name ${generation}, which sealed nothing: move that file away, then ${addOne(file, registered, [])}`;
  // A database that is new knows nothing of what sealed its log: any name before those of the file may have.
  const isBefore = keys.some((one) => byGeneration({ generation }, one) > 0);
  if (generationNumber(generation) === undefined || (noted === undefined && !isBefore))
    return `there never was a generation ${generation}`;
  return undefined;
};

const addOne = (file: string, registered: readonly RegisteredKey[], keys: readonly MasterKey[]): string =>
  `nfse master-key add ${file} --generation ${nextGeneration([...registered, ...keys])}`;

/** The newest key that seals already, else the newest that may begin to. */
const successorOf = (
  lost: string,
  registered: readonly RegisteredKey[],
  keys: readonly MasterKey[],
): MasterKey | undefined => {
  const noted = ({ generation }: MasterKey) => registered.find((one) => one.generation === generation);
  const standing = keys
    .filter(({ generation }) => generation !== lost)
    .sort(byGeneration)
    .map((key) => ({ key, known: noted(key) }));
  const seals = standing.find(
    ({ key, known }) => known !== undefined && known.givenUpAt === undefined && isNoted(known, masterKeyId(key.key)),
  );
  return (seals ?? standing.find(({ known }) => known === undefined))?.key;
};

type Given = { generation: string; keyId: string; by: string; at: string; successor: MasterKey };

/** One statement: all of it or nothing. */
const takeOut = async (db: pg.Pool, { generation, keyId, by, at, successor }: Given): Promise<TakenOut> => {
  const { rows } = await db.query<{ certificates: string[]; days: string[]; signing: string[] }>(
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
       array(select name from days order by name) as days, array(select name from signing order by name) as signing`,
    [generation, keyId, at, by, successor.generation, masterKeyId(successor.key)],
  );
  const { certificates = [], days = [], signing = [] } = rows[0] ?? {};
  return { certificates, dayKeys: days, signingKeys: signing };
};
