import type pg from 'pg';

/** Thrown at start-up for a server or database that this service cannot use; nothing was changed. */
export class ServerUnsuitable extends Error {
  override readonly name = 'ServerUnsuitable';
}

/** The oldest major version that every statement is tested on. */
const OLDEST = 15;
/** `server_version_num` is major * 10000 + minor. */
const PER_MAJOR = 10_000;

type Server = { version: number; shown: string; encoding: string };

/** Throws `ServerUnsuitable` with a line for the operator, or what the server said instead of an answer. */
export const checkServer = async (db: Pick<pg.Pool, 'query'>): Promise<void> => {
  const { rows } = await db.query<Server>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as shown,
       current_setting('server_encoding') as encoding`,
  );
  const server = rows[0];
  if (server === undefined) throw new ServerUnsuitable('the database does not say which version it is');
  if (server.version < OLDEST * PER_MAJOR) {
    throw new ServerUnsuitable(`the database is PostgreSQL ${server.shown}: this service needs ${OLDEST} or newer`);
  }
  if (server.encoding !== 'UTF8') {
    throw new ServerUnsuitable(`the database's encoding is ${server.encoding}: make one with encoding UTF8`);
  }
};
