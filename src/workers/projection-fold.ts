import type { Projection, Recorded, Row } from '../../projections/types.js';
import { type DecodedEvent, decodeSealed } from '../app/event-store/codec.js';
import type { StreamName } from '../domain/shared/ids.js';
import type { EventBatch, LogPosition, RecordedEvent, Revision } from '../ports/event-log.js';
import type { RowChange } from './projection-rows.js';

/** An event that concerns one row of the projection. */
export type Step = { key: string; event: DecodedEvent };

/** Why a projection stopped, without anything of the event's content. */
export type Halt = { position: LogPosition; stream: StreamName; revision: Revision; type: string; reason: string };

export type Planned = { steps: readonly Step[]; halt?: Halt };

/** Decodes a batch, still sealed, up to the first event that this program cannot read. */
export const planBatch = (projection: Projection, batch: EventBatch): Planned => {
  const steps: Step[] = [];
  for (const recorded of batch) {
    try {
      const event = decodeSealed(recorded);
      if (handlerOf(projection, event.type) === 'ignored') continue;
      const key = projection.keyOf(event as Recorded<DecodedEvent>);
      if (key !== undefined) steps.push({ key, event });
    } catch (error) {
      return { steps, halt: haltAt(recorded, error) };
    }
  }
  return { steps };
};

export type Folded = { changes: ReadonlyMap<string, RowChange>; halt?: Halt };

/** Folds steps over the rows as they stand; an event that a row has already seen is skipped. Ends at the first that fails. */
export const foldSteps = (projection: Projection, steps: readonly Step[], rows: ReadonlyMap<string, Row>): Folded => {
  const changes = new Map<string, RowChange>();
  for (const { key, event } of steps) {
    const change = changes.get(key);
    const row = change === undefined ? rows.get(key) : change.kind === 'upsert' ? change.row : undefined;
    if (row !== undefined && row.revision >= event.revision) continue;
    try {
      const handler = handlerOf(projection, event.type);
      if (handler === 'ignored') continue;
      const next = handler(row, event);
      changes.set(
        key,
        next === 'delete' ? { kind: 'delete', revision: event.revision } : { kind: 'upsert', row: next },
      );
    } catch (error) {
      return { changes, halt: haltAt(event, error) };
    }
  }
  return { changes };
};

export const haltAt = (
  { position, stream, revision, type }: Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'type'>,
  error: unknown,
): Halt => ({ position, stream, revision, type, reason: reasonOf(error) });

const handlerOf = (projection: Projection, type: string) => {
  const handler = Object.hasOwn(projection.handlers, type) ? projection.handlers[type] : undefined;
  if (handler === undefined) throw new Error(`${projection.name} has no handler for ${type}`);
  return handler;
};

/** Our own messages name no content; an engine's may quote it, so of those only the kind is told. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  if ('code' in error && typeof error.code === 'string') return `PostgreSQL refuses the rows (${error.code})`;
  return error instanceof SyntaxError || error instanceof TypeError ? error.name : error.message;
};
