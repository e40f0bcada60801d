import { expect, it } from 'vitest';
import { companies } from '../../projections/companies.js';
import { invoices } from '../../projections/invoices.js';
import { operatorProjections } from '../../projections/registry.js';
import type { Projection } from '../../projections/types.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { companyStream } from '../../src/domain/common/ids.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { applyStreamNow, LiveRowsOfOtherVersion } from '../../src/projector/apply-now.js';
import { liveGeneration, readCheckpoint } from '../../src/projector/checkpoints.js';
import {
  checkProjectedLog,
  followProjection,
  LogIdentityMismatch,
  prepareProjections,
} from '../../src/projector/projector.js';
import { rowsOfOtherVersions } from '../../src/projector/status.js';
import { eventually } from '../support/eventually.js';
import { COMPANY, registration } from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { allOf, clock, NOW } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres } from '../support/postgres.js';

/** The version of this program. */
const V = invoices.version;

const { foldAll: _ofThisVersion, ...definition } = invoices;

/** The next version shows one column more. */
const next: Projection = {
  ...definition,
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
  const harness = projecting();
  const { append, dump, invoice, rebuild, rollback, start } = harness;
  const holds = (rows: number, version: number) => async (): Promise<boolean> =>
    (await liveGeneration(harness.pool, 'invoices')).version === version && (await dump(invoices)).length === rows;

  it('when newer, builds its rows beside the live ones, which the older one goes on with until the swap', async () => {
    start([invoices]);
    await invoice(1);
    await eventually(holds(1, V));
    const upgrades: string[] = [];
    let older: readonly string[] = [];
    const meanwhile: EventLog = {
      ...harness.log,
      readAll: async (options) => {
        if (options.after === null) {
          await invoice(2);
          const { position } = (await allOf(harness.log, invoices)).at(-1) ?? { position: null };
          await eventually(async () => (await readCheckpoint(harness.pool, invoices)) === position);
          older = await dump(invoices);
        }
        return await harness.log.readAll(options);
      },
    };
    start([next], { log: meanwhile, onUpgrade: ({ state }) => upgrades.push(state) });
    await eventually(holds(2, V + 1));
    expect(older).toHaveLength(2);
    expect((await dump(next)).map((row) => row.replace(/,1\)$/, ')'))).toEqual(older);
    await invoice(3);
    await eventually(holds(3, V + 1));
    expect(upgrades).toEqual(['building', 'live']);
    await eventually(async () => harness.halts.length > 0);
    expect(harness.halts).toMatchObject([{ name: 'invoices', reason: expect.stringContaining(`version ${V + 1}`) }]);
  });

  it('when older, halts at its start without moving the checkpoint, and does not rebuild', async () => {
    await invoice(1);
    await rebuild(next);
    const before = await readCheckpoint(harness.pool, invoices);
    await invoice(2);
    expect(await followProjection(invoices, harness.signal, harness.deps())).toMatchObject({ kind: 'halted' });
    expect(await readCheckpoint(harness.pool, invoices)).toBe(before);
    expect(await dump(next)).toHaveLength(1);
    expect(await rebuild(invoices)).toEqual({ kind: 'newer', version: V + 1 });
  });

  it('when older, can take its rows back by a rollback, which the newer one cannot do for it', async () => {
    await invoice(1);
    await rebuild(invoices);
    await rebuild(next);
    await invoice(2);
    expect(await rollback(next)).toEqual({ kind: 'other_version', version: V });
    expect(await rollback(invoices)).toMatchObject({
      kind: 'live',
      version: V,
      events: 2,
    });
    expect(await dump(invoices)).toHaveLength(2);
  });

  it('reads the rows of another version only where the newer of the two says so', async () => {
    const others = (version: number, compatibleFrom = version) =>
      rowsOfOtherVersions(harness.pool, [{ ...invoices, version, compatibleFrom }]);
    expect(await others(V)).toEqual([]);
    expect(await others(V + 1)).toEqual([{ name: 'invoices', older: true, readable: false }]);
    expect(await others(V + 1, V)).toEqual([{ name: 'invoices', older: true, readable: true }]);
    await rebuild({ ...next, version: V + 2, compatibleFrom: V + 1 });
    expect(await others(V + 1)).toEqual([{ name: 'invoices', older: false, readable: true }]);
    expect(await others(V)).toEqual([{ name: 'invoices', older: false, readable: false }]);
  });

  it.each([
    ['an older', 1],
    ['a newer', -1],
  ])('does not write an operator’s row into rows of %s version', async (_which, ahead) => {
    await append(companyStream(COMPANY), [{ type: 'CompanyRegistered', data: { registration, at: NOW } }]);
    const stream = await harness.log.read(companyStream(COMPANY));
    const ofProgram = operatorProjections.map((one) =>
      one === companies ? { ...companies, version: companies.version + ahead } : one,
    );
    await expect(applyStreamNow(harness.pool, ofProgram, stream)).rejects.toThrow(LiveRowsOfOtherVersion);
    expect(await createReadModel(harness.pool).company(COMPANY)).toBeUndefined();
  });

  it('throws an unfinished build of another version or log away', async () => {
    await invoice(1);
    const broken = new AbortController();
    broken.abort();
    await rebuild({ ...next, version: V + 4 }, {}, broken.signal);
    expect(await rebuild(next)).toMatchObject({
      kind: 'live',
      version: V + 1,
      events: 2,
    });
    const { rows } = await harness.pool.query('select from pg_namespace where nspname like $1', [
      `p_invoices_v${V + 4}%`,
    ]);
    expect(rows).toEqual([]);
  });

  it('meeting rows of another log, refuses to start; a rebuild cures it', async () => {
    await invoice(1);
    await rebuild(invoices);
    harness.log = memoryEventLog();
    await invoice(2);
    await invoice(3);
    await prepareProjections(harness.pool, harness.log, clock, [invoices]);
    await expect(checkProjectedLog(harness.pool, harness.log, [invoices])).rejects.toThrow(LogIdentityMismatch);
    expect(await rebuild(invoices)).toMatchObject({ kind: 'live', events: 4 });
    await checkProjectedLog(harness.pool, harness.log, [invoices]);
    expect(await dump(invoices)).toHaveLength(2);
    expect(await rollback(invoices)).toEqual({ kind: 'other_log' });
  });
});
