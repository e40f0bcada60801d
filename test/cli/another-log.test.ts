import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventStoreEventLog } from '../../src/adapters/eventlog-eventstoredb/event-log.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import { runCommand } from '../../src/cli/run.js';
import { LogIdentityMismatch } from '../../src/projector/projector.js';
import { readConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { openSession } from '../../src/runtime/operator/session.js';
import type { EventStoreDouble } from '../support/eventstore-double/double.js';
import { createDoubleLog } from '../support/eventstore-double/log.js';
import { accepted, streamOf } from '../support/fixture/histories.js';
import { type EventStoreHarness, openEventStoreHarness } from '../support/harness/eventstore-log.js';
import { appendEvents } from '../support/harness/projector.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

describeWithPostgres('a command over another log than that of the database', () => {
  let folder: string;
  let database: FreshDatabase;
  let harness: EventStoreHarness;
  let double: EventStoreDouble;
  let identity: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-another-log-'));
    database = await freshDatabase();
    harness = openEventStoreHarness();
    double = await harness.double();
    const log = harness.open(double.url);
    await appendEvents(log, streamOf('live', 1), [accepted('live', 1)]);
    identity = await log.identity();
    await expect(run(double, 'projections', 'rebuild', 'invoices')).resolves.toMatchObject({ exit: 0 });
    await guardsMadeFrom(log);
  });
  afterAll(async () => {
    await harness.close();
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** As a process would that read this log to its head. */
  const guardsMadeFrom = async (log: EventStoreEventLog): Promise<void> => {
    const position = [await log.identity(), String(await log.head())];
    await database.pool.query('insert into guards_position (log_identity, guards) values ($1, $2)', position);
  };

  /** As a process with this log would. */
  const run = async (at: EventStoreDouble, ...argv: string[]): Promise<{ exit: number; out: string }> => {
    const parsed = readConfig({
      DATA_DIR: folder,
      DATABASE_URL: database.connectionString,
      MASTER_KEY_FILE: join(folder, 'master.key'),
      EVENTSTORE_URL: at.url,
    });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    const config = { ...parsed.config, masterKeyMayBeMade: true };
    const runner = createRunner(() => undefined);
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const open = (needs?: Parameters<typeof openSession>[4]) =>
      openSession(config, systemClock, createLogger('silent', 'stderr'), runner, needs);
    const exit = await runCommand(argv, [...projectionCommands, ...auditCommands(), doctorCommand], open, {
      out: write,
      err: write,
    }).finally(() => runner.stop());
    return { exit, out: out.join('\n') };
  };
  const rowsOf = async (): Promise<number> => (await database.pool.query('select from read.invoices')).rowCount ?? 0;

  describe('that is empty', () => {
    it('refuses, says what to read, and writes nothing into that log', async () => {
      const empty = await harness.double();
      const length = empty.log.all().length;
      await expect(run(empty, 'doctor')).rejects.toThrow(LogIdentityMismatch);
      await expect(run(empty, 'doctor')).rejects.toThrow(
        /was built from log .*has no identity of this product: .*docs\/operations\/lost-database\.md/,
      );
      const { exit, out } = await run(empty, 'projections', 'rebuild', '--all');
      expect(exit).toBe(1);
      expect(out).toMatch(/was made from log .*has no identity of this product: .*docs\/operations\/lost-database\.md/);
      expect(await run(empty, 'projections', 'rebuild', '--all', '--log', identity)).toEqual({
        exit: 1,
        out: `the log at the address of the event log has no identity of this product, not ${identity}: nothing was changed`,
      });
      expect(empty.log.all()).toHaveLength(length);
      expect(await rowsOf()).toBe(1);
    });

    it('is what an audit finds, which writes nothing into that log either', async () => {
      const empty = await harness.double();
      const length = empty.log.all().length;
      const { exit, out } = await run(empty, 'audit', 'verify');
      expect(exit).toBe(1);
      expect(out).toMatch(
        /^read_model_drift {2}not compared: invoices: its rows were made from log .*has no identity of this product: /m,
      );
      expect(empty.log.all()).toHaveLength(length);
    });
  });

  it('has an audit find that a checkpoint was removed, and leaves rows and checkpoints as they are', async () => {
    const checkpoints = async () => (await database.pool.query('select * from checkpoints order by name')).rows;
    await database.pool.query(`update checkpoints set name = 'removed' where name = 'invoices'`);
    const before = await checkpoints();
    const { exit, out } = await run(double, 'audit', 'verify');
    expect(exit).toBe(1);
    expect(out).toMatch(/^read_model_drift {2}not compared: invoices: no checkpoint says which rows are live/m);
    expect(await checkpoints()).toEqual(before);
    expect(await rowsOf()).toBe(1);
    await database.pool.query(`update checkpoints set name = 'invoices' where name = 'removed'`);
  });

  describe('that is an older copy of it', () => {
    it('makes no rows from that copy and goes back to none, before any process has recorded a pause', async () => {
      const log = harness.open(double.url);
      await expect(run(double, 'projections', 'rebuild', 'invoices')).resolves.toMatchObject({ exit: 0 });
      const backup = createDoubleLog();
      for (const event of double.log.all().slice(backup.all().length)) backup.append(event.stream, 'any', [event]);
      await appendEvents(log, streamOf('live', 3), [accepted('live', 3)]);
      await expect(run(double, 'projections', 'rebuild', 'invoices')).resolves.toMatchObject({ exit: 0 });
      const older = await harness.double({ log: backup });
      const length = backup.all().length;
      for (const argv of [
        ['rebuild', 'invoices'],
        ['rebuild', '--all'],
        ['rollback', 'invoices'],
      ])
        expect(await run(older, 'projections', ...argv)).toEqual({
          exit: 1,
          out: expect.stringMatching(/^the log is older than the database, .* nfse doctor --reconcile/),
        });
      expect(backup.all()).toHaveLength(length);
      expect(await rowsOf()).toBe(2);
      expect((await database.pool.query('select from log_set_back')).rowCount).toBe(0);
      // The right log again.
      expect(await run(double, 'projections', 'rollback', 'invoices')).toMatchObject({ exit: 0 });
      // Only where the operator says that the rows may go.
      expect(await run(older, 'projections', 'rebuild', 'invoices', '--log', identity)).toMatchObject({ exit: 0 });
      expect(await rowsOf()).toBe(1);
    });
  });

  describe('that has events', () => {
    let other: EventStoreDouble;
    let log: EventStoreEventLog;
    beforeAll(async () => {
      other = await harness.double();
      log = harness.open(other.url);
      await appendEvents(log, streamOf('live', 2), [accepted('live', 2)]);
    });

    it('rebuilds only when the operator names that log, and doctor finds the guards of the log before until they are made from this one', async () => {
      const own = await log.identity();
      const length = other.log.all().length;
      expect(await run(other, 'projections', 'rebuild', 'invoices')).toMatchObject({ exit: 1 });
      expect(await run(other, 'projections', 'rebuild', 'invoices', '--log', identity)).toEqual({
        exit: 1,
        out: `the log is ${own}, not ${identity}: nothing was changed`,
      });
      expect(other.log.all()).toHaveLength(length);
      expect(await run(other, 'projections', 'rebuild', '--all', '--log', own)).toMatchObject({ exit: 0 });
      expect((await run(other, 'doctor')).out).toMatch(
        new RegExp(`BAD +guards +the guards were made from log ${identity}, but the log is ${own}`),
      );
      await guardsMadeFrom(log);
      expect((await run(other, 'doctor')).out).not.toContain('the guards were made from log');
    });

    it('is refused while issuing over that log is paused', async () => {
      const own = await log.identity();
      await database.pool.query(
        `insert into log_set_back (log_identity, head, seen_at) values ($1, 1, '2026-11-21T12:00:00.000Z')`,
        [own],
      );
      const length = other.log.all().length;
      for (const what of ['rebuild', 'rollback']) {
        const { exit, out } = await run(other, 'projections', what, 'invoices');
        expect(exit).toBe(1);
        expect(out).toContain('issuing is paused, and the rows show what the log has lost');
      }
      expect(other.log.all()).toHaveLength(length);
    });
  });
});
