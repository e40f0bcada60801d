import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { shareOf } from '../app/event-store/walk-log.js';
import { createLag, type LagReader } from '../app/read/lag.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import type { BuildingStatus, ProjectionStatus } from '../ports/projection-status.js';
import { canRead, type GenerationRecord, generationRecords, liveGeneration } from './checkpoints.js';
import { buildLock } from './rebuild.js';

type StatusDeps = {
  db: pg.Pool;
  log: EventLog;
  clock: Clock;
  /** Passed by callers that ask repeatedly: it remembers which parts of the log hold no event for a projection. */
  lag?: LagReader;
};

/** Returns the status of each projection, in the order of the registry. */
export const projectionStatus = async (
  projections: readonly Projection[],
  { db, log, clock, lag = createLag(log, clock) }: StatusDeps,
): Promise<readonly ProjectionStatus[]> => {
  const all = await generationRecords(db);
  const head = await log.head();
  return await Promise.all(
    projections.map(async ({ name, prefixes }) => {
      const of = (role: GenerationRecord['role']) => all.find((record) => record.name === name && record.role === role);
      const { version, generation, position } = of('live') ?? (await liveGeneration(db, name));
      const lagSeconds = await lag(prefixes, position);
      const building = of('building');
      const previous = of('previous');
      return {
        name,
        version,
        generation,
        position,
        lagSeconds,
        ...(building === undefined ? {} : { rebuilding: await buildingOf(db, building, head) }),
        ...(previous === undefined ? {} : { previous: { version: previous.version, generation: previous.generation } }),
      };
    }),
  );
};

/** Projections whose live rows are of another version than this program's, and whether its readers can use them. */
export const rowsOfOtherVersions = async (
  db: pg.Pool,
  projections: readonly Projection[],
): Promise<readonly { name: string; older: boolean; readable: boolean }[]> => {
  const live = (await generationRecords(db)).filter(({ role }) => role === 'live');
  return projections.flatMap((projection) => {
    const { name, version } = projection;
    const rows = live.find((record) => record.name === name);
    if (rows?.version === version) return [];
    const older = rows === undefined || rows.version < version;
    return [{ name, older, readable: rows !== undefined && canRead(projection, rows) }];
  });
};

const buildingOf = async (
  db: pg.Pool,
  { name, version, generation, position }: GenerationRecord,
  head: LogPosition | null,
): Promise<BuildingStatus> => ({
  version,
  generation,
  position,
  progress: shareOf(position, head),
  running: await isHeld(db, buildLock(name)),
});

/** Reads the locks instead of trying to take one, which would make a concurrent `tryLead` fail. */
const isHeld = async (db: pg.Pool, lock: string): Promise<boolean> => {
  const { rows } = await db.query<{ held: boolean }>(
    `select exists (
       select from pg_locks
       where locktype = 'advisory' and objsubid = 1 and granted
         and database = (select oid from pg_database where datname = current_database())
         and (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)
     ) as held`,
    [lock],
  );
  return rows[0]?.held === true;
};
