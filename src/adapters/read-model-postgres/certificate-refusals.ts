import type pg from 'pg';
import type { CertificateRefusal, CertificateRefusals } from '../../ports/certificate-refusals.js';

/** The refusals that stand (migration 43). */
export const createCertificateRefusals = (db: pg.Pool): CertificateRefusals => ({
  all: async () => {
    const { rows } = await db.query<CertificateRefusal>(`select ${REFUSAL_COLUMNS} from certificate_refusals`);
    return rows;
  },
  save: async ({ mode, companyId, certificateId, reason, at, probeAt }) => {
    await db.query(
      `insert into certificate_refusals as r (mode, company_id, certificate_id, reason, since, seen, last_at, probe_at)
       values ($1, $2, $3, $4, $5, 1, $5, $6)
       on conflict (mode, company_id) do update set
         certificate_id = excluded.certificate_id, reason = excluded.reason, last_at = excluded.last_at,
         since = case when r.certificate_id = excluded.certificate_id then r.since else excluded.since end,
         seen = case when r.certificate_id = excluded.certificate_id then r.seen + 1 else 1 end,
         probe_at = case when r.certificate_id = excluded.certificate_id then r.probe_at else excluded.probe_at end`,
      [mode, companyId, certificateId, reason, at, probeAt],
    );
  },
  remove: async ({ mode, companyId }) => {
    await db.query('delete from certificate_refusals where mode = $1 and company_id = $2', [mode, companyId]);
  },
  claimProbe: async ({ mode, companyId }, due, next) => {
    const { rowCount } = await db.query(
      'update certificate_refusals set probe_at = $4 where mode = $1 and company_id = $2 and probe_at = $3',
      [mode, companyId, due, next],
    );
    return rowCount === 1;
  },
});

export const REFUSAL_COLUMNS = `mode, company_id as "companyId", certificate_id as "certificateId", reason, since, seen::float,
  last_at as "lastAt", probe_at as "probeAt"`;
