import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lockDataDir } from '../../src/adapters/embedded-postgres/data-dir.js';
import { makeDemoCompany } from '../../src/runtime/commands/first-start.js';
import { roles as allRoles, type Role, readConfig } from '../../src/runtime/config/config.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { rolesHeld } from '../../src/runtime/engines/database.js';
import type { Readiness } from '../../src/runtime/operations/readiness.js';
import type { Service } from '../../src/runtime/roles/parts.js';
import { startService } from '../../src/runtime/service.js';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { gate } from '../support/gate.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { runLogger } from '../support/run-logs.js';

/** The bound of the wait, which a busy machine would otherwise reach: it ends with the process here. */
const BOUND_MS = 5_000;

vi.mock('../../src/lib/pause.js', async (original) => {
  const actual = await original<typeof import('../../src/lib/pause.js')>();
  return {
    ...actual,
    pause: (ms: number, signal?: AbortSignal) => actual.pause(ms === BOUND_MS ? 3_600_000 : ms, signal),
  };
});

/** What the tests of a failed start replace; undefined is the product's own. */
type Replaced = Record<'runToEnd' | 'prepareSimulator', (() => Promise<void>) | undefined>;
const replaced: Replaced = vi.hoisted(() => ({ runToEnd: undefined, prepareSimulator: undefined }));

vi.mock('../../src/adapters/embedded-postgres/server-process.js', async (original) => {
  const actual = await original<typeof import('../../src/adapters/embedded-postgres/server-process.js')>();
  const runToEnd: typeof actual.runToEnd = (...asked) => (replaced.runToEnd ?? (() => actual.runToEnd(...asked)))();
  return { ...actual, runToEnd };
});

vi.mock('../../src/runtime/engines/simulator.js', async (original) => {
  const actual = await original<typeof import('../../src/runtime/engines/simulator.js')>();
  const prepareSimulator: typeof actual.prepareSimulator = (...asked) =>
    (replaced.prepareSimulator ?? (() => actual.prepareSimulator(...asked)))();
  return { ...actual, prepareSimulator };
});

describe('a start that fails while the database is being made', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-start-'));
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    replaced.runToEnd = undefined;
    replaced.prepareSimulator = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  it('ends after the keys of the simulator are written, so that the folder can be removed', async () => {
    const [making, written] = [gate(), gate()];
    replaced.prepareSimulator = async () => {
      making.open();
      await written.opened;
    };
    replaced.runToEnd = async () => {
      await making.opened;
      throw new Error('initdb failed');
    };
    const parsed = readConfig({ PORT: '0', OPS_PORT: '0', DATA_DIR: join(folder, 'data') });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    const order: string[] = [];
    const options = { config: parsed.config, roles: allRoles, clock: systemClock, logger: runLogger() };
    const starting = startService(options).catch((error: Error) => order.push(error.message));
    await making.opened;
    await lockIsFree(join(folder, 'data')).then((isFree) => order.push(`free: ${isFree}`));
    order.push('written');
    written.open();
    await starting;
    expect(order).toEqual(['free: false', 'written', 'initdb failed']);
  });

  const lockIsFree = (dataDir: string): Promise<boolean> =>
    lockDataDir(dataDir, { waitMs: 500 }).then(
      async (lock) => {
        await lock.release();
        return true;
      },
      () => false,
    );
});

describeWithPostgres('an api process whose database lacks rows that the log has', () => {
  let folder: string;
  let double: EventStoreDouble;
  const running: Service[] = [];
  beforeEach(async () => {
    [folder, double] = await Promise.all([mkdtemp(join(tmpdir(), 'nfse-start-')), startEventStoreDouble()]);
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop()));
    await double.close();
    await rm(folder, { recursive: true, force: true });
  });

  const configFor = (database: FreshDatabase, ports: Record<string, string> = {}) => {
    const parsed = readConfig({
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: folder,
      MASTER_KEY_FILE: join(folder, 'master.key'),
      DATABASE_URL: database.connectionString,
      EVENTSTORE_URL: double.url,
      // A busy machine takes longer than the limits of a service for people.
      DATABASE_CONNECT_TIMEOUT_S: '60',
      DATABASE_STATEMENT_TIMEOUT_S: '60',
      ...ports,
    });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    return { ...parsed.config, masterKeyMayBeMade: true };
  };

  const start = async (config: ReturnType<typeof configFor>, roles: readonly Role[]): Promise<Service> => {
    const service = await startService({ config, roles, clock: systemClock, logger: runLogger() });
    running.push(service);
    return service;
  };

  it('listens when another process has rebuilt them, and answers the first request', async () => {
    const config = configFor(await freshDatabase());
    const first = await start(config, allRoles);
    expect(await rolesHeld(first.engines.pool)).toEqual({ roles: new Set(allRoles), older: false });
    const [key] = await makeDemoCompany(first, config, systemClock, ['test']);
    await Promise.all(running.splice(0).map((service) => service.stop()));

    const emptied = await freshDatabase();
    const [port, opsPort] = [String(await freePort()), String(await freePort())];
    const activities = () =>
      fetch(`http://127.0.0.1:${port}/v1/activities`, { headers: { authorization: `Bearer ${key?.key ?? ''}` } });
    let isListening = false;
    const starting = start(configFor(emptied, { PORT: port, OPS_PORT: opsPort }), ['api']).finally(() => {
      isListening = true;
    });
    const readiness = async (): Promise<Readiness | undefined> => {
      const answer = await fetch(`http://127.0.0.1:${opsPort}/health/ready`).catch(() => undefined);
      return answer === undefined ? undefined : ((await answer.json()) as Readiness);
    };
    await eventually(
      readiness,
      (seen) => seen?.reasons.includes('guards: rebuilding (waiting for the projector)') === true,
    );
    await expect(activities()).rejects.toThrow();
    expect(isListening).toBe(false);

    await start(configFor(emptied), ['projector']);
    await starting;
    const answer = await activities();
    const seen = { status: answer.status, body: await answer.text(), readiness: await readiness() };
    expect(seen, JSON.stringify(seen)).toMatchObject({ status: 200 });
  });
});
