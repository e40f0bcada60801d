import { sql } from 'kysely';
import type pg from 'pg';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import type { Clock } from '../../ports/clock.js';
import { openDatabase } from '../sql/database.js';
import { REFUSAL_COLUMNS } from './certificate-refusals.js';
import type { ReadSchema } from './schema.js';
import { DIFFERENCE } from './stored-notices.js';
import { type Unsettled, unsettledWork } from './support-reads.js';

/** Open work of one kind; `oldest` is the earliest acceptance before the first attempt, else the earliest first attempt. */
export type OpenWork = {
  mode: Mode;
  work: 'issue' | 'cancel';
  started: boolean;
  count: number;
  oldest: Instant;
};

/** `mode`: null for a notice that does not say the mode. */
export type NoticeCount = { notice: string; mode: string | null; count: number; seen: number };

export type CertificateExpiry = { companyId: CompanyId; notAfter: Instant };

const MOST_CERTIFICATES = 1_000;

export type MonitoringReads = ReturnType<typeof createMonitoringReads>;

/** Reads for monitoring. Readiness depends on `isReadOnly`; nothing else decides by them. */
export const createMonitoringReads = (pool: pg.Pool) => {
  const db = openDatabase<ReadSchema>(pool);
  return {
    openWork: async (): Promise<readonly OpenWork[]> => {
      const rows = await db
        .selectFrom('read.deadlines')
        .select(['mode', 'work', 'started'])
        .select(sql<number>`count(*)::int`.as('count'))
        .select(sql<Instant>`min(began_at)`.as('oldest'))
        // Selects open work by the index: most rows are test invoices that wait for their retention.
        .where('work_since', '>', '')
        .groupBy(['mode', 'work', 'started'])
        .execute();
      return rows.flatMap(({ work, ...row }) => (work === null ? [] : [{ ...row, work }]));
    },
    /** Invoices and live cancellations that wait for a person. */
    unsettled: (): Promise<readonly Unsettled[]> => unsettledWork(pool),
    /**
     * By notice, those of differences also by mode: `count` kinds of notices whose last occurrence was not before the instant, and how often notices
     * were `seen` at all.
     */
    noticesSince: async (since: Instant): Promise<readonly NoticeCount[]> => {
      const { rows } = await pool.query<NoticeCount>(
        `select notice, case when notice = $2 then split_part(detail, ' ', 1) end as mode,
           count(*) filter (where last_at >= $1)::int as count, sum(seen)::float as seen
         from document_alarms group by 1, 2 order by 1, 2`,
        [since, DIFFERENCE],
      );
      return rows;
    },
    /** Enabled companies whose certificate is missing or unusable: none was stored, the database does not hold it any more, or its key has a fault. */
    companiesWithoutCertificate: async (): Promise<number> => {
      const { rows } = await pool.query<{ count: number }>(
        `select count(*)::int as count from read.companies as company where enabled and not exists (
           select from vault_certificates as kept where kept.company_id = company.company_id
             and kept.certificate_id = company.state::jsonb -> 'certificate' ->> 'certificateId'
             and company.state::jsonb -> 'certificate' -> 'unusable' is null)`,
      );
      return rows[0]?.count ?? 0;
    },
    /** Certificates of enabled companies, the next to expire first; more than 1,000 rarely expire at once. */
    certificateExpiries: async (): Promise<readonly CertificateExpiry[]> => {
      const notAfter = sql<Instant>`state::jsonb -> 'certificate' ->> 'notAfter'`;
      return await db
        .selectFrom('read.companies')
        .select(['company_id as companyId', notAfter.as('notAfter')])
        .where('enabled', '=', true)
        .where(notAfter, 'is not', null)
        .orderBy('notAfter')
        .limit(MOST_CERTIFICATES)
        .execute();
    },
    /** Certificates that the authorizer refuses and that are still their companies' newest; the longest refused first. */
    refusedCertificates: async (): Promise<readonly CertificateRefusal[]> => {
      const { rows } = await pool.query<CertificateRefusal>(
        `select ${REFUSAL_COLUMNS} from certificate_refusals join read.companies using (company_id)
         where enabled and state::jsonb -> 'certificate' ->> 'certificateId' = certificate_id
         order by since, company_id, mode`,
      );
      return rows;
    },
    /** How many seconds this process's clock is ahead of the server's, negative when it is behind: by the middle of the call. */
    clockOffset: async ({ now }: Clock): Promise<number> => {
      const askedMs = epochMs(now());
      const { rows } = await pool.query<{ ms: number }>(
        'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
      );
      const heardMs = epochMs(now());
      if (rows[0] === undefined) throw new Error('the server did not say its time');
      return ((askedMs + heardMs) / 2 - rows[0].ms) / 1000;
    },
    /** Whether the server or this session refuses writes: a standby, or an operator's switch. */
    isReadOnly: async (): Promise<boolean> => {
      const { rows } = await pool.query<{ read_only: boolean }>(
        `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only`,
      );
      return rows[0]?.read_only === true;
    },
  };
};
