import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { allProjections } from '../../../projections/registry.js';
import type { Projection } from '../../../projections/types.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import type { CatchUpDeps } from '../../../src/projector/catch-up.js';
import { readCheckpoint } from '../../../src/projector/checkpoints.js';
import { type ProjectionHalt, type ProjectorDeps, runProjector } from '../../../src/projector/projector.js';
import { type RebuildOutcome, rebuildProjection, rollbackProjection } from '../../../src/projector/rebuild.js';
import { accepted, attempted, streamOf } from '../fixture/histories.js';
import { memoryEventLog } from '../memory/event-log.js';
import { type FreshDatabase, freshDatabase } from '../postgres.js';
import { allOf, appendEvents, clock, dump, emptyProjections } from './projector.js';

/** One database for the tests of a file; each test has an empty log, empty tables, and projectors that end with it. Registers the hooks. */
export const projecting = () => {
  let database: FreshDatabase;
  let log: EventLog;
  let stop: AbortController;
  let running: Promise<unknown>[] = [];
  let halts: ProjectionHalt[];

  const begin = async (): Promise<void> => {
    log = memoryEventLog();
    stop = new AbortController();
    halts = [];
    await emptyProjections(database.pool, log);
  };
  /** Ends the projectors; more may start afterwards. */
  const end = async (): Promise<void> => {
    stop.abort();
    await Promise.all(running);
    running = [];
    stop = new AbortController();
  };
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(begin);
  afterEach(end);
  afterAll(() => database.close());

  const deps = (own: Partial<ProjectorDeps> = {}): ProjectorDeps => ({
    log,
    db: database.pool,
    clock,
    onHalt: (halt) => void halts.push(halt),
    ...own,
  });
  return {
    begin,
    end,
    deps,
    get database() {
      return database;
    },
    get pool() {
      return database.pool;
    },
    get log() {
      return log;
    },
    set log(other) {
      log = other;
    },
    get signal() {
      return stop.signal;
    },
    get halts() {
      return halts;
    },
    append: (stream: StreamName, events: readonly DomainEvent[]): Promise<void> => appendEvents(log, stream, events),
    /** An accepted live invoice with an attempt. */
    invoice: (n: number): Promise<void> =>
      appendEvents(log, streamOf('live', n), [accepted('live', n), attempted(1, 5)]),
    dump: (projection: Projection): Promise<readonly string[]> => dump(database.pool, projection),
    rebuild: (projection: Projection, own: Partial<CatchUpDeps> = {}, signal = stop.signal): Promise<RebuildOutcome> =>
      rebuildProjection(projection, signal, { log, db: database.pool, clock, ...own }),
    rollback: (projection: Projection): Promise<RebuildOutcome> =>
      rollbackProjection(projection, stop.signal, { log, db: database.pool, clock }),
    /** The end of the test waits for it. */
    running: (work: Promise<unknown>): void => void running.push(work),
    start: (
      projections: readonly Projection[] = allProjections,
      own: Partial<Parameters<typeof runProjector>[0]> = {},
    ): Promise<void> => {
      const projector = runProjector({ ...deps(own), projections, signal: stop.signal, ...own });
      running.push(projector);
      return projector;
    },
    /** Whether the live rows hold every event of the log. */
    caughtUp: async (projections: readonly Projection[] = [invoices]): Promise<boolean> => {
      for (const projection of projections) {
        const last = (await allOf(log, projection)).at(-1)?.position ?? null;
        if ((await readCheckpoint(database.pool, projection)) !== last) return false;
      }
      return true;
    },
  };
};
