import { sql } from 'kysely';
import type pg from 'pg';
import type { CompanyId, Mode } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import { openDatabase } from '../sql/database.js';
import type { ReadSchema } from './schema.js';

/** Open work of one kind; `oldest` is the earliest acceptance before the first attempt, else the earliest first attempt. */
export type OpenWork = {
  mode: Mode;
  work: 'issue' | 'cancel';
  started: boolean;
  count: number;
  oldest: Instant;
};

export type CertificateExpiry = { companyId: CompanyId; notAfter: Instant };

/** Numbers for monitoring; no decision depends on them. */
export type MonitoringReads = {
  openWork(): Promise<readonly OpenWork[]>;
  /** Certificates of enabled companies, the next to expire first. */
  certificateExpiries(limit: number): Promise<readonly CertificateExpiry[]>;
  /** Whether the server or this session refuses writes: a standby, or an operator's switch. */
  isReadOnly(): Promise<boolean>;
};

export const createMonitoringReads = (pool: pg.Pool): MonitoringReads => {
  const db = openDatabase<ReadSchema>(pool);
  return {
    openWork: async () => {
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
    certificateExpiries: async (limit) => {
      const notAfter = sql<Instant>`state::jsonb -> 'certificate' ->> 'notAfter'`;
      const rows = await db
        .selectFrom('read.companies')
        .select(['company_id as companyId', notAfter.as('notAfter')])
        .where('enabled', '=', true)
        .where(notAfter, 'is not', null)
        .orderBy('notAfter')
        .limit(limit)
        .execute();
      return rows;
    },
    isReadOnly: async () => {
      const { rows } = await pool.query<{ read_only: boolean }>(
        `select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as read_only`,
      );
      return rows[0]?.read_only === true;
    },
  };
};
