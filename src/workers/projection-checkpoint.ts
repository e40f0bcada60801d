import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/shared/time.js';
import type { LogPosition } from '../ports/event-log.js';

/** Thrown at start-up: the rows were made from another log than the one that is configured; nothing was changed. */
export class LogIdentityMismatch extends Error {
  override readonly name = 'LogIdentityMismatch';
}

/** Notes at the first start which log the projection reads; throws `LogIdentityMismatch` when it is another one from then on. */
export const openCheckpoint = async (
  db: pg.Pool,
  { name, version }: Projection,
  logIdentity: string,
  now: Instant,
): Promise<void> => {
  await db.query(
    `insert into checkpoints (name, version, log_identity, updated_at) values ($1, $2, $3, $4) on conflict do nothing`,
    [name, version, logIdentity, now],
  );
  const { rows } = await db.query<{ log_identity: string }>(
    'select log_identity from checkpoints where name = $1 and version = $2',
    [name, version],
  );
  const known = rows[0]?.log_identity;
  if (known !== logIdentity) {
    throw new LogIdentityMismatch(
      `projection ${name} was built from log ${known ?? 'unknown'}, but the log is ${logIdentity}: rebuild the read model`,
    );
  }
};

/** Position of the last event handled; null when it has handled none or never ran. */
export const readCheckpoint = async (
  db: pg.Pool,
  { name, version }: Pick<Projection, 'name' | 'version'>,
): Promise<LogPosition | null> => {
  const { rows } = await db.query<{ position: string | null }>(
    'select position from checkpoints where name = $1 and version = $2',
    [name, version],
  );
  const position = rows[0]?.position ?? null;
  return position === null ? null : (BigInt(position) as LogPosition);
};

/** Compare-and-set, which also locks the row until the transaction ends; false when somebody else moved it. */
export const moveCheckpoint = async (
  client: pg.PoolClient,
  { name, version }: Projection,
  from: LogPosition | null,
  to: LogPosition,
  now: Instant,
): Promise<boolean> => {
  const { rowCount } = await client.query(
    `update checkpoints set position = $1, updated_at = $2
     where name = $3 and version = $4 and position is not distinct from $5`,
    [to.toString(), now, name, version, from === null ? null : from.toString()],
  );
  return rowCount === 1;
};
