import { sql } from 'kysely';
import type pg from 'pg';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, epochMs, type Instant } from '../../domain/common/time.js';
import { WARNING_DAYS } from '../../domain/company/certificate-expiry.js';
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
type NoticeCount = { notice: string; mode: string | null; count: number; seen: number };

export type CertificateExpiry = { companyId: CompanyId; notAfter: Instant };

/** Certificates that have ended, or have fewer than `withinDays` left, or have longer (null); `first`: the end of the one that ends first. */
type CertificateStep = { isOver: boolean; withinDays: number | null; count: number; first: Instant };

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
    /** The certificates of all enabled companies, counted by the step of their warning: each is in one step only. */
    certificateSteps: async (now: Instant): Promise<readonly CertificateStep[]> => {
      const { rows } = await pool.query<CertificateStep>(CERTIFICATE_STEPS, [
        now,
        WARNING_DAYS,
        WARNING_DAYS.map((days) => addSeconds(now, days * DAY_SECONDS)),
      ]);
      return rows;
    },
    /** All certificates of enabled companies that end before the instant or have ended; the last to end comes first. */
    certificatesEndingBefore: async (until: Instant): Promise<readonly CertificateExpiry[]> =>
      await db
        .selectFrom('read.companies')
        .select(['company_id as companyId', NOT_AFTER.as('notAfter')])
        .where('enabled', '=', true)
        .where(NOT_AFTER, '<', until)
        .orderBy('notAfter', 'desc')
        .execute(),
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

const NOT_AFTER = sql<Instant>`state::jsonb -> 'certificate' ->> 'notAfter'`;

const CERTIFICATE_STEPS = `select "isOver", case when not "isOver" then "withinDays" end as "withinDays", count(*)::int as count,
    min(not_after) as first
  from (
    select not_after, not_after <= $1 as "isOver",
      (select min(days) from unnest($2::int[], $3::text[]) as step (days, ends) where not_after < ends) as "withinDays"
    from (select state::jsonb -> 'certificate' ->> 'notAfter' as not_after from read.companies where enabled) as company
    where not_after is not null
  ) as certificate group by 1, 2`;
