import type pg from 'pg';
import { DatabaseUnsuitable } from './database-checks.js';
import { openPool } from './pool.js';

/** For an operator whose pooler gives a connection another session at any transaction. */
export const SHARED_SESSIONS =
  'the address of the database leads to a pooler that gives each transaction another session, and this service keeps locks in its sessions: set pool_mode = session, or use the address of the server itself (docs/operations/postgresql.md#poolers)';

/** Another client of the pooler may get the session between two questions. */
const ROUNDS = 3;

/**
 * Throws `DatabaseUnsuitable` where the address of the pool leads to a pooler in transaction mode. There the locks of leaders would stay in sessions that
 * no process owns. A pooler gives its clients other numbers than those of the server's sessions; nothing more is asked where the numbers agree.
 */
export const refuseSharedSessions = async (pool: pg.Pool): Promise<void> => {
  const client = await pool.connect();
  try {
    if (numberGivenTo(client) === (await sessionOf(client))) return;
    if (await isShared(client, pool)) throw new DatabaseUnsuitable(SHARED_SESSIONS);
  } finally {
    client.release();
  }
};

/**
 * An idle pooler gives the session that was freed last, so that two connections get the same one. One that takes turns gives a connection
 * another session each time.
 */
const isShared = async (client: pg.PoolClient, { options }: pg.Pool): Promise<boolean> => {
  const { connectionString = '', application_name: applicationName = '' } = options;
  const others = openPool({ connectionString, applicationName, max: 1 });
  try {
    const other = await others.connect();
    try {
      const own = await sessionOf(client);
      for (let round = 0; round < ROUNDS; round += 1) {
        if ((await sessionOf(client)) !== own || (await sessionOf(other)) === own) return true;
      }
      return false;
    } finally {
      other.release();
    }
  } finally {
    await others.end();
  }
};

/** The number of the session as the server or pooler gave it to the driver, whose types lack it. */
const numberGivenTo = (client: pg.PoolClient & { processID?: number | null }): number | null | undefined =>
  client.processID;

const sessionOf = async (client: pg.PoolClient): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
