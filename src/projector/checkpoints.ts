import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/common/time.js';
import type { LogPosition } from '../ports/event-log.js';

/** The view shows `live`. `building` will replace it, `previous` is kept for a rollback. At most one generation has each role. */
type GenerationRole = 'live' | 'building' | 'previous';

/** One physical copy of a projection's rows, with the projection that makes it. Numbers count over all versions. */
export type Generation = Projection & { readonly generation: number; readonly role: GenerationRole };

/** The recorded state of a generation. `position` is that of the last event handled, null when none was. */
export type GenerationRecord = {
  name: string;
  version: number;
  compatibleFrom: number;
  generation: number;
  role: GenerationRole;
  logIdentity: string;
  position: LogPosition | null;
};

export type Queryable = Pick<pg.Pool, 'query'>;

type GenerationRow = Omit<GenerationRecord, 'position'> & { position: string | null };

const COLUMNS =
  'name, version, compatible_from as "compatibleFrom", generation, role, log_identity as "logIdentity", position';

/** Generations of all projections, or of one. With a lock no other process moves a checkpoint or changes a role until the transaction ends. */
export const generationRecords = async (
  db: Queryable,
  name?: string,
  lock?: 'for update',
): Promise<readonly GenerationRecord[]> => {
  const { rows } = await db.query<GenerationRow>(
    `select ${COLUMNS} from checkpoints where name = $1 or $1::text is null order by name, generation ${lock ?? ''}`,
    [name ?? null],
  );
  return rows.map(toGenerationRecord);
};

/** The generation that the view shows. Throws when the projection was never prepared. */
export const liveGeneration = async (db: Queryable, name: string): Promise<GenerationRecord> => {
  const live = (await generationRecords(db, name)).find(({ role }) => role === 'live');
  if (live === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return live;
};

/**
 * As `liveGeneration`, inside a transaction: the generation stays live until the transaction ends. The projector can still move the checkpoint; a swap
 * waits.
 */
export const lockLiveGeneration = async (client: pg.PoolClient, name: string): Promise<GenerationRecord> => {
  const look = async (): Promise<GenerationRow | undefined> => {
    const { rows } = await client.query<GenerationRow>(
      `select ${COLUMNS} from checkpoints where name = $1 and role = 'live' for key share`,
      [name],
    );
    return rows[0];
  };
  // A swap that commits during the wait turns the awaited row into `previous`; the second query finds the new live row.
  const row = (await look()) ?? (await look());
  if (row === undefined) throw new Error(`projection ${name} has no live rows: it was never prepared`);
  return toGenerationRecord(row);
};

export const addGenerationRecord = async (
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

/** Combines this program's handlers with a generation of the same version. Throws for another version. */
export const generationOf = (projection: Projection, { generation, role, version }: GenerationRecord): Generation => {
  if (version !== projection.version) {
    throw new Error(`generation ${generation} of ${projection.name} is of version ${version}`);
  }
  return { ...projection, generation, role };
};

/** Whether readers written for `projection` can use those rows; the newer of the two versions decides. */
export const canRead = ({ version, compatibleFrom }: Projection, rows: GenerationRecord): boolean =>
  rows.version <= version ? rows.version >= (compatibleFrom ?? version) : version >= rows.compatibleFrom;

const toGenerationRecord = (row: GenerationRow): GenerationRecord => ({
  ...row,
  position: row.position === null ? null : (BigInt(row.position) as LogPosition),
});

/** Position of the last event in the live rows; null when no event was handled. */
export const readCheckpoint = async (db: Queryable, { name }: Pick<Projection, 'name'>): Promise<LogPosition | null> =>
  (await liveGeneration(db, name)).position;

/**
 * Compare-and-set that also locks the row until the transaction ends. False when the position or the role of the generation has changed. False when
 * `to` is of another log. Where the database keeps the log: false when that log ends before `to`, or has another event at `to` than the one with
 * `hash`, because a failover lost the event. An event that retention has cut since cannot be compared.
 */
export const moveCheckpoint = async (
  client: pg.PoolClient,
  { name, generation, role }: Generation,
  { from, to, hash, logIdentity }: CheckpointMove,
  now: Instant,
): Promise<boolean> => {
  const { rowCount } = await client.query(
    `update checkpoints c set position = $1::text, updated_at = $2
     where name = $3 and generation = $4 and role = $5 and position is not distinct from $6
     and log_identity = coalesce($8, log_identity) and not exists (
       select from event_log_head h where h.identity::text = c.log_identity and (h.position < $1::text::numeric or (
         select hash from event_log where position = least(h.position, $1::text::numeric)::bigint) <> $7))`,
    [
      to.toString(),
      now,
      name,
      generation,
      role,
      from === null ? null : from.toString(),
      hash ?? null,
      logIdentity ?? null,
    ],
  );
  return rowCount === 1;
};

/** `logIdentity`: the log of `to`, where another log may be at the address. */
type CheckpointMove = {
  from: LogPosition | null;
  to: LogPosition;
  hash?: string | undefined;
  logIdentity?: string;
};

/** Whether a compare-and-set from this position would succeed now. */
export const isCheckpointAt = async (
  db: Queryable,
  { name, generation, role }: Generation,
  position: LogPosition | null,
): Promise<boolean> =>
  (await generationRecords(db, name)).some(
    (record) => record.generation === generation && record.role === role && record.position === position,
  );
