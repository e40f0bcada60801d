import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/shared/time.js';
import type { LogPosition } from '../ports/event-log.js';
import { type Generation, liveStanding, type Queryable, standings } from './projection-generation.js';

/** Thrown at start-up: the rows were made from another log than the one that is configured; nothing was changed. */
export class LogIdentityMismatch extends Error {
  override readonly name = 'LogIdentityMismatch';
}

/** Throws `LogIdentityMismatch` when the live rows were made from another log. */
export const checkLogIdentity = async (
  db: Queryable,
  { name }: Pick<Projection, 'name'>,
  identity: string,
): Promise<void> => {
  const { logIdentity } = await liveStanding(db, name);
  if (logIdentity === identity) return;
  throw new LogIdentityMismatch(
    `projection ${name} was built from log ${logIdentity}, but the log is ${identity}: nfse projections rebuild --all`,
  );
};

/** Position of the last event in the rows that are read; null when they have handled none. */
export const readCheckpoint = async (db: Queryable, { name }: Pick<Projection, 'name'>): Promise<LogPosition | null> =>
  (await liveStanding(db, name)).position;

/** Compare-and-set, which also locks the row until the transaction ends; false when somebody else moved it or the generation changed its role. */
export const moveCheckpoint = async (
  client: pg.PoolClient,
  { name, generation, role }: Generation,
  from: LogPosition | null,
  to: LogPosition,
  now: Instant,
): Promise<boolean> => {
  const { rowCount } = await client.query(
    `update checkpoints set position = $1, updated_at = $2
     where name = $3 and generation = $4 and role = $5 and position is not distinct from $6`,
    [to.toString(), now, name, generation, role, from === null ? null : from.toString()],
  );
  return rowCount === 1;
};

/** Whether a compare-and-set from this position would find what it expects. */
export const standsAt = async (
  db: Queryable,
  { name, generation, role }: Generation,
  position: LogPosition | null,
): Promise<boolean> =>
  (await standings(db, name)).some(
    (standing) => standing.generation === generation && standing.role === role && standing.position === position,
  );
