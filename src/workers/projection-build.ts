import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { Instant } from '../domain/shared/time.js';
import {
  addStanding,
  forget,
  type Generation,
  generationOf,
  type Standing,
  standings,
} from './projection-generation.js';
import { changingTables, dropTable, makeTable } from './projection-table.js';

/** A generation beside the live one, with where it stands. */
export type Build = { generation: Generation; standing: Standing };

/**
 * The build that an earlier run left behind, if this program can go on with it, else an empty one. Only for the holder
 * of the projection's build lock.
 */
export const openBuild = (db: pg.Pool, projection: Projection, logIdentity: string, now: Instant): Promise<Build> =>
  changingTables(db, async (client) => {
    const all = await standings(client, projection.name);
    const left = all.find(({ role }) => role === 'building');
    if (left !== undefined) {
      if (left.version === projection.version && left.logIdentity === logIdentity) return buildOf(projection, left);
      await forget(client, left);
      await dropTable(client, left);
    }
    const number = Math.max(0, ...all.map(({ generation }) => generation)) + 1;
    const generation: Generation = { ...projection, generation: number, role: 'building' };
    await makeTable(client, generation);
    await addStanding(client, generation, logIdentity, now);
    const made = (await standings(client, projection.name)).find(({ role }) => role === 'building');
    if (made === undefined) throw new Error(`the build of ${projection.name} vanished`);
    return buildOf(projection, made);
  });

const buildOf = (projection: Projection, standing: Standing): Build => ({
  generation: generationOf(projection, standing),
  standing,
});
