import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '../../../src/domain/common/ids.js';
import type { Clock } from '../../../src/ports/clock.js';
import { makeDemoCompany } from '../../../src/runtime/commands/first-start.js';
import { roles as allRoles, type Config, type Role, readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import type { Service } from '../../../src/runtime/roles/parts.js';
import { startService } from '../../../src/runtime/service.js';
import { giveIdentity } from '../fixture/simulator-identity.js';
import { freshDatabase } from '../postgres.js';
import { runLogger } from '../run-logs.js';

export type Answer<Body> = { status: number; headers: Headers; body: Body };

/** Short pauses: what a fault left open is looked up within seconds. The time limit of a call is enough for a busy machine. */
export const PROMPT = { AUTHORIZER_TIMEOUT_S: '6', LOOKUP_INTERVALS_S: '1,1', SWEEP_INTERVAL_S: '1' } as const;

export type RunningService = {
  service: Service;
  config: Config;
  /** API keys of the demo company. */
  keys: { live: string; test: string };
  /** Calls the public API with the key of this mode; `body` is sent as JSON, and the answer has to be JSON. */
  call<Body>(mode: Mode, method: string, path: string, body?: object, headers?: object): Promise<Answer<Body>>;
  control(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
};

/** The whole service in this process, on a fresh database of the run's PostgreSQL, with its own simulator. */
export const startRunningService = async (
  env: NodeJS.ProcessEnv = {},
  roles: readonly Role[] = allRoles,
  clock: Clock = systemClock,
): Promise<RunningService> => {
  const database = await freshDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'nfse-service-'));
  // Where the database is to be embedded, its server may run as another user, who has to walk through.
  await chmod(dataDir, 0o711);
  if (clock === systemClock) await giveIdentity(join(dataDir, 'simulator'));
  const parsed = readConfig({
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.connectionString,
    MASTER_KEY_FILE: join(dataDir, 'master.key'),
    RATE_WRITE_PER_MINUTE: '100000',
    RATE_READ_PER_MINUTE: '100000',
    ...env,
  });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const config = { ...parsed.config, masterKeyMayBeMade: true };
  const service = await startService({ config, roles, clock, logger: runLogger() });
  const [live, test] = await makeDemoCompany(service, config, clock, ['live', 'test']);
  if (live === undefined || test === undefined) throw new Error('the demo company has no keys');
  const keys = { live: live.key, test: test.key };
  return {
    service,
    config,
    keys,
    call: async <Body>(mode: Mode, method: string, path: string, body?: object, headers: object = {}) => {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${keys[mode]}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
    },
    control: async (method, path, body) => {
      const response = await fetch(`${service.simulator?.controlUrl ?? ''}${path}`, {
        method,
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    close: async () => {
      await service.stop();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
