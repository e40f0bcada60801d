import type pg from 'pg';
import type { Projection, Row } from '../../projections/types.js';
import { asLeader, leaderSession } from '../adapters/sql/leader-lock.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import { type EventLog, isEarlier, type LogPosition } from '../ports/event-log.js';
import { foldBatch } from './batch.js';
import {
  changingTables,
  dropTable,
  type Generation,
  generationOf,
  liveGeneration,
  makeTable,
  type Queryable,
  quoted,
  type RowChange,
  saveRows,
  tableOf,
  viewOf,
} from './generations.js';

/** A row that differs from what the log makes of it. `row` is its key; `what` names columns, never a value. */
type Drift = { projection: string; row: string; what: string };

type DriftOutcome =
  | { kind: 'compared'; rows: number; drifts: readonly Drift[] }
  /** Another audit is comparing this projection. */
  | { kind: 'busy' }
  /** The live rows are of another version than this program's, or an event cannot be applied: a comparison is impossible. */
  | { kind: 'not_comparable'; reason: string };

type DriftDeps = { db: pg.Pool; log: Pick<EventLog, 'readAll' | 'head'>; onProgress?(events: number): void };

/** Generations of the service count from 1, so this number is free. */
const COPY_GENERATION = 0;
const PAGE = 1_000;
const MAX_DRIFTS = 1_000;

/**
 * Folds the log into a copy beside the live rows and compares both row by row in one snapshot, while the service runs. The copy takes as much space
 * as the rows and is dropped at the end; memory use is bounded by a page of events.
 */
export const compareWithLog = async (projection: Projection, deps: DriftDeps): Promise<DriftOutcome> => {
  const { db } = deps;
  const live = await liveGeneration(db, projection.name);
  if (live.version !== projection.version) {
    return {
      kind: 'not_comparable',
      reason: `its rows are of version ${live.version}, this program makes ${projection.version}`,
    };
  }
  const head = await deps.log.head();
  if (isEarlier(head, live.position)) {
    const reason = `its checkpoint ${live.position} lies behind the end of the log, ${head ?? 'which is empty'}: what comes would be skipped`;
    return { kind: 'not_comparable', reason };
  }
  const session = leaderSession(db, 'none');
  try {
    const copy = generationOf(projection, { ...live, generation: COPY_GENERATION, role: 'building' });
    const compareInCopy = async (): Promise<DriftOutcome> => {
      await changingTables(db, (client) => makeTable(client, copy));
      return await compare(projection, copy, deps).finally(() =>
        changingTables(db, (client) => dropTable(client, copy)),
      );
    };
    return (await asLeader(session, `audit ${projection.name}`, compareInCopy)) ?? { kind: 'busy' };
  } finally {
    await session.close();
  }
};

const compare = async (projection: Projection, copy: Generation, deps: DriftDeps): Promise<DriftOutcome> => {
  const { db } = deps;
  let events = 0;
  const count = (more: number): void => {
    events += more;
    deps.onProgress?.(events);
  };
  const bulk = await foldUpTo((await liveGeneration(db, projection.name)).position, null, copy, db, deps, count);
  if ('reason' in bulk) return { kind: 'not_comparable', reason: bulk.reason };
  return await inTransaction(db, async (client) => {
    // From here this connection sees a snapshot of the live rows, and its own writes to the copy.
    await client.query('set transaction isolation level repeatable read; set local statement_timeout = 0');
    const live = await liveGeneration(client, projection.name);
    const atCheckpoint = await foldUpTo(live.position, bulk.position, copy, client, deps, count);
    if ('reason' in atCheckpoint) return { kind: 'not_comparable', reason: atCheckpoint.reason };
    const suspects = await unequalRows(projection, copy, client);
    const certain = suspects.filter((one) => !isAhead(one));
    const atEnd = await stillAhead(suspects.filter(isAhead), atCheckpoint.position, copy, client, deps, count);
    if ('reason' in atEnd && certain.length === 0) return { kind: 'not_comparable', reason: atEnd.reason };
    const drifts = 'reason' in atEnd ? certain : [...certain, ...atEnd.pairs];
    const { rows } = await client.query<{ rows: number }>(`select count(*)::int as rows from ${viewOf(projection)}`);
    return {
      kind: 'compared',
      rows: rows[0]?.rows ?? 0,
      drifts: drifts.map((one) => ({ projection: projection.name, row: one.key, what: differenceOf(one) })),
    };
  });
};

type Pair = { key: string; live: Row | undefined; made: Row | undefined };

const isAhead = ({ live, made }: Pair): boolean => live !== undefined && live.revision > (made?.revision ?? -1);

/**
 * The rows ahead of the checkpoint that the end of the log does not explain. A row may rightly be ahead: an operator's command writes its row before
 * the projector does. A row of a test invoice that was deleted after the checkpoint is explained too, because the log has lost what the row was made
 * from. An event is stored before its row, so a row that is ahead even of this later end was never made from the log.
 */
const stillAhead = async (
  ahead: readonly Pair[],
  after: LogPosition | null,
  copy: Generation,
  db: Queryable,
  deps: DriftDeps,
  count: (events: number) => void,
): Promise<{ pairs: readonly Pair[] } | { reason: string }> => {
  if (ahead.length === 0) return { pairs: [] };
  const revisions = new Map(ahead.map(({ key, live }) => [key, live?.revision ?? -1]));
  const deletedLater = new Set<string>();
  const lookForDeletions = (changes: ReadonlyMap<string, RowChange>): void => {
    for (const [key, revision] of revisions) {
      const change = changes.get(key);
      if (change?.kind === 'delete' && change.revision > revision) deletedLater.add(key);
    }
  };
  const folded = await foldUpTo('end', after, copy, db, deps, count, lookForDeletions);
  if ('reason' in folded) return folded;
  const unequal = await unequalRows(copy, copy, db, [...revisions.keys()]);
  return {
    pairs: unequal.filter((one) =>
      one.made === undefined ? !deletedLater.has(one.key) : isAhead(one) || one.live?.revision === one.made.revision,
    ),
  };
};

/** Folds all events after `after` up to `position` into the copy. */
const foldUpTo = async (
  position: LogPosition | null | 'end',
  after: LogPosition | null,
  copy: Generation,
  db: Queryable,
  { log }: DriftDeps,
  count: (events: number) => void,
  onChanges?: (changes: ReadonlyMap<string, RowChange>) => void,
): Promise<{ position: LogPosition | null } | { reason: string }> => {
  let reached = after;
  while (position === 'end' || isEarlier(reached, position)) {
    const page = await log.readAll({ prefixes: copy.prefixes, after: reached, limit: PAGE });
    const batch = position === 'end' ? page : page.filter((event) => position !== null && event.position <= position);
    if (batch.length === 0) break;
    const { changes, halt } = await foldBatch(db, copy, batch);
    if (halt !== undefined) return { reason: `${halt.type} (${halt.stream}@${halt.revision}) cannot be applied` };
    await saveRows(db, copy, changes);
    onChanges?.(changes);
    reached = batch[batch.length - 1]?.position ?? reached;
    count(batch.length);
  }
  return { position: reached };
};

/** PostgreSQL compares column by column and returns only the rows that differ, of all or of some keys. */
const unequalRows = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
  keys?: readonly string[],
): Promise<readonly Pair[]> => {
  const key = quoted(projection.keyColumn);
  const names = Object.keys(projection.columns).map(quoted);
  const rowOf = (table: string): string => `row(${names.map((name) => `${table}.${name}`).join(', ')})`;
  const { rows } = await db.query<{ key: string; live: Row | null; made: Row | null }>(
    `select coalesce(live.${key}, made.${key}) as key,
       case when live.${key} is null then null else to_jsonb(live) end as live,
       case when made.${key} is null then null else to_jsonb(made) end as made
     from ${viewOf(projection)} live full join ${tableOf(copy)} made on made.${key} = live.${key}
     where ${rowOf('live')} is distinct from ${rowOf('made')}
       and ($1::text[] is null or coalesce(live.${key}, made.${key})::text = any ($1)) order by 1 limit ${MAX_DRIFTS}`,
    [keys ?? null],
  );
  return rows.map(({ key: of, live, made }) => ({ key: of, live: live ?? undefined, made: made ?? undefined }));
};

const differenceOf = ({ live, made }: Pair): string => {
  if (live === undefined) return 'the row is missing';
  if (made === undefined) return 'the log knows of no such row';
  const columns = Object.keys(made).filter((name) => live[name] !== made[name]);
  return `${columns.join(', ')} ${columns.length === 1 ? 'differs' : 'differ'}`;
};
