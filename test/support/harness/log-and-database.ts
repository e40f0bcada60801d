import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateCommands } from '../../../src/cli/commands/certificate.js';
import { doctorCommand } from '../../../src/cli/commands/doctor.js';
import { keyCommands } from '../../../src/cli/commands/key.js';
import { projectionCommands } from '../../../src/cli/commands/projections.js';
import { runCommand } from '../../../src/cli/run.js';
import type { Clock } from '../../../src/ports/clock.js';
import { makeDemoCompany } from '../../../src/runtime/commands/first-start.js';
import { roles as allRoles, type Role, readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import type { Readiness } from '../../../src/runtime/operations/readiness.js';
import { openSession, sessionOver } from '../../../src/runtime/operator/session.js';
import type { Service } from '../../../src/runtime/roles/parts.js';
import { startService } from '../../../src/runtime/service.js';
import { eventually } from '../eventually.js';
import type { FreshDatabase } from '../postgres.js';
import { runLogger } from '../run-logs.js';
import type { LedgerNote } from './ledger.js';

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> & { error?: { code: string } } };

type Ask = { mode?: 'live' | 'test'; body?: object; idempotencyKey?: string };

export type ServiceAt = {
  service: Service;
  ask(path: string, ask?: Ask): Promise<Answer>;
  readiness(): Promise<Readiness>;
  /** One entry for every note that the authorizer ever made of this amount. */
  ledger(amount: number): Promise<readonly LedgerNote[]>;
  control(path: string, body: unknown): Promise<void>;
  /** As an operator would. */
  operate(...argv: string[]): Promise<{ exit: number; out: string }>;
  stop(): Promise<void>;
};

export type LogAndDatabaseHarness = {
  /** On this database and the log at this address; master key and simulator are the same at every start. */
  start(database: FreshDatabase, eventStoreUrl: string, roles?: readonly Role[], clock?: Clock): Promise<ServiceAt>;
  /** Registers the demo company and uses its keys from then on. Returns the ids of the keys. */
  register(at: ServiceAt): Promise<{ live: string; test: string }>;
  /** A command of its own process, while no service runs. */
  command(database: FreshDatabase, eventStoreUrl: string, ...argv: string[]): Promise<{ exit: number; out: string }>;
  close(): Promise<void>;
};

/** Waits until the guards are ready, or with `ok` false until they say that issuing is paused. */
export const guardsSay = (at: ServiceAt, ok: boolean) =>
  eventually(
    () => at.readiness(),
    ({ checks: { guards } }) => guards.ok === ok && (guards.ok || /issuing is paused$/.test(guards.reason)),
  );

/** A command shares the log of the service here, which refuses reads until the recorded pause has ended what the service remembers of a lost end. */
const untilLogIsRead = ({ engines: { log } }: Service): Promise<boolean> =>
  eventually(() =>
    log.lastEvent('log-identity').then(
      () => true,
      () => false,
    ),
  );

/** One installation whose database and log are separate machines, each of which may be replaced between two starts. */
export const openLogAndDatabaseHarness = async (): Promise<LogAndDatabaseHarness> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-site-'));
  const keys = { live: '', test: '' };
  const running = new Set<Service>();
  const logger = runLogger();

  const configFor = (database: FreshDatabase, eventStoreUrl: string) => {
    const parsed = readConfig({
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: folder,
      MASTER_KEY_FILE: join(folder, 'master.key'),
      DATABASE_URL: database.connectionString,
      EVENTSTORE_URL: eventStoreUrl,
      LOG_LEVEL: 'silent',
      RATE_WRITE_PER_MINUTE: '100000',
      RATE_READ_PER_MINUTE: '100000',
      // Long enough for a busy machine: log recovery takes an answer after the timeout for no answer.
      AUTHORIZER_TIMEOUT_S: '6',
      LOOKUP_INTERVALS_S: '1,1',
      SWEEP_INTERVAL_S: '1',
      // Two starts may take longer than the shortest window on a busy machine.
      DUPLICATE_WINDOW_S: '600',
    });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    return { ...parsed.config, masterKeyMayBeMade: true };
  };

  const ask =
    (origin: string): ServiceAt['ask'] =>
    async (path, { mode = 'live', body, idempotencyKey } = {}) => {
      const response = await fetch(`${origin}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${keys[mode]}`,
          'content-type': 'application/json',
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
    };

  return {
    start: async (database, eventStoreUrl, roles = allRoles, clock = systemClock) => {
      const config = configFor(database, eventStoreUrl);
      const service = await startService({ config, roles, clock, logger });
      running.add(service);
      const controlUrl = service.simulator?.controlUrl ?? '';
      return {
        service,
        ask: ask(service.url),
        readiness: async () => (await (await fetch(`${service.opsUrl}/health/ready`)).json()) as Readiness,
        ledger: async (amount) => {
          const entries = (await (await fetch(`${controlUrl}/_control/ledger`)).json()) as LedgerNote[];
          return entries.filter((entry) => entry.amount_in_cents === amount);
        },
        control: async (path, body) => {
          const response = await fetch(`${controlUrl}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
          if (!response.ok) throw new Error(`${path} answered ${response.status}`);
        },
        operate: async (...argv) => {
          await untilLogIsRead(service);
          const out: string[] = [];
          const write = (text: string): void => void out.push(text);
          const runner = createRunner(() => undefined);
          const session = sessionOver(service.engines, config, clock, { logger, runner });
          const commands = [...certificateCommands, doctorCommand, ...keyCommands];
          const terminal = { out: write, err: write };
          const exit = await runCommand(argv, commands, async () => session, terminal).finally(() => runner.stop());
          return { exit, out: out.join('\n') };
        },
        stop: async () => {
          running.delete(service);
          await service.stop();
        },
      };
    },
    command: async (database, eventStoreUrl, ...argv) => {
      const config = configFor(database, eventStoreUrl);
      const out: string[] = [];
      const write = (text: string): void => void out.push(text);
      const runner = createRunner(() => undefined);
      const commands = [...certificateCommands, doctorCommand, ...keyCommands, ...projectionCommands];
      const open = (needs?: Parameters<typeof openSession>[4]) =>
        openSession(config, systemClock, logger, runner, needs);
      const exit = await runCommand(argv, commands, open, { out: write, err: write }).finally(() => runner.stop());
      return { exit, out: out.join('\n') };
    },
    register: async ({ service }) => {
      const { pool } = service.engines;
      const { connectionString = '' } = pool.options;
      const config = configFor({ connectionString } as FreshDatabase, 'esdb://127.0.0.1:1?tls=false');
      const [live, test] = await makeDemoCompany(service, config, systemClock, ['live', 'test']);
      keys.live = live?.key ?? '';
      keys.test = test?.key ?? '';
      return { live: live?.id ?? '', test: test?.id ?? '' };
    },
    close: async () => {
      await Promise.all([...running].map((service) => service.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
};
