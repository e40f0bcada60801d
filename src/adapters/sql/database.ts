import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { isRolledBack } from './errors.js';

/** Typed queries over a pool that the caller owns and closes. Never call `destroy` on the result: it would close the pool. */
export const openDatabase = <Schema>(pool: pg.Pool): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: { connect: async () => closingBroken(await pool.connect()), end: () => pool.end() },
    }),
  });

/**
 * Kysely's dialect returns every connection to the pool, also one with a statement that a silent server never ended. The next caller would wait
 * behind that statement without end. Only after the server's own ERROR is a connection fit for reuse; all others are closed.
 */
const closingBroken = (client: pg.PoolClient): PostgresPoolClient => {
  let broken = false;
  const query = async (statement: unknown, parameters?: readonly unknown[]): Promise<unknown> => {
    try {
      return await client.query(statement as string, parameters as unknown[]);
    } catch (error) {
      broken ||= !isRolledBack(error);
      throw error;
    }
  };
  return { query: query as PostgresPoolClient['query'], release: () => client.release(broken) };
};
