import type { Mode } from '../../src/domain/shared/ids.js';

/** One invoice stream. `state` is the JSON of the domain's folded state, personal fields sealed as in the log. */
export type InvoiceRow = {
  stream: string;
  revision: number;
  mode: Mode;
  company_id: string;
  invoice_id: string;
  access_key: string | null;
  /** Of the last attempt. */
  dps_id: string | null;
  reference: string | null;
  created_at: string | null;
  state: string;
};

export const columns = {
  stream: 'text',
  revision: 'integer',
  mode: 'text',
  company_id: 'text',
  invoice_id: 'text',
  access_key: 'text',
  dps_id: 'text',
  reference: 'text',
  created_at: 'text',
  state: 'text',
} as const;
