import type pg from 'pg';
import type { Projection, Row } from '../../projections/types.js';
import { asLeader, leaderSession } from '../adapters/sql/leader-lock.js';
import { inTransaction } from '../adapters/sql/transaction.js';
import { isEndOfTestInvoice } from '../app/audit/chain.js';
import { type EventLog, identityIfGiven, isEarlier, type LogPosition, type Revision } from '../ports/event-log.js';
import { type FoldedBatch, foldBatch, foldSteps } from './batch.js';
import {
  type Generation,
  type GenerationRecord,
  generationOf,
  generationRecords,
  liveGeneration,
  type Queryable,
} from './checkpoints.js';
import { loadRows, type RowChange, saveRows } from './generation-rows.js';
import { changingTables, dropTable, makeTable, quoted, tableOf, viewOf } from './generation-tables.js';
import { otherLogText } from './projector.js';

/** A row that differs from what the log makes of it. `row` is its key; `what` names columns, never a value. */
type Drift = { projection: string; row: string; what: string };

type DriftOutcome =
  /** All rows were compared. The first `MAX_PAIRS` drifts are named. */
  | { kind: 'compared'; rows: number; drifts: readonly Drift[] }
  /** Another audit is comparing this projection. */
  | { kind: 'busy' }
  /** No rows are live, they are of another version or another log, or an event cannot be applied: a comparison is impossible. */
  | { kind: 'not_comparable'; reason: string };

type FoldedPage = Pick<FoldedBatch, 'steps' | 'changes'>;

type DriftDeps = {
  db: pg.Pool;
  log: Pick<EventLog, 'readAll' | 'head' | 'identity'>;
  onProgress?(events: number): void;
};

/** Generations of the service count from 1, so this number is free. */
const COPY_GENERATION = 0;
const PAGE = 1_000;

/**
 * Folds the log into a copy beside the live rows and compares both row by row in one snapshot, while the service runs. The copy takes as much space
 * as the rows and is dropped at the end; memory use is bounded by a page of events.
 */
export const compareWithLog = async (projection: Projection, deps: DriftDeps): Promise<DriftOutcome> => {
  const { db } = deps;
  const head = await deps.log.head();
  const live = (await generationRecords(db, projection.name)).find(({ role }) => role === 'live');
  // Before its first start an installation has neither events nor rows.
  if (live === undefined) return head === null ? { kind: 'compared', rows: 0, drifts: [] } : NOT_LIVE;
  if (live.version !== projection.version) return otherVersion(live, projection);
  const identity = await identityIfGiven(deps.log);
  if (live.logIdentity !== identity)
    return {
      kind: 'not_comparable',
      reason: `its rows were made from log ${live.logIdentity}, but ${otherLogText(identity)}`,
    };
  if (isEarlier(head, live.position)) {
    const reason = `its checkpoint ${live.position} is past the end of the log, ${head ?? 'which is empty'}: what comes would be skipped`;
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

const NOT_LIVE: DriftOutcome = {
  kind: 'not_comparable',
  reason: 'no checkpoint says which rows are live: the checkpoint was removed, or this version has not been started',
};

const otherVersion = ({ version }: GenerationRecord, projection: Projection): DriftOutcome => ({
  kind: 'not_comparable',
  reason: `its rows are of version ${version}, this program makes ${projection.version}`,
});

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
    if (live.version !== projection.version) return otherVersion(live, projection);
    const atCheckpoint = await foldUpTo(live.position, bulk.position, copy, client, deps, count);
    if ('reason' in atCheckpoint) return { kind: 'not_comparable', reason: atCheckpoint.reason };
    const unequal = await unequalRows(projection, copy, client);
    const comparison = createAheadComparison(generationOf(projection, live), copy, client);
    const isAnyAhead = (await rowsAhead(projection, copy, client, { but: new Set(), limit: 1 })).length > 0;
    const atEnd = isAnyAhead
      ? await foldUpTo('end', atCheckpoint.position, copy, client, deps, count, comparison.compare)
      : atCheckpoint;
    const ahead = 'reason' in atEnd ? comparison.unequal : await comparison.finish();
    const drifts = [...unequal, ...ahead].slice(0, MAX_PAIRS);
    if ('reason' in atEnd && drifts.length === 0) return { kind: 'not_comparable', reason: atEnd.reason };
    const { rows } = await client.query<{ rows: number }>(`select count(*)::int as rows from ${viewOf(projection)}`);
    return {
      kind: 'compared',
      rows: rows[0]?.rows ?? 0,
      drifts: drifts.map((one) => ({
        projection: projection.name,
        row: one.key,
        what: differenceOf(one, projection) ?? 'the row differs',
      })),
    };
  });
};

/**
 * Compares the rows that are ahead of the checkpoint. A row may rightly be ahead: an operator's command writes its row before the projector does. While
 * the log is folded from the checkpoint to its end, each such row is compared with what the log makes of it at the row's own revision. A row of a test
 * invoice that was deleted after the checkpoint is not compared, because the log has lost what the row was made from. An event is stored before its
 * row, so a row that is ahead even of this later end was never made from the log.
 */
const createAheadComparison = (live: Generation, copy: Generation, db: Queryable) => {
  const unequal: Pair[] = [];
  /** Keys of rows that were looked at, and of which the copy has no row any more. */
  const settled = new Set<string>();

  return {
    unequal,
    /** Called with each page of events before the copy holds it. */
    compare: async ({ steps, changes }: FoldedPage): Promise<void> => {
      const keys = [...changes.keys()].filter((key) => !settled.has(key));
      const before = await loadRows(db, copy, keys);
      const ahead = [...(await loadRows(db, live, keys))].filter(([key, row]) =>
        isAhead({ live: row, made: before.get(key) }),
      );
      const passed = new Map(ahead.filter(([key, row]) => revisionAfter(changes.get(key)) >= row.revision));
      const upToRow = steps.filter(({ key, event }) => event.revision <= (passed.get(key)?.revision ?? -1));
      const atRow = foldSteps(copy, upToRow, before).changes;
      const ends = new Map(
        steps.flatMap(({ key, event }) => (isEndOfTestInvoice(event) ? [[key, event.revision] as const] : [])),
      );
      for (const [key, row] of passed) {
        const change = atRow.get(key);
        const pair = { key, live: row, made: change?.kind === 'upsert' ? change.row : undefined };
        const isLost = (ends.get(key) ?? -1) > row.revision && pair.made?.revision !== row.revision;
        if (!isLost && unequal.length < MAX_PAIRS && differenceOf(pair, copy) !== undefined) unequal.push(pair);
        if (changes.get(key)?.kind === 'delete') settled.add(key);
      }
    },
    finish: async (): Promise<readonly Pair[]> => [...unequal, ...(await rowsAhead(live, copy, db, { but: settled }))],
  };
};

const revisionAfter = (change: RowChange | undefined): Revision =>
  change === undefined ? -1 : change.kind === 'upsert' ? change.row.revision : change.revision;

/** Folds all events after `after` up to `position` into the copy. */
const foldUpTo = async (
  position: LogPosition | null | 'end',
  after: LogPosition | null,
  copy: Generation,
  db: Queryable,
  { log }: DriftDeps,
  count: (events: number) => void,
  onPage?: (page: FoldedPage) => Promise<void>,
): Promise<{ position: LogPosition | null } | { reason: string }> => {
  let reached = after;
  while (position === 'end' || isEarlier(reached, position)) {
    const page = await log.readAll({ prefixes: copy.prefixes, after: reached, limit: PAGE });
    const batch = position === 'end' ? page : page.filter((event) => position !== null && event.position <= position);
    if (batch.length === 0) break;
    const { steps, changes, halt } = await foldBatch(db, copy, batch);
    if (halt !== undefined) return { reason: `${halt.type} (${halt.stream}@${halt.revision}) cannot be applied` };
    await onPage?.({ steps, changes });
    await saveRows(db, copy, changes);
    reached = batch.at(-1)?.position ?? reached;
    count(batch.length);
  }
  return { position: reached };
};

/** A live row and what the log makes of it. */
type Pair = { key: string; live: Row | undefined; made: Row | undefined };

/** How many pairs one comparison returns. A row after them is compared all the same. */
const MAX_PAIRS = 1_000;

/** Whether a row is of a later revision than the log's row of the same key. */
const isAhead = ({ live, made }: Pick<Pair, 'live' | 'made'>): boolean =>
  live !== undefined && live.revision > (made?.revision ?? -1);

const AHEAD = 'live.revision > coalesce(made.revision, -1)';

/** PostgreSQL compares column by column. Returns the rows that differ and are not ahead, and those that are missing. */
const unequalRows = async (projection: Projection, copy: Generation, db: Queryable): Promise<readonly Pair[]> => {
  const names = Object.keys(projection.columns).map(quoted);
  const rowOf = (table: string): string => `row(${names.map((name) => `${table}.${name}`).join(', ')})`;
  return await pairs(
    projection,
    copy,
    db,
    `${rowOf('live')} is distinct from ${rowOf('made')} and not coalesce(${AHEAD}, false)`,
  );
};

/** The rows that are ahead of the copy, but for those of some keys. */
const rowsAhead = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
  { but, limit = MAX_PAIRS }: { but: ReadonlySet<string>; limit?: number },
): Promise<readonly Pair[]> => {
  const key = quoted(projection.keyColumn);
  return await pairs(projection, copy, db, `${AHEAD} and live.${key}::text <> all ($1::text[])`, [[...but]], limit);
};

const pairs = async (
  projection: Projection,
  copy: Generation,
  db: Queryable,
  condition: string,
  values: readonly unknown[] = [],
  limit = MAX_PAIRS,
): Promise<readonly Pair[]> => {
  const key = quoted(projection.keyColumn);
  const { rows } = await db.query<{ key: string; live: Row | null; made: Row | null }>(
    `select coalesce(live.${key}, made.${key}) as key,
       case when live.${key} is null then null else to_jsonb(live) end as live,
       case when made.${key} is null then null else to_jsonb(made) end as made
     from ${viewOf(projection)} live full join ${tableOf(copy)} made on made.${key} = live.${key}
     where ${condition} order by 1 limit ${limit}`,
    [...values],
  );
  return rows.map(({ key: of, live, made }) => ({ key: of, live: live ?? undefined, made: made ?? undefined }));
};

/** Names the columns of a pair that differ, never a value; undefined when none does. */
const differenceOf = ({ live, made }: Pair, { columns }: Projection): string | undefined => {
  if (live === undefined) return 'the row is missing';
  if (made === undefined) return 'the log knows of no such row';
  const names = Object.keys(columns).sort();
  const differing = names.filter((name) => (live[name] ?? null) !== (made[name] ?? null));
  if (differing.length === 0) return undefined;
  return `${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'}`;
};
