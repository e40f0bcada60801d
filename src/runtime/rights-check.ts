import type pg from 'pg';
import { excessRights } from '../adapters/sql/rights.js';
import type { Check } from '../cli/session.js';

const CURE = 'give the service a role of its own: nfse setup database (docs/operations/postgresql.md#roles)';

/** Whether the database would refuse whoever speaks in the service's name what the service itself never does. */
export const rightsCheck = async (pool: pg.Pool): Promise<Check> => {
  const excess = await excessRights(pool);
  return excess.length === 0
    ? {
        name: 'database rights',
        ok: true,
        detail: 'the user may append to the log and neither change nor remove what is in it',
      }
    : {
        name: 'database rights',
        ok: false,
        detail: `the user has more than it needs: ${excess.join('; ')}`,
        cure: CURE,
      };
};
