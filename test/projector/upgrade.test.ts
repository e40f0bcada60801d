import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { companies } from '../../projections/companies.js';
import { invoices } from '../../projections/invoices.js';
import { operatorProjections } from '../../projections/registry.js';
import type { Projection } from '../../projections/types.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { companyStream } from '../../src/domain/shared/ids.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { applyStreamNow, LiveRowsOfOtherVersion } from '../../src/projector/apply-now.js';
import { liveGeneration, readCheckpoint } from '../../src/projector/generations.js';
import {
  checkProjectedLog,
  followProjection,
  LogIdentityMismatch,
  type ProjectionHalt,
  prepareProjections,
  runProjector,
} from '../../src/projector/projector.js';
import { rebuildProjection, rollbackProjection } from '../../src/projector/rebuild.js';
import { rowsOfOtherVersions } from '../../src/projector/status.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, COMPANY, registration, streamOf } from '../support/fixture/histories.js';
import { allOf, appendEvents, clock, dump, emptyProjections, NOW } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

/** The version of this program. */
const V = invoices.version;

/** The next version shows one column more. */
const next: Projection = {
  ...invoices,
  version: V + 1,
  compatibleFrom: V + 1,
  columns: { ...invoices.columns, attempts: 'integer' },
  handlers: Object.fromEntries(
    Object.entries(invoices.handlers).map(([type, handler]) => [
      type,
      handler === 'ignored'
        ? handler
        : (row, event) => {
            const made = handler(row, event);
            if (made === 'delete') return made;
            return { ...made, attempts: Number(row?.attempts ?? 0) + (type === 'IssuanceAttempted' ? 1 : 0) };
          },
    ]),
  ),
};

describeWithPostgres('a program of another version of a projection', () => {
  let database: FreshDatabase;
  let log: EventLog;
  let stop: AbortController;
  let running: Promise<unknown>[];
  let halts: ProjectionHalt[];
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventLog();
    stop = new AbortController();
    running = [];
    halts = [];
    await emptyProjections(database.pool, log);
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });
  afterAll(() => database.close());

  const deps = () => ({ log, db: database.pool, clock, onHalt: (halt: ProjectionHalt) => void halts.push(halt) });
  const project = (projection: Projection, own: object = {}): void => {
    running.push(runProjector({ ...deps(), ...own, projections: [projection], signal: stop.signal }));
  };
  const invoice = (n: number) => appendEvents(log, streamOf('live', n), [accepted('live', n), attempted(1, 5)]);
  const holds = (rows: number, version: number) => async (): Promise<boolean> =>
    (await liveGeneration(database.pool, 'invoices')).version === version &&
    (await dump(database.pool, invoices)).length === rows;

  it('when newer, builds its rows beside the live ones, which the older one goes on with until the swap', async () => {
    project(invoices);
    await invoice(1);
    await eventually(holds(1, V));
    const upgrades: string[] = [];
    let older: readonly string[] = [];
    const meanwhile: EventLog = {
      ...log,
      readAll: async (options) => {
        if (options.after === null) {
          await invoice(2);
          const { position } = (await allOf(log, invoices)).at(-1) ?? { position: null };
          await eventually(async () => (await readCheckpoint(database.pool, invoices)) === position);
          older = await dump(database.pool, invoices);
        }
        return await log.readAll(options);
      },
    };
    project(next, { log: meanwhile, onUpgrade: ({ state }: { state: string }) => upgrades.push(state) });
    await eventually(holds(2, V + 1));
    expect(older).toHaveLength(2);
    expect((await dump(database.pool, next)).map((row) => row.replace(/,1\)$/, ')'))).toEqual(older);
    await invoice(3);
    await eventually(holds(3, V + 1));
    expect(upgrades).toEqual(['building', 'live']);
    await eventually(async () => halts.length > 0);
    expect(halts).toMatchObject([{ name: 'invoices', reason: expect.stringContaining(`version ${V + 1}`) }]);
  });

  it('when older, halts at its start without moving the checkpoint, and does not rebuild', async () => {
    await invoice(1);
    await rebuildProjection(next, stop.signal, deps());
    const before = await readCheckpoint(database.pool, invoices);
    await invoice(2);
    expect(await followProjection(invoices, stop.signal, deps())).toBe('halted');
    expect(await readCheckpoint(database.pool, invoices)).toBe(before);
    expect(await dump(database.pool, next)).toHaveLength(1);
    expect(await rebuildProjection(invoices, stop.signal, deps())).toEqual({ kind: 'newer', version: V + 1 });
  });

  it('when older, can take its rows back by a rollback, which the newer one cannot do for it', async () => {
    await invoice(1);
    await rebuildProjection(invoices, stop.signal, deps());
    await rebuildProjection(next, stop.signal, deps());
    await invoice(2);
    expect(await rollbackProjection(next, stop.signal, deps())).toEqual({ kind: 'other_version', version: V });
    expect(await rollbackProjection(invoices, stop.signal, deps())).toMatchObject({
      kind: 'live',
      version: V,
      events: 2,
    });
    expect(await dump(database.pool, invoices)).toHaveLength(2);
  });

  it('reads the rows of another version only where the newer of the two says so', async () => {
    const others = (version: number, compatibleFrom = version) =>
      rowsOfOtherVersions(database.pool, [{ ...invoices, version, compatibleFrom }]);
    expect(await others(V)).toEqual([]);
    expect(await others(V + 1)).toEqual([{ name: 'invoices', older: true, readable: false }]);
    expect(await others(V + 1, V)).toEqual([{ name: 'invoices', older: true, readable: true }]);
    await rebuildProjection({ ...next, version: V + 2, compatibleFrom: V + 1 }, stop.signal, deps());
    expect(await others(V + 1)).toEqual([{ name: 'invoices', older: false, readable: true }]);
    expect(await others(V)).toEqual([{ name: 'invoices', older: false, readable: false }]);
  });

  it('does not write an operator’s row into rows of another version', async () => {
    await appendEvents(log, companyStream(COMPANY), [{ type: 'CompanyRegistered', data: { registration, at: NOW } }]);
    const stream = await log.read(companyStream(COMPANY));
    const newer = operatorProjections.map((one) =>
      one === companies ? { ...companies, version: companies.version + 1 } : one,
    );
    await expect(applyStreamNow(database.pool, newer, stream)).rejects.toThrow(LiveRowsOfOtherVersion);
    expect(await createReadModel(database.pool).company(COMPANY)).toBeUndefined();
  });

  it('throws an unfinished build of another version or log away', async () => {
    await invoice(1);
    const broken = new AbortController();
    broken.abort();
    await rebuildProjection({ ...next, version: V + 4 }, broken.signal, deps());
    expect(await rebuildProjection(next, stop.signal, deps())).toMatchObject({
      kind: 'live',
      version: V + 1,
      events: 2,
    });
    const { rows } = await database.pool.query('select from pg_namespace where nspname like $1', [
      `p_invoices_v${V + 4}%`,
    ]);
    expect(rows).toEqual([]);
  });

  it('meeting rows of another log, refuses to start; a rebuild cures it', async () => {
    await invoice(1);
    await rebuildProjection(invoices, stop.signal, deps());
    log = memoryEventLog();
    await invoice(2);
    await invoice(3);
    await prepareProjections(database.pool, log, clock, [invoices]);
    await expect(checkProjectedLog(database.pool, log, [invoices])).rejects.toThrow(LogIdentityMismatch);
    expect(await rebuildProjection(invoices, stop.signal, deps())).toMatchObject({ kind: 'live', events: 4 });
    await checkProjectedLog(database.pool, log, [invoices]);
    expect(await dump(database.pool, invoices)).toHaveLength(2);
    expect(await rollbackProjection(invoices, stop.signal, deps())).toEqual({ kind: 'other_log' });
  });
});
