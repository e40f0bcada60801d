import type pg from 'pg';
import type { Instant } from '../../domain/common/time.js';
import { byGeneration, generationNumber, type MasterKey, masterKeyId } from './master-key.js';

/** A generation that seals or has sealed. `activatedAt` is undefined for a generation from before rotations existed. */
export type RegisteredKey = {
  generation: string;
  keyId: string;
  activatedAt: Instant | undefined;
  activatedBy: string | undefined;
  /** Since when the generation counts as permanently lost. Undefined when it must be in the key file. */
  givenUpAt: Instant | undefined;
};

export const listGenerations = async (db: Pick<pg.Pool, 'query'>): Promise<readonly RegisteredKey[]> => {
  const { rows } = await db.query<{
    generation: string;
    key_id: string;
    activated_at: Instant | null;
    activated_by: string | null;
    given_up_at: Instant | null;
  }>('select generation, key_id, activated_at, activated_by, given_up_at from vault_master_keys');
  return rows.map(({ generation, key_id, activated_at, activated_by, given_up_at }) => ({
    generation,
    keyId: key_id,
    activatedAt: activated_at ?? undefined,
    activatedBy: activated_by ?? undefined,
    givenUpAt: given_up_at ?? undefined,
  }));
};

/**
 * Whether a key is the registered one of its name. After a master key was given up in a new database, nothing shows which key had that name,
 * so any key of that name matches.
 */
export const isRegistered = ({ keyId, givenUpAt }: RegisteredKey, id: string): boolean =>
  keyId === id || (keyId === UNKNOWN_KEY_ID && givenUpAt !== undefined);

/**
 * Whether the name may be that of a lost key. A new database does not know which generations sealed its log, so any name before those of the key file
 * is possible.
 */
export const mayHaveExisted = (
  generation: string,
  registered: readonly { generation: string }[],
  keys: readonly { generation: string }[],
): boolean =>
  generationNumber(generation) !== undefined &&
  (registered.some((one) => one.generation === generation) ||
    keys.some((one) => byGeneration({ generation }, one) > 0));

/** The id of a key that the database has never seen. */
export const UNKNOWN_KEY_ID = '';

/**
 * Registers all keys of the file in one statement, only into an empty table: a new database does not know which of them sealed the events of its
 * log. Later keys wait for `activate`.
 */
export const registerInitialKeys = async (db: pg.Pool, keys: readonly MasterKey[], now: Instant): Promise<void> => {
  await db.query(
    `insert into vault_master_keys (generation, key_id, activated_at)
     select generation, key_id, $3 from unnest($1::text[], $2::text[]) as key (generation, key_id)
     where not exists (select from vault_master_keys) on conflict do nothing`,
    [keys.map(({ generation }) => generation), keys.map(({ key }) => masterKeyId(key)), now],
  );
};

/** Registers a key, which may seal from now on. False when another key already has this name. */
export const activate = async (
  db: pg.Pool,
  { generation, key }: MasterKey,
  { by, at }: { by: string; at: Instant },
): Promise<boolean> => {
  await db.query(
    `insert into vault_master_keys (generation, key_id, activated_at, activated_by) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [generation, masterKeyId(key), at, by],
  );
  const { rowCount } = await db.query('select from vault_master_keys where generation = $1 and key_id = $2', [
    generation,
    masterKeyId(key),
  ]);
  return rowCount === 1;
};
