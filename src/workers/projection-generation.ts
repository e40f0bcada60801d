import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/shared/time.js';
import type { LogPosition } from '../ports/event-log.js';

/** `live` is what the view shows, `building` will be, `previous` was and is kept for a rollback; at most one of each. */
export type Role = 'live' | 'building' | 'previous';

/** One copy of a projection's rows, numbered over all versions, and what makes it. */
export type Generation = Projection & { readonly generation: number; readonly role: Role };

/** What R notes of a generation. `position` is that of the last event handled, null when it has handled none. */
export type Standing = {
  name: string;
  version: number;
  compatibleFrom: number;
  generation: number;
  role: Role;
  logIdentity: string;
  position: LogPosition | null;
};

export type Queryable = Pick<pg.Pool, 'query'>;

type StandingRow = {
  name: string;
  version: number;
  compatible_from: number;
  generation: number;
  role: Role;
  log_identity: string;
  position: string | null;
};

const COLUMNS = 'name, version, compatible_from, generation, role, log_identity, position';

/** Of all projections, or of one; with a lock, nobody else moves a checkpoint or changes a role until the transaction ends. */
export const standings = async (db: Queryable, name?: string, lock?: 'for update'): Promise<readonly Standing[]> => {
  const { rows } = await db.query<StandingRow>(
    `select ${COLUMNS} from checkpoints where name = $1 or $1::text is null order by name, generation ${lock ?? ''}`,
    [name ?? null],
  );
  return rows.map(toStanding);
};

/** What the view shows. Throws when the projection was never prepared. */
export const liveStanding = async (db: Queryable, name: string): Promise<Standing> => {
  const live = (await standings(db, name)).find(({ role }) => role === 'live');
  if (live === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return live;
};

/**
 * The same inside a transaction, and it stays live until that ends. It does not hinder the projector, which only moves
 * the checkpoint; a swap waits for it.
 */
export const holdLive = async (client: pg.PoolClient, name: string): Promise<Standing> => {
  const look = async (): Promise<StandingRow | undefined> => {
    const { rows } = await client.query<StandingRow>(
      `select ${COLUMNS} from checkpoints where name = $1 and role = 'live' for key share`,
      [name],
    );
    return rows[0];
  };
  // A swap that commits while we wait makes the row we waited for the previous one; the second look finds the new one.
  const row = (await look()) ?? (await look());
  if (row === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return toStanding(row);
};

export const addStanding = async (
  client: pg.PoolClient,
  { name, version, compatibleFrom, generation, role }: Generation,
  logIdentity: string,
  now: Instant,
): Promise<void> => {
  await client.query(
    `insert into checkpoints (name, version, compatible_from, generation, role, log_identity, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [name, version, compatibleFrom ?? version, generation, role, logIdentity, now],
  );
};

export const forget = async (client: pg.PoolClient, { name, generation }: Standing): Promise<void> => {
  await client.query('delete from checkpoints where name = $1 and generation = $2', [name, generation]);
};

/** The handlers of this program over rows of their own version. */
export const generationOf = (projection: Projection, { generation, role, version }: Standing): Generation => {
  if (version !== projection.version) {
    throw new Error(`generation ${generation} of ${projection.name} is of version ${version}`);
  }
  return { ...projection, generation, role };
};

/** Whether readers written for `projection` can use those rows: the newer of the two says so. */
export const canRead = ({ version, compatibleFrom }: Projection, rows: Standing): boolean =>
  rows.version <= version ? rows.version >= (compatibleFrom ?? version) : version >= rows.compatibleFrom;

const toStanding = ({ compatible_from, log_identity, position, ...rest }: StandingRow): Standing => ({
  ...rest,
  compatibleFrom: compatible_from,
  logIdentity: log_identity,
  position: position === null ? null : (BigInt(position) as LogPosition),
});
