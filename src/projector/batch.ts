import type pg from 'pg';
import type { Projection, Recorded, Row } from '../../projections/types.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import { type DecodedEvent, decodeSealed } from '../app/event-store/codec.js';
import type { StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import { errorCode } from '../lib/error-code.js';
import type { EventBatch, EventLog, LogPosition, RecordedEvent, Revision } from '../ports/event-log.js';
import { type Generation, isCheckpointAt, moveCheckpoint, type Queryable } from './checkpoints.js';
import { loadRows, type RowChange, saveRows } from './generation-rows.js';

/** An event that concerns one row of the projection. */
type Step = { key: string; event: DecodedEvent };

/** Why a projection halted, without any content of the event. */
export type Halt = { position: LogPosition; stream: StreamName; revision: Revision; type: string; reason: string };

type Planned = { steps: readonly Step[]; halt?: Halt };

/** Decodes a batch without opening sealed fields, up to the first event that this program cannot read. */
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

type Folded = { changes: ReadonlyMap<string, RowChange>; halt?: Halt };

/** Folds steps over the given rows and skips events that a row already holds. Ends at the first step that fails. */
export const foldSteps = (projection: Projection, steps: readonly Step[], rows: ReadonlyMap<string, Row>): Folded =>
  foldRowByRow(projection, steps, rows) ?? foldOneByOne(projection, steps, rows);

/** All events of a row at once. Undefined for a projection that cannot, and when a step fails: only the order of the log says which is the first. */
const foldRowByRow = (
  { foldAll }: Projection,
  steps: readonly Step[],
  rows: ReadonlyMap<string, Row>,
): Folded | undefined => {
  if (foldAll === undefined) return undefined;
  const eventsOf = new Map<string, [DecodedEvent, ...DecodedEvent[]]>();
  for (const { key, event } of steps) {
    const events = eventsOf.get(key);
    const revision = events?.at(-1)?.revision ?? rows.get(key)?.revision;
    if (revision !== undefined && revision >= event.revision) continue;
    if (events === undefined) eventsOf.set(key, [event]);
    else events.push(event);
  }
  const changes = new Map<string, RowChange>();
  try {
    for (const [key, events] of eventsOf) changes.set(key, { kind: 'upsert', row: foldAll(rows.get(key), events) });
  } catch {
    return undefined;
  }
  return { changes };
};

const foldOneByOne = (projection: Projection, steps: readonly Step[], rows: ReadonlyMap<string, Row>): Folded => {
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

const haltAt = (
  { position, stream, revision, type }: Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'type'>,
  error: unknown,
): Halt => ({ position, stream, revision, type, reason: reasonOf(error) });

const handlerOf = (projection: Projection, type: string) => {
  const handler = Object.hasOwn(projection.handlers, type) ? projection.handlers[type] : undefined;
  if (handler === undefined) throw new Error(`${projection.name} has no handler for ${type}`);
  return handler;
};

/** Messages of this code contain no content of events. Messages of an engine may quote it, so only their kind is reported. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown error';
  const code = errorCode(error);
  if (code !== undefined) return `PostgreSQL refuses the rows (${code})`;
  return error instanceof SyntaxError || error instanceof TypeError ? error.name : error.message;
};

/** Normally milliseconds pass between two statements of a batch. */
const FROZEN_AFTER_MS = 5_000;

/**
 * The log holds every event, so a commit that a power cut loses is replayed, rows and checkpoint together. A leader that is frozen inside a batch must
 * not lock the checkpoint for longer than its lease.
 */
const SETTINGS = `set local synchronous_commit = off; set local idle_in_transaction_session_timeout = ${FROZEN_AFTER_MS}`;

/** `position` is the checkpoint after the batch. */
type BatchOutcome =
  | { kind: 'applied'; position: LogPosition | null }
  /** Another process moved the checkpoint, the generation changed its role, or the log has lost the batch: nothing was written. */
  | { kind: 'moved' }
  /** Everything before the failing event was written; the checkpoint is before that event. */
  | { kind: 'halted'; position: LogPosition | null; halt: Halt };

type ApplyBatch<Engines = pg.Pool> = (
  engines: Engines,
  generation: Generation,
  from: LogPosition | null,
  batch: EventBatch,
  now: Instant,
) => Promise<BatchOutcome>;

/**
 * Folds a batch in memory, then writes rows and checkpoint in one transaction. `from` is the checkpoint that the batch follows. Throws the errors of
 * PostgreSQL that do not concern the rows: the outcome is then unknown and the checkpoint must be read.
 */
export const applyBatch: ApplyBatch = async (db, generation, from, batch, now) => {
  try {
    return await applyAtOnce(db, generation, from, batch, now);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // The table of a generation that was replaced twice in the meantime is gone; that is no fault of the event.
    if (!(await isCheckpointAt(db, generation, from))) return { kind: 'moved' };
    const [first] = batch;
    if (first === undefined || batch.length > 1) return await applyOneByOne(db, generation, from, batch, now);
    return { kind: 'halted', position: from, halt: haltAt(first, error) };
  }
};

export type FoldedBatch = Folded & { steps: readonly Step[] };

/** Computes the rows after a batch from the current rows; nothing is written. */
export const foldBatch = async (db: Queryable, generation: Generation, batch: EventBatch): Promise<FoldedBatch> => {
  const planned = planBatch(generation, batch);
  const rows = await loadRows(db, generation, [...new Set(planned.steps.map(({ key }) => key))]);
  const folded = foldSteps(generation, planned.steps, rows);
  const halt = folded.halt ?? planned.halt;
  return { ...folded, steps: planned.steps, ...(halt && { halt }) };
};

const applyAtOnce: ApplyBatch = async (db, generation, from, batch, now) => {
  const { changes, halt } = await foldBatch(db, generation, batch);
  const good = halt === undefined ? batch : batch.filter(({ position }) => position < halt.position);
  const last = good.at(-1);
  const to = last?.position ?? from;
  if (to !== null && to !== from) {
    const move = { from, to, hash: last?.metadata.hash };
    const write = async (client: pg.PoolClient): Promise<boolean> => {
      if (!(await moveCheckpoint(client, generation, move, now))) return false;
      await saveRows(client, generation, changes);
      return true;
    };
    const moved = await inTransaction(db, write, SETTINGS);
    if (!moved) return { kind: 'moved' };
  }
  return halt === undefined ? { kind: 'applied', position: to } : { kind: 'halted', position: to, halt };
};

/** Finds the event whose row PostgreSQL refuses. */
const applyOneByOne: ApplyBatch = async (db, generation, from, batch, now) => {
  let position = from;
  for (const event of batch) {
    const outcome = await applyBatch(db, generation, position, [event], now);
    if (outcome.kind !== 'applied') return outcome;
    position = outcome.position;
  }
  return { kind: 'applied', position };
};

/** Whether PostgreSQL refuses the rows: SQLSTATE class 22 (data), 23 (integrity) or 42 (syntax, undefined object). A retry would end the same way. */
export const isRefusal = (error: unknown): boolean => /^(22|23|42)[0-9A-Z]{3}$/.test(errorCode(error) ?? '');

/**
 * As `applyBatch`, but skips an event that retention has cut from its stream. EventStoreDB may still deliver such an event until a scavenge, when the
 * events before it are already gone. The last event of a stream is never cut and makes the row complete.
 */
export const applyExisting: ApplyBatch<{ db: pg.Pool; log: EventLog }> = async (
  { db, log },
  generation,
  from,
  batch,
  now,
) => {
  let outcome = await applyBatch(db, generation, from, batch, now);
  while (outcome.kind === 'halted') {
    const { halt, position } = outcome;
    if (!(await isCut(log, halt))) return outcome;
    const rest = batch.filter((event) => event.position > halt.position);
    if (rest.length === 0) return { kind: 'applied', position };
    outcome = await applyBatch(db, generation, position, rest, now);
  }
  return outcome;
};

const isCut = async (log: EventLog, { stream, revision }: Halt): Promise<boolean> => {
  const [first] = await log.read(stream, { limit: 1 });
  return first !== undefined && first.revision > revision;
};
