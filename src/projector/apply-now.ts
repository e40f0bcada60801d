import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import type { RecordedEvent } from '../ports/event-log.js';
import { foldSteps, planBatch } from './batch.js';
import { generationOf, lockLiveGeneration } from './checkpoints.js';
import { saveRows } from './generation-rows.js';

/** Thrown when the live rows are of another version than this program's. The event is recorded; its row follows with the swap. */
export class LiveRowsOfOtherVersion extends Error {
  override readonly name = 'LiveRowsOfOtherVersion';
}

/**
 * Folds one whole stream and writes its rows at once where they are newer: for revocations and switches, which must take effect while the projector
 * is stopped. The projector later skips these events. Only for projections that never delete rows, because a deleted row has no revision to compare
 * with. Throws when an event cannot be applied, and `LiveRowsOfOtherVersion`.
 */
export const applyStreamNow = async (
  db: pg.Pool,
  projections: readonly Projection[],
  stream: readonly RecordedEvent[],
): Promise<void> => {
  const [first] = stream;
  if (first === undefined) return;
  if (first.revision !== 0) throw new Error('a stream can only be applied from its first event on');
  for (const projection of projections) {
    if (projection.prefixes.some((prefix) => first.stream.startsWith(prefix))) await applyTo(db, projection, stream);
  }
};

const applyTo = async (db: pg.Pool, projection: Projection, stream: readonly RecordedEvent[]): Promise<void> => {
  const planned = planBatch(projection, stream);
  const { changes, ...folded } = foldSteps(projection, planned.steps, new Map());
  const halt = folded.halt ?? planned.halt;
  if (halt !== undefined) throw new Error(`${projection.name} cannot apply ${halt.type}: ${halt.reason}`);
  if ([...changes.values()].some(({ kind }) => kind === 'delete')) {
    throw new Error(`${projection.name} deletes rows and cannot be applied ahead of the log`);
  }
  await inTransaction(db, async (client) => {
    // A swap waits until these rows are committed; a swap that begins later finds their events in the log.
    const live = await lockLiveGeneration(client, projection.name);
    if (live.version !== projection.version) {
      throw new LiveRowsOfOtherVersion(
        `recorded, but not in force yet: projection ${projection.name} is at version ${live.version} and this program writes version ${projection.version}`,
      );
    }
    await saveRows(client, generationOf(projection, live), changes);
  });
};
