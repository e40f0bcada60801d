import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../../../src/cli/command.js';
import { backupCommand, restoreCommand } from '../../../src/cli/commands/backup.js';
import { doctorCommand } from '../../../src/cli/commands/doctor.js';
import { runCommand } from '../../../src/cli/run.js';
import type { Session } from '../../../src/cli/session.js';
import { makeDemoCompany, prepareFirstStart } from '../../../src/runtime/commands/first-start.js';
import { referenceCommands } from '../../../src/runtime/commands/main.js';
import { roles as allRoles, type Config, type Role, readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { restoreOf } from '../../../src/runtime/operator/backup.js';
import { sessionOver } from '../../../src/runtime/operator/session.js';
import type { Service } from '../../../src/runtime/roles/parts.js';
import { startService } from '../../../src/runtime/service.js';
import { runLogger } from '../run-logs.js';
import type { LedgerNote } from './ledger.js';

export type Said = { exit: number; out: string };

export type EmbeddedAt = {
  service: Service;
  ask(path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }>;
  ledger(): Promise<readonly LedgerNote[]>;
  control(path: string, body: unknown): Promise<void>;
  operate(...argv: string[]): Promise<Said>;
  stop(): Promise<void>;
};

/** One data folder with its own database, master key and simulator. */
export type EmbeddedHarness = {
  folder: string;
  start(roles?: readonly Role[]): Promise<EmbeddedAt>;
  /** Registers the demo company; its live key is asked with from then on. */
  register(at: EmbeddedAt): Promise<void>;
  /** As an operator on a folder on which nothing runs. */
  restore(from: string): Promise<Said>;
  close(): Promise<void>;
};

/**
 * `key` is the live API key when the company is registered already, in another folder that this one was made from. `more` may name the DATA_DIR of
 * another harness, on which nothing runs, and a database of the operator.
 */
export const openEmbeddedHarness = async (
  key = { live: '' },
  more: NodeJS.ProcessEnv = {},
): Promise<EmbeddedHarness> => {
  const folder = more.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'nfse-embedded-')));
  // The database may run as another user, who has to walk through.
  await chmod(folder, 0o711);
  const running = new Set<Service>();
  const logger = runLogger();
  const parsed = readConfig({
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    // Log recovery takes an answer after the timeout for no answer.
    AUTHORIZER_TIMEOUT_S: '15',
    LOOKUP_INTERVALS_S: '1,1',
    SWEEP_INTERVAL_S: '1',
    ...(more.DATABASE_URL === undefined ? {} : { MASTER_KEY_FILE: join(folder, 'master.key') }),
    ...more,
  });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;

  return {
    folder,
    start: async (roles = allRoles) => {
      const service = await startService({
        config,
        roles,
        clock: systemClock,
        logger,
        // As `serve` does.
        beforeReady: async (started) => {
          if (roles.includes('api')) await prepareFirstStart(started, config, systemClock);
        },
      });
      running.add(service);
      return serviceAt(service, config, key, () => running.delete(service));
    },
    register: async ({ service }) => {
      const [live] = await makeDemoCompany(service, config, systemClock, ['live']);
      key.live = live?.key ?? '';
    },
    restore: (from) =>
      runAs(['restore', '--from', from], [restoreCommand(restoreOf(() => config))], () =>
        Promise.reject(new Error('a restore opens no session')),
      ),
    close: async () => {
      for (const service of running) await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const serviceAt = (service: Service, config: Config, key: { live: string }, gone: () => void): EmbeddedAt => {
  const controlUrl = service.simulator?.controlUrl ?? '';
  return {
    service,
    ask: async (path, body) => {
      const response = await fetch(`${service.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key.live}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    ledger: async () =>
      (await (await fetch(`${controlUrl}/_control/ledger?environment=live`)).json()) as readonly LedgerNote[],
    control: async (path, body) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${controlUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    },
    operate: async (...argv) => {
      const runner = createRunner(() => undefined);
      const session = sessionOver(service.engines, config, systemClock, { logger: runLogger(), runner });
      const restore = restoreCommand(restoreOf(() => config));
      const commands = [doctorCommand, ...referenceCommands, backupCommand, restore];
      return await runAs(argv, commands, async () => session).finally(() => runner.stop());
    },
    stop: async () => {
      gone();
      await service.stop();
    },
  };
};

const runAs = async (
  argv: readonly string[],
  commands: readonly Command[],
  open: () => Promise<Session>,
): Promise<Said> => {
  const output: string[] = [];
  const write = (text: string): void => void output.push(text);
  const exit = await runCommand(argv, commands, open, { out: write, err: write });
  return { exit, out: output.join('\n') };
};

/** The files that a backup of the database does not hold: the authorizer's ledger, and the operator's key file. */
export const carryOver = async (
  from: EmbeddedHarness,
  to: EmbeddedHarness,
  ...names: readonly string[]
): Promise<void> => {
  for (const name of names)
    await cp(join(from.folder, name), join(to.folder, name), {
      recursive: true,
      // Not the sockets of a simulator that ran there.
      filter: (path) => !path.endsWith('.lock'),
    });
};
