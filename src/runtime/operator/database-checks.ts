import type pg from 'pg';
import type { Check } from '../../cli/session.js';

/**
 * Settings of the server by which a crash of its machine costs what was acknowledged. No session can set them, unlike `synchronous_commit`. Nothing is
 * said of a server that has both on.
 */
export const durabilityChecks = async (pool: pg.Pool): Promise<readonly Check[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name`,
  );
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  const detail = `${names.join(' and ')} off: a crash of its machine may lose accepted invoices or damage the database`;
  const cure = `alter system set ${names.join(' = on; alter system set ')} = on; select pg_reload_conf();`;
  return [{ name: 'database durability', ok: false, detail, cure }];
};
