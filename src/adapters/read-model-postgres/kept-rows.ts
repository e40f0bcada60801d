import type pg from 'pg';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { KeptRows } from '../../ports/read-model.js';

/** What every version of the handlers makes of the last event of a test invoice. */
const ENDED: InvoiceState = { kind: 'deleted' };

/**
 * In place and without its revision: brought up to date for a rollback, the row meets the events that are left and becomes the
 * one that a rebuild gives. The columns are those of every version so far.
 */
export const createKeptRows = (db: pg.Pool): KeptRows => ({
  end: async (stream) => {
    const { rows } = await db.query<{ kept: string }>(
      `select format('%I.rows', 'p_invoices_v' || version || '_g' || generation) as kept from checkpoints
       where name = 'invoices' and role = 'previous'`,
    );
    for (const { kept } of rows)
      await db.query(
        `update ${kept} set state = $2, access_key = null, dps_id = null, reference = null, created_at = null
         where stream = $1`,
        [stream, JSON.stringify(ENDED)],
      );
  },
});
