import type pg from 'pg';

/**
 * Runs `work` in one transaction on one connection. `settings` are statements for its beginning, in the same round trip. A connection whose rollback
 * fails is not used again.
 */
export const inTransaction = async <T>(
  db: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  settings = '',
): Promise<T> => {
  const client = await db.connect();
  try {
    await client.query(`begin; ${settings}`);
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    const clean = await client.query('rollback').then(
      () => true,
      () => false,
    );
    client.release(!clean);
    throw error;
  }
};
