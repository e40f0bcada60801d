import type pg from 'pg';
import type { CompanyId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { CertificateVault, CompanyCertificate } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import { readsByKey } from '../sql/batched.js';
import { openSecret, type SecretBinding, sealSecret } from './envelope.js';
import type { Keyring } from './keyring.js';
import { masterKeyId } from './master-key.js';

/** Keeps certificates as one encrypted row each; `open` throws `WrongMasterKey` or `TamperedSecret`. */
export const createCertificateVault = (db: pg.Pool, keyring: Keyring, clock: Clock): CertificateVault => ({
  ...readsOfOne(db, keyring),
  put: async (companyId, certificate) => {
    const { certificateId } = certificate;
    const plain = Buffer.from(JSON.stringify(certificate));
    const sealed = sealSecret(plain, certificateBinding(companyId, certificateId), keyring.sealing().key);
    await db.query(
      `insert into vault_certificates (company_id, certificate_id, sealed, created_at) values ($1, $2, $3, $4)
       on conflict (company_id, certificate_id) do update set sealed = excluded.sealed`,
      [companyId, certificateId, sealed, clock.now()],
    );
  },
  rowsOf: async (companyId) => {
    const { rows } = await db.query<{ id: string; at: Instant }>(
      'select certificate_id as id, created_at as at from vault_certificates where company_id = $1 order by certificate_id',
      [companyId],
    );
    return rows.map(({ id, at }) => ({ certificateId: id, putAt: at }));
  },
  remove: async (companyId, certificateIds) => {
    await db.query('delete from vault_certificates where company_id = $1 and certificate_id = any($2)', [
      companyId,
      certificateIds,
    ]);
  },
});

/** Reads of one certificate, of which those of one turn of the event loop share a statement. */
const readsOfOne = (db: pg.Pool, keyring: Keyring): Pick<CertificateVault, 'open' | 'holds'> => {
  const sealedOf = readsByKey<{ key: string; sealed: string }>(db, { name: 'certificates', text: of('sealed') });
  const held = readsByKey(db, { name: 'held-certificates', text: of('1 as held') });
  return {
    open: async (companyId, certificateId) => {
      const [row] = await sealedOf(keyOf(companyId, certificateId));
      if (row === undefined) return undefined;
      const plain = await openSecret(row.sealed, certificateBinding(companyId, certificateId), keyring);
      // Authenticated text that `put` wrote: its shape needs no second check.
      return JSON.parse(plain.toString('utf8')) as CompanyCertificate;
    },
    holds: async (companyId, certificateId) => (await held(keyOf(companyId, certificateId))).length === 1,
  };
};

/** Neither id has a space. */
const keyOf = (companyId: CompanyId, certificateId: string): string => `${companyId} ${certificateId}`;

const of = (columns: string): string => `select wanted as key, ${columns} from unnest($1::text[]) wanted
  join vault_certificates on company_id = split_part(wanted, ' ', 1) and certificate_id = split_part(wanted, ' ', 2)`;

export const certificateBinding = (companyId: CompanyId, certificateId: string): SecretBinding => ({
  purpose: 'certificate',
  path: [companyId, certificateId],
});

/**
 * Checks whether this process has the keys of all certificates, without opening one: an opening is an audited event. Throws the database's error;
 * `wrongKey` counts the rows under a master key that this process lacks.
 */
export const checkVault = async (db: pg.Pool, keyring: Pick<Keyring, 'all'>): Promise<{ wrongKey: number }> => {
  const { rows } = await db.query<{ wrong: number }>(
    `select count(*)::int as wrong from vault_certificates where split_part(sealed, ':', 3) <> all($1)`,
    [keyring.all().map(({ key }) => masterKeyId(key))],
  );
  return { wrongKey: rows[0]?.wrong ?? 0 };
};
