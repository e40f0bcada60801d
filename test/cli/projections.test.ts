import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { allProjections } from '../../projections/registry.js';
import { leaderSession } from '../../src/adapters/sql/leader-lock.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import type { ProgressStream } from '../../src/cli/terminal.js';
import { supportStream } from '../../src/domain/audit/events.js';
import { buildLock } from '../../src/projector/rebuild.js';
import { accepted, attempted, streamOf } from '../support/fixture/histories.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { appendEvents } from '../support/harness/projector.js';
import { describeWithPostgres } from '../support/postgres.js';

type Shown = { name: string; version: number; generation: number; position: string | null; lag_s: number };

describeWithPostgres('the operator command of projections', () => {
  let operator: Operator;
  let stderr: string[];
  const stream: ProgressStream = { isTTY: false, write: (text) => stderr.push(text) };
  beforeAll(async () => {
    operator = await openOperator(projectionCommands, stream);
    const { log } = operator.session;
    for (let n = 1; n <= 3; n++) await appendEvents(log, streamOf('live', n), [accepted('live', n), attempted(1, 5)]);
  });
  beforeEach(() => {
    stderr = [];
    stream.isTTY = false;
  });
  afterAll(() => operator.close());

  const statusOf = async (name: string): Promise<Shown | undefined> => {
    const { exit, json } = await operator.runJson('projections', 'status');
    expect(exit).toBe(0);
    return (json as { projections: Shown[] }).projections.find((one) => one.name === name);
  };

  it('status tells version, position and lag of every projection, in the shape of the operator interface', async () => {
    const { json } = await operator.runJson('projections', 'status');
    const { projections } = json as { projections: Shown[] };
    expect(projections.map(({ name }) => name)).toEqual(allProjections.map(({ name }) => name));
    expect(await statusOf('invoices')).toEqual({
      name: 'invoices',
      version: invoices.version,
      generation: 1,
      position: null,
      lag_s: expect.any(Number),
    });
    expect((await statusOf('invoices'))?.lag_s).toBeGreaterThan(0);
    expect(await statusOf('companies')).toMatchObject({ lag_s: 0 });
    expect((await operator.run('projections', 'status')).out).toContain('invoices');
  });

  it('rebuild builds one projection, without a service and with it, and says what is live', async () => {
    expect(await operator.runJson('projections', 'rebuild', 'invoices', '--actor', 'maria')).toEqual({
      exit: 0,
      json: {
        actor: 'maria',
        rebuilt: [{ name: 'invoices', version: invoices.version, generation: 2, position: '6', events: 6 }],
      },
    });
    expect(await statusOf('invoices')).toMatchObject({
      generation: 2,
      position: '6',
      lag_s: 0,
      previous: { generation: 1 },
    });
  });

  it('rebuild shows a bar that ends at 100 % on a terminal, on stderr only, and no progress elsewhere', async () => {
    await operator.run('projections', 'rebuild', 'invoices');
    expect(stderr.join('')).toBe('');
    stream.isTTY = true;
    const { out } = await operator.run('projections', 'rebuild', 'invoices');
    expect(stderr.join('')).toMatch(
      /^(?:\rinvoices +\d+ % \[[^\]]{30}\] 6 events[^\r\n]*)*\rinvoices +100 % \[#{30}\] 6 events[^\n]*\n$/,
    );
    expect(out).not.toContain('%');
  });

  it('rebuild --all builds all of them', async () => {
    const { exit, json } = await operator.runJson('projections', 'rebuild', '--all');
    expect(exit).toBe(0);
    expect((json as { rebuilt: Shown[] }).rebuilt.map(({ name }) => name)).toEqual(
      allProjections.map(({ name }) => name),
    );
  });

  it('rebuild is refused while another one of the same projection runs; --all goes on with the others', async () => {
    const other = leaderSession(operator.database.pool);
    await other.tryLead(buildLock('invoices'));
    const refused = await operator.run('projections', 'rebuild', 'invoices');
    expect(refused).toMatchObject({ exit: 1, err: expect.stringMatching(/being rebuilt by another process/) });
    const some = await operator.runJson('projections', 'rebuild', '--all');
    expect(some).toMatchObject({ exit: 1, json: { error: expect.stringMatching(/^invoices/) } });
    expect((some.json as { rebuilt: Shown[] }).rebuilt).toHaveLength(allProjections.length - 1);
    await other.resign(buildLock('invoices'));
    await other.close();
  });

  it('rollback goes back one generation, and is refused where there is none', async () => {
    const before = await statusOf('invoices');
    const back = await operator.runJson('projections', 'rollback', 'invoices', '--actor', 'maria');
    expect(back).toMatchObject({
      exit: 0,
      json: { rolled_back: [{ name: 'invoices', generation: (before?.generation ?? 0) - 1 }] },
    });
    expect(await statusOf('invoices')).toMatchObject({ previous: { generation: before?.generation }, lag_s: 0 });
    const { events } = await operator.session.store.load(supportStream);
    expect(events.at(-1)).toMatchObject({
      type: 'ProjectionRollbackOrdered',
      data: { projection: 'invoices' },
      metadata: { actor: 'support:maria' },
    });
    const fresh = await openOperator(projectionCommands, stream);
    expect(await fresh.run('projections', 'rollback', 'invoices')).toMatchObject({ exit: 1 });
    await fresh.close();
  });

  it('rebuild and rollback keep rows that show what the log of their own database has lost', async () => {
    const one = await openOperator(projectionCommands, stream);
    await appendEvents(one.session.log, streamOf('live', 1), [accepted('live', 1)]);
    for (let n = 1; n <= 2; n++) expect(await one.run('projections', 'rebuild', 'invoices')).toMatchObject({ exit: 0 });
    await one.database.admin.query(
      `update checkpoints set position = '9999' where name = 'invoices' and role = 'live'`,
    );
    const { rows } = await one.database.pool.query('select name, generation, role, position from checkpoints');
    for (const what of ['rebuild', 'rollback'])
      expect(await one.run('projections', what, 'invoices')).toMatchObject({
        exit: 1,
        err: expect.stringContaining('the log is older than the database'),
      });
    expect((await one.database.pool.query('select name, generation, role, position from checkpoints')).rows).toEqual(
      rows,
    );
    await one.close();
  });

  it.each([
    [['projections', 'rebuild'], 2],
    [['projections', 'rebuild', 'invoices', '--all'], 2],
    [['projections', 'rebuild', 'invoices', 'deadlines'], 2],
    [['projections', 'rebuild', 'invoice'], 1],
    [['projections', 'rollback'], 2],
    [['projections', 'rollback', 'invoice'], 1],
    [['projections', 'status', 'invoices'], 2],
    [['projections', 'rebuild', '--help'], 0],
  ])('%j exits with %i', async (argv, exit) => {
    expect(await operator.run(...argv)).toMatchObject({ exit });
  });
});
