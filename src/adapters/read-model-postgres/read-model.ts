import type pg from 'pg';
import type { CompanyState } from '../../domain/company/company.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { ReadModel } from '../../ports/read-model.js';
import { credentialReads } from './credentials.js';
import { deadlineReads } from './deadlines.js';

type StateRow = { state: string; revision: number };

/** Reads the views of schema `read`, which point at the active version of each projection; the hot paths are prepared statements. */
export const createReadModel = (db: pg.Pool): ReadModel => ({
  ...credentialReads(db),
  ...deadlineReads(db),
  invoice: async (stream) => {
    const { rows } = await db.query<StateRow>({ name: 'invoice-by-stream', text: INVOICE, values: [stream] });
    const row = rows[0];
    return row === undefined ? undefined : { state: JSON.parse(row.state) as InvoiceState, revision: row.revision };
  },
  company: async (companyId) => {
    const { rows } = await db.query<StateRow>({ name: 'company-by-id', text: COMPANY, values: [companyId] });
    const row = rows[0];
    return row === undefined ? undefined : { state: JSON.parse(row.state) as CompanyState, revision: row.revision };
  },
  companies: async () => {
    const { rows } = await db.query<Pick<StateRow, 'state'>>('select state from read.companies order by company_id');
    return rows.map(({ state }) => JSON.parse(state) as CompanyState);
  },
  apiSwitchedOff: async () => {
    const { rows } = await db.query<{ switched_off: boolean }>({ name: 'kill-switch', text: KILL_SWITCH });
    return rows[0]?.switched_off ?? false;
  },
});

const INVOICE = 'select state, revision from read.invoices where stream = $1';

const COMPANY = 'select state, revision from read.companies where company_id = $1';

const KILL_SWITCH = `select switched_off from read.system where key = 'api'`;
