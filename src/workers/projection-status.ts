import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { createLag, type Lag } from '../app/read/lag.js';
import type { Clock } from '../ports/clock.js';
import type { EventLog, LogPosition } from '../ports/event-log.js';
import { canRead, liveStanding, type Standing, standings } from './projection-generation.js';
import { buildLock } from './projection-rebuild.js';

export type ProjectionStatus = {
  name: string;
  /** Of the rows that are read; the program may know another one. */
  version: number;
  generation: number;
  position: LogPosition | null;
  /** Age in seconds of the oldest event that those rows do not hold; 0 at the head of the log. */
  lagSeconds: number;
  rebuilding?: Building;
  /** What a rollback would go back to. */
  previous?: { version: number; generation: number };
};

/** `progress` is between 0 and 1. Not `running`: a run was interrupted, and the next one goes on with it. */
export type Building = {
  version: number;
  generation: number;
  position: LogPosition | null;
  progress: number;
  running: boolean;
};

export type StatusDeps = {
  db: pg.Pool;
  log: EventLog;
  clock: Clock;
  /** Of one who asks again and again, so that it remembers where there was nothing. */
  lag?: Lag;
};

/** In the order of the registry. */
export const projectionStatus = async (
  projections: readonly Projection[],
  { db, log, clock, lag = createLag(log, clock) }: StatusDeps,
): Promise<readonly ProjectionStatus[]> => {
  const all = await standings(db);
  const head = await log.head();
  return await Promise.all(
    projections.map(async ({ name, prefixes }) => {
      const of = (role: Standing['role']) => all.find((standing) => standing.name === name && standing.role === role);
      const { version, generation, position } = of('live') ?? (await liveStanding(db, name));
      const lagSeconds = await lag(prefixes, position);
      const building = of('building');
      const previous = of('previous');
      return {
        ...{ name, version, generation, position, lagSeconds },
        ...(building === undefined ? {} : { rebuilding: await buildingOf(db, building, head) }),
        ...(previous === undefined ? {} : { previous: { version: previous.version, generation: previous.generation } }),
      };
    }),
  );
};

/** Projections whose live rows are of another version than this program's, older or newer, and whether its readers can use them. */
export const rowsOfOtherVersions = async (
  db: pg.Pool,
  projections: readonly Projection[],
): Promise<readonly { name: string; older: boolean; readable: boolean }[]> => {
  const live = (await standings(db)).filter(({ role }) => role === 'live');
  return projections.flatMap((projection) => {
    const { name, version } = projection;
    const rows = live.find((standing) => standing.name === name);
    if (rows?.version === version) return [];
    const older = rows === undefined || rows.version < version;
    return [{ name, older, readable: rows !== undefined && canRead(projection, rows) }];
  });
};

/** How far a position is on the way to the head; positions are no counts, but grow with the log. */
export const shareOf = (position: LogPosition | null, head: LogPosition | null): number => {
  if (head === null || head === 0n) return 1;
  return Math.min(1, Number(((position ?? 0n) * 10_000n) / head) / 10_000);
};

const buildingOf = async (
  db: pg.Pool,
  { name, version, generation, position }: Standing,
  head: LogPosition | null,
): Promise<Building> => ({
  ...{ version, generation, position },
  progress: shareOf(position, head),
  running: await isHeld(db, buildLock(name)),
});

/** Looks without taking the lock, which would turn away somebody who wants it at this moment. */
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
