import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Role } from '../../src/runtime/config/config.js';
import { composeService } from '../support/compose.js';
import type { CrashHarness } from '../support/harness/crash.js';

/** What a container runs, as a process of this machine. */
export type Command = { args: readonly string[]; env: Readonly<Record<string, string>> };

/** `eventStoreUrl` is left out where the log is in PostgreSQL. */
type EngineUrls = { natsUrl: string; eventStoreUrl?: string };

/** Values that mean something only inside of a container or to a container of another name. */
const OF_A_CONTAINER = /^\/|0\.0\.0\.0|\bsimulator\b/;

/**
 * Command line and environment of each role from compose.yaml, with addresses and files of this machine in the place of
 * the containers' and with the harness's short pauses. Throws for a variable that it knows no replacement of.
 */
export const containersOn = async (harness: CrashHarness, urls: EngineUrls): Promise<(role: Role) => Command> => {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(harness.folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const { DATABASE_URL = '', EVENTSTORE_URL: _url, ...own } = harness.env;
  const local: Readonly<Record<string, string | undefined>> = {
    ...own,
    HOST: '127.0.0.1',
    OPS_HOST: '127.0.0.1',
    OPERATOR_TOKEN_FILE: await file('operator-token', randomBytes(32).toString('hex')),
    METRICS_TOKEN_FILE: await file('metrics-token', randomBytes(32).toString('hex')),
    DATABASE_URL_FILE: await file('database-url', DATABASE_URL),
    NATS_URL_FILE: await file('nats-url', urls.natsUrl),
    EVENTSTORE_URL_FILE: urls.eventStoreUrl === undefined ? undefined : await file('es-url', urls.eventStoreUrl),
  };
  return (role) => {
    const { command, environment } = composeService(role);
    const foreign = Object.entries(environment).filter(
      ([name, value]) => !Object.hasOwn(local, name) && OF_A_CONTAINER.test(value),
    );
    if (foreign.length > 0) throw new Error(`compose.yaml: what stands for ${foreign.join(' and ')} here?`);
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...environment, ...local }))
      if (value !== undefined) env[name] = value;
    return { args: command, env };
  };
};
