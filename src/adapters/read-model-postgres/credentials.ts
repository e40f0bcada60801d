import type pg from 'pg';
import type { Scope } from '../../domain/company/events.js';
import type { Mode } from '../../domain/shared/ids.js';
import type { Credential, ReadModel } from '../../ports/read-model.js';

type CredentialRow = { key_id: string; company_id: string; mode: Mode; scopes: string; revoked: boolean };

export const credentialReads = (db: pg.Pool): Pick<ReadModel, 'credential' | 'credentialById'> => ({
  credential: async (keyHash) => {
    const { rows } = await db.query<CredentialRow>({ name: 'credential-by-hash', text: BY_HASH, values: [keyHash] });
    return toCredential(rows[0]);
  },
  credentialById: async (keyId) => {
    const { rows } = await db.query<CredentialRow>({ name: 'credential-by-id', text: BY_ID, values: [keyId] });
    return toCredential(rows[0]);
  },
});

const COLUMNS = 'key_id, company_id, mode, scopes, revoked';

const BY_HASH = `select ${COLUMNS} from read.credentials where key_hash = $1`;

const BY_ID = `select ${COLUMNS} from read.credentials where key_id = $1`;

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
