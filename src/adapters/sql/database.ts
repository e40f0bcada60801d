import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { isRolledBack } from './errors.js';

/** Typed queries over a pool; closing the pool is the owner's business, so never call `destroy` on it. */
export const openDatabase = <Schema>(pool: pg.Pool): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: { connect: async () => dropsWhatIsBroken(await pool.connect()), end: () => pool.end() },
    }),
  });

/**
 * The dialect gives a connection back as it is, also one that a silent server left in the middle of a statement: whoever
 * came next would wait behind that statement, for ever. Only a server's own ERROR leaves a connection fit for use.
 */
const dropsWhatIsBroken = (client: pg.PoolClient): PostgresPoolClient => {
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
