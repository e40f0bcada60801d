import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { DatabaseUnsuitable } from './database-checks.js';
import { atAddress } from './errors.js';
import { inTransaction } from './transaction.js';

/**
 * Throws `DatabaseUnsuitable` when the addresses of owner and service lead to two databases. Their texts may differ, by host names or a proxy. Therefore
 * the service looks for a lock of the owner, which only sessions of the same database of the same running server see. The locks of a
 * primary do not show on its standby, of which the name of the database has to do.
 */
export const checkSameDatabase = async (owner: pg.Pool, service: Pick<pg.Pool, 'query'>): Promise<void> => {
  const [own, served] = await inTransaction(owner, async (client) => {
    const key = [randomInt(KEYS), randomInt(KEYS)];
    await client.query('select pg_advisory_xact_lock_shared($1::int, $2::int)', key);
    return [await seenBy(client, key), await atAddress('DATABASE_URL', seenBy(service, key))];
  });
  if (own.name === served.name && (served.seesLock || own.isStandby || served.isStandby)) return;
  const shown = own.name === served.name ? `a database ${own.name} of another server` : `the database ${own.name}`;
  throw new DatabaseUnsuitable(
    `DATABASE_OWNER_URL leads to ${shown}, and DATABASE_URL to ${served.name}: both must lead to one database`,
  );
};

/** Keys are positive `int` of PostgreSQL. */
const KEYS = 2 ** 31;

type Seen = { name: string; isStandby: boolean; seesLock: boolean };

const NOTHING: Seen = { name: '', isStandby: false, seesLock: false };

const seenBy = async (db: Pick<pg.Pool, 'query'>, key: number[]): Promise<Seen> => {
  const { rows } = await db.query<Seen>(SEEN, key);
  return rows[0] ?? NOTHING;
};

/** `objsubid` 2: a lock with a key of two parts. */
const SEEN = `
select current_database() as name, pg_is_in_recovery() as "isStandby", exists (
  select from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 2
  and l.classid = $1::bigint::oid and l.objid = $2::bigint::oid) as "seesLock"`;
