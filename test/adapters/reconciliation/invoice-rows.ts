import type pg from 'pg';
import { invoices } from '../../../projections/invoices/index.js';
import { memoryEventLog } from '../../../src/adapters/eventlog-memory/event-log.js';
import { prepareProjections } from '../../../src/workers/projector.js';
import { T0 } from '../../domain/invoice/fixtures.js';

type Row = { stream: string; createdAt: string | null; accessKey: string | null };

/** Rows of the read model as its projection would have left them, without the events. */
export const rowsOfInvoices = async (pool: pg.Pool, rows: readonly Row[]): Promise<void> => {
  await prepareProjections(pool, memoryEventLog(), { now: () => T0 }, [invoices]);
  for (const { stream, createdAt, accessKey } of rows) {
    await pool.query(
      `insert into read.invoices (stream, revision, mode, company_id, invoice_id, access_key, created_at, state)
       values ($1, 0, $2, '12345678000195', $1, $3, $4, '{}')`,
      [stream, stream.startsWith('nfseLive') ? 'live' : 'test', accessKey, createdAt],
    );
  }
};
