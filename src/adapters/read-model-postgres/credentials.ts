import type pg from 'pg';
import type { Scope } from '../../domain/company/events.js';
import type { Credential, ReadModel } from '../../ports/read-model.js';
import type { ReadDatabase, ReadSchema } from './schema.js';

type CredentialRow = Omit<ReadSchema['read.credentials'], 'key_hash'>;

const COLUMNS = ['key_id', 'company_id', 'mode', 'scopes', 'revoked'] as const;

/** By hash is asked for every request and is a prepared statement. */
export const credentialReads = (pool: pg.Pool, db: ReadDatabase): Pick<ReadModel, 'credential' | 'credentialById'> => ({
  credential: async (keyHash) => {
    const { rows } = await pool.query<CredentialRow>({ name: 'credential-by-hash', text: BY_HASH, values: [keyHash] });
    return toCredential(rows[0]);
  },
  credentialById: async (keyId) =>
    toCredential(
      await db.selectFrom('read.credentials').select(COLUMNS).where('key_id', '=', keyId).executeTakeFirst(),
    ),
});

const BY_HASH = `select ${COLUMNS.join(', ')} from read.credentials where key_hash = $1`;

const toCredential = (row: CredentialRow | undefined): Credential | undefined =>
  row === undefined
    ? undefined
    : {
        keyId: row.key_id,
        companyId: row.company_id,
        mode: row.mode,
        scopes: JSON.parse(row.scopes) as Scope[],
        revoked: row.revoked,
      };
