import type pg from 'pg';
import type { CompanyState } from '../../domain/company/company.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { ReadModel } from '../../ports/read-model.js';
import { openDatabase } from '../sql/database.js';
import { credentialReads } from './credentials.js';
import { deadlineReads } from './deadlines.js';
import { referenceReads } from './reference-data.js';
import type { ReadSchema } from './schema.js';

/** Reads the views of schema `read`, which point at the active version of each projection; the hottest path is a prepared statement. */
export const createReadModel = (pool: pg.Pool): ReadModel => {
  const db = openDatabase<ReadSchema>(pool);
  const companies = db.selectFrom('read.companies').select(['state', 'revision']);
  return {
    ...credentialReads(pool, db),
    ...deadlineReads(db),
    ...referenceReads(db),
    invoice: async (stream) => {
      const { rows } = await pool.query<{ state: string; revision: number }>({
        name: 'invoice-by-stream',
        text: 'select state, revision from read.invoices where stream = $1',
        values: [stream],
      });
      const row = rows[0];
      return row === undefined ? undefined : { state: JSON.parse(row.state) as InvoiceState, revision: row.revision };
    },
    company: async (companyId) => {
      const row = await companies.where('company_id', '=', companyId).executeTakeFirst();
      return row === undefined ? undefined : { state: JSON.parse(row.state) as CompanyState, revision: row.revision };
    },
    companies: async () => {
      const rows = await companies.orderBy('company_id').execute();
      return rows.map(({ state }) => JSON.parse(state) as CompanyState);
    },
    apiSwitchedOff: async () => {
      const row = await db.selectFrom('read.system').select('switched_off').where('key', '=', 'api').executeTakeFirst();
      return row?.switched_off ?? false;
    },
  };
};
