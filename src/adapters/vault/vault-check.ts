import type pg from 'pg';
import type { Keyring } from './keyring.js';
import { masterKeyId } from './master-key.js';

/**
 * Whether the certificates can be read, without opening one: an opening is an audited event. Throws what the database
 * says; `wrongKey` counts rows that were sealed under a master key which this process does not have.
 */
export const checkVault = async (db: pg.Pool, keyring: Pick<Keyring, 'all'>): Promise<{ wrongKey: number }> => {
  const { rows } = await db.query<{ wrong: number }>(
    `select count(*)::int as wrong from vault_certificates where split_part(sealed, ':', 3) <> all($1)`,
    [keyring.all().map(({ key }) => masterKeyId(key))],
  );
  return { wrongKey: rows[0]?.wrong ?? 0 };
};
