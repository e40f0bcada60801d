import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';

/** Typed queries over a pool; closing the pool is the owner's business, so never call `destroy` on it. */
export const openDatabase = <Schema>(pool: pg.Pool): Kysely<Schema> =>
  new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
