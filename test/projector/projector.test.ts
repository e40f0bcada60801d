import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { allProjections, operatorProjections } from '../../projections/registry.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { companyStream, systemApiStream } from '../../src/domain/shared/ids.js';
import { type EventLog, EventLogUnavailable } from '../../src/ports/event-log.js';
import { applyStreamNow } from '../../src/projector/apply-now.js';
import { readCheckpoint } from '../../src/projector/generations.js';
import {
  followProjection,
  LogIdentityMismatch,
  type ProjectionHalt,
  type ProjectorDeps,
  runProjector,
} from '../../src/projector/projector.js';
import { eventually } from '../support/eventually.js';
import {
  accepted,
  attempted,
  COMPANY,
  keyCreated,
  keyRevoked,
  registration,
  streamOf,
} from '../support/fixture/histories.js';
import {
  allOf,
  appendEvents,
  appendFromTheFuture,
  clock,
  dump,
  emptyProjections,
  NOW,
} from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

describeWithPostgres('projector', () => {
  let database: FreshDatabase;
  let log: EventLog;
  let stop: AbortController;
  let running: Promise<unknown>[];
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventLog();
    stop = new AbortController();
    running = [];
    await emptyProjections(database.pool, log);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });
  afterAll(() => database.close());

  const deps = (own: Partial<ProjectorDeps> = {}): ProjectorDeps => ({
    log,
    db: database.pool,
    clock,
    onHalt: () => undefined,
    ...own,
  });
  const start = (own: Partial<ProjectorDeps> = {}, projections = allProjections, signal = stop.signal): void => {
    running.push(runProjector({ ...deps(own), projections, signal }));
  };
  const caughtUp = async (): Promise<boolean> =>
    (await readCheckpoint(database.pool, invoices)) === ((await allOf(log, invoices)).at(-1)?.position ?? null);
  const company = () =>
    appendEvents(log, companyStream(COMPANY), [
      { type: 'CompanyRegistered', data: { registration, at: NOW } },
      keyCreated('k1'),
    ]);

  it('waits for a database and a log that are away while it starts', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    const faults: string[] = [];
    const gone = [new EventLogUnavailable('gone'), Object.assign(new Error('gone'), { code: '57P01' })];
    const identity = async (): Promise<string> => {
      const fault = gone.shift();
      if (fault !== undefined) throw fault;
      return await log.identity();
    };
    start({ log: { ...log, identity }, onFault: (name, error) => faults.push(`${name}: ${(error as Error).message}`) });
    await eventually(caughtUp);
    expect(faults).toEqual(['projector: gone', 'projector: gone']);
  });

  it('catches up, then follows', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    start();
    const read = createReadModel(database.pool);
    await eventually(async () => (await read.invoice(streamOf('live', 1)))?.revision === 0);
    await appendEvents(log, streamOf('live', 1), [attempted(1, 5)]);
    await eventually(async () => (await read.invoice(streamOf('live', 1)))?.revision === 1);
  });

  it('applies each event once though two follow the log at the same time', async () => {
    let applied = 0;
    const faults: unknown[] = [];
    const follower = () =>
      followProjection(
        invoices,
        stop.signal,
        deps({
          onBatch: ({ events }) => {
            applied += events;
          },
          onFault: (_name, error) => faults.push(error),
        }),
      );
    running.push(follower(), follower());
    for (let n = 1; n <= 40; n++) {
      await appendEvents(log, streamOf('live', n), [accepted('live', n), attempted(1, 5)]);
      // Gives each subscriber a separate batch.
      await readCheckpoint(database.pool, invoices);
    }
    await eventually(caughtUp);
    stop.abort();
    await Promise.all(running);
    expect(faults).toEqual([]);
    expect(applied).toBe(80);
    expect(await dump(database.pool, invoices)).toHaveLength(40);
  });

  it('has one leader, and a stand-by that takes over', async () => {
    const leader = new AbortController();
    const batches: string[] = [];
    start({ onBatch: () => batches.push('first') }, [invoices], leader.signal);
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    start({ onBatch: () => batches.push('second') }, [invoices]);
    await appendEvents(log, streamOf('live', 2), [accepted('live', 2)]);
    await eventually(caughtUp);
    leader.abort();
    await running[0];
    await appendEvents(log, streamOf('live', 3), [accepted('live', 3)]);
    await eventually(caughtUp);
    await eventually(async () => batches.length === 3);
    expect(batches).toEqual(['first', 'first', 'second']);
  });

  it('goes on after PostgreSQL has dropped every connection', async () => {
    start({}, [invoices]);
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    await database.breakConnections();
    await appendEvents(log, streamOf('live', 2), [accepted('live', 2)]);
    await eventually(() => caughtUp().catch(() => false));
    expect(await dump(database.pool, invoices)).toHaveLength(2);
  });

  it('halts one projection once, and lets the others go on', async () => {
    const halts: ProjectionHalt[] = [];
    start({ onHalt: (halt) => halts.push(halt) });
    await appendFromTheFuture(log, systemApiStream, 'ApiSwitchedOff');
    await eventually(async () => halts.length > 0);
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    await eventually(caughtUp);
    expect(halts).toMatchObject([{ name: 'system', stream: systemApiStream, type: 'ApiSwitchedOff' }]);
    expect(await readCheckpoint(database.pool, { name: 'system' })).toBeNull();
  });

  it('ends when all of its projections have halted', async () => {
    await appendEvents(log, streamOf('live', 1), [attempted(1, 5)]);
    await runProjector({ ...deps(), projections: [invoices], signal: stop.signal });
    expect(await readCheckpoint(database.pool, invoices)).toBeNull();
  });

  it('refuses to start over another log', async () => {
    const other = runProjector({ ...deps({ log: memoryEventLog() }), projections: [invoices], signal: stop.signal });
    await expect(other).rejects.toThrow(LogIdentityMismatch);
  });

  it('a revocation applied at once holds with the projector stopped, and the projector meeting it later does no harm', async () => {
    await company();
    await appendEvents(log, companyStream(COMPANY), [keyRevoked('k1')]);
    await applyStreamNow(database.pool, operatorProjections, await log.read(companyStream(COMPANY)));
    const read = createReadModel(database.pool);
    expect(await read.credential('hash-k1')).toMatchObject({ keyId: 'k1', revoked: true });
    const before = await Promise.all(operatorProjections.map((projection) => dump(database.pool, projection)));
    const revoked: unknown[] = [];
    start({
      onBatch: ({ name }) => {
        if (name === 'credentials') revoked.push(read.credential('hash-k1').then((credential) => credential?.revoked));
      },
    });
    await eventually(async () => (await readCheckpoint(database.pool, { name: 'credentials' })) !== null);
    await eventually(async () => (await readCheckpoint(database.pool, { name: 'companies' })) !== null);
    expect(await Promise.all(revoked)).not.toContain(false);
    expect(await Promise.all(operatorProjections.map((projection) => dump(database.pool, projection)))).toEqual(before);
  });

  it('an older stream applied late never takes a newer row back', async () => {
    await company();
    const early = await log.read(companyStream(COMPANY));
    await appendEvents(log, companyStream(COMPANY), [keyRevoked('k1')]);
    await applyStreamNow(database.pool, operatorProjections, await log.read(companyStream(COMPANY)));
    await applyStreamNow(database.pool, operatorProjections, early);
    expect(await createReadModel(database.pool).credential('hash-k1')).toMatchObject({ revoked: true });
  });

  it('refuses to apply ahead of the log what cannot be guarded', async () => {
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1), attempted(1, 5)]);
    const stream = await log.read(streamOf('live', 1));
    await expect(applyStreamNow(database.pool, [invoices], stream.slice(1))).rejects.toThrow(/first event/);
  });
});
