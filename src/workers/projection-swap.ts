import type pg from 'pg';
import type { Instant } from '../domain/shared/time.js';
import { type EventLog, type LogPosition, SUBSCRIPTION_BATCH } from '../ports/event-log.js';
import { foldBatch } from './projection-batch.js';
import type { Place } from './projection-catch-up.js';
import { moveCheckpoint } from './projection-checkpoint.js';
import { forget, type Generation, type Standing, standings } from './projection-generation.js';
import { saveRows } from './projection-rows.js';
import { dropTable, inTransaction, showInView } from './projection-table.js';

export type SwapOutcome =
  | { kind: 'swapped'; position: LogPosition | null }
  /** The log has gone on too far to be folded under the lock, or somebody held what must be locked: catch up from there, try again. */
  | { kind: 'behind'; place: Place }
  | { kind: 'moved' };

/** So much may be left to fold while the projector and the operators' commands wait. */
const LAST_BATCHES = 4;
/** Readers queue behind a lock that is waited for, so we do not wait long. */
const LOCK_WAIT = '500ms';

/**
 * Makes a caught-up generation the live one, in one transaction: nobody moves the live checkpoint meanwhile, the rest
 * of the log is folded, then roles and view change. The generation that was live becomes `previous`; what was
 * `previous` before is dropped, unless it is the one that comes back. Throws what the engines say; nobody then knows,
 * and the roles must be read.
 */
export const swapIn = async (
  { db, log }: { db: pg.Pool; log: EventLog },
  generation: Generation,
  place: Place,
  now: Instant,
): Promise<SwapOutcome> => {
  try {
    return await inTransaction(db, async (client) => {
      await client.query(`set local lock_timeout = '${LOCK_WAIT}'`);
      const all = await standings(client, generation.name, 'for update');
      const own = all.find((standing) => standing.generation === generation.generation);
      if (own?.role !== generation.role || own.position !== place.position) return { kind: 'moved' };
      const rest = await foldTheRest(client, log, generation, place, now);
      if (!rest.complete) return { kind: 'behind', place: rest.place };
      await changeRoles(client, generation, all);
      return { kind: 'swapped', position: rest.place.position };
    });
  } catch (error) {
    if (isLockTimeout(error)) return { kind: 'behind', place };
    throw error;
  }
};

/**
 * Up to the head of the log as it is under the lock: an operator's command that has written its row into the live
 * generation did so before, and its event is in front of this head.
 */
const foldTheRest = async (
  client: pg.PoolClient,
  log: EventLog,
  generation: Generation,
  from: Place,
  now: Instant,
): Promise<{ place: Place; complete: boolean }> => {
  const head = await log.head();
  let place = from;
  for (let n = 0; n < LAST_BATCHES; n += 1) {
    if (head === null || (place.lookedTo !== null && place.lookedTo >= head)) return { place, complete: true };
    const { prefixes } = generation;
    const batch = await log.readAll({ prefixes, after: place.lookedTo, limit: SUBSCRIPTION_BATCH });
    const to = batch[batch.length - 1]?.position;
    if (to === undefined) return { place, complete: true };
    const { changes, halt } = await foldBatch(client, generation, batch);
    // The catch-up meets it again and says what it is.
    if (halt !== undefined || !(await moveCheckpoint(client, generation, place.position, to, now))) break;
    await saveRows(client, generation, changes);
    place = { position: to, lookedTo: to };
  }
  return { place, complete: false };
};

const changeRoles = async (client: pg.PoolClient, generation: Generation, all: readonly Standing[]): Promise<void> => {
  const replaced = all.find(({ role }) => role === 'previous');
  if (replaced !== undefined && generation.role === 'building') {
    await forget(client, replaced);
    await dropTable(client, replaced);
  }
  await client.query(
    `update checkpoints set role = case when generation = $2 then 'live' else 'previous' end
     where name = $1 and (generation = $2 or role = 'live')`,
    [generation.name, generation.generation],
  );
  await showInView(client, generation);
};

const isLockTimeout = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '55P03';
