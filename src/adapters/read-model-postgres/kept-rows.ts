import type pg from 'pg';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { PreviousGeneration } from '../../ports/read-model.js';

/** The state that every version of the handlers gives a test invoice at its last event. */
const ENDED: InvoiceState = { kind: 'deleted' };

/** What the stream's name says, and the revision. Every version of the rows has these columns, and they survive the invoice. */
const IDENTITY = ['stream', 'revision', 'mode', 'company_id', 'invoice_id'];

/**
 * Empties the row of a test invoice in the previous projection generation, and in one that is being built or whose building was interrupted: all
 * columns that this generation has, but its identity. The revision is left as it is: brought up to date for a rollback or by the next rebuild, the
 * row folds the remaining events and equals the row of a rebuild.
 */
export const createPreviousGeneration = (db: pg.Pool): PreviousGeneration => ({
  end: async (stream) => {
    const { rows } = await db.query<{ table: string; emptied: string[] }>(KEPT, [[...IDENTITY, 'state']]);
    for (const { table, emptied } of rows)
      await db.query(
        `update ${table} set ${emptied.map((column) => `${column} = null, `).join('')} state = $2 where stream = $1`,
        [stream, JSON.stringify(ENDED)],
      );
  },
});

/** The tables of these generations and their columns, quoted. */
const KEPT = `select format('%I.rows', nspname) as table, array_agg(quote_ident(attname)) as emptied
  from checkpoints
  join pg_namespace on nspname = 'p_invoices_v' || version || '_g' || generation
  join pg_class on relnamespace = pg_namespace.oid and relname = 'rows'
  join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and attname <> all ($1::text[])
  where name = 'invoices' and role in ('previous', 'building') group by nspname`;
