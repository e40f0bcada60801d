import type pg from 'pg';
import type { Projection } from '../../projections/types.js';
import type { RecordedEvent } from '../ports/event-log.js';
import { foldSteps, planBatch } from './projection-fold.js';
import { saveRows } from './projection-rows.js';

/**
 * Folds one whole stream and writes its rows at once where they are newer than what stands: for revocations and
 * switches, which must hold with the projector stopped too. The projector skips what it then finds done. Only for
 * projections whose rows stay: a row once deleted has no revision that could guard it. Throws when an event cannot be applied.
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
    if (!projection.prefixes.some((prefix) => first.stream.startsWith(prefix))) continue;
    const planned = await planBatch(projection, stream);
    const folded = foldSteps(projection, planned.steps, new Map());
    const halt = folded.halt ?? planned.halt;
    if (halt !== undefined) throw new Error(`${projection.name} cannot apply ${halt.type}: ${halt.reason}`);
    if ([...folded.changes.values()].some(({ kind }) => kind === 'delete')) {
      throw new Error(`${projection.name} deletes rows and cannot be applied ahead of the log`);
    }
    await saveRows(db, projection, folded.changes);
  }
};
