import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { credentialsOf, EventStoreUrlInvalid } from '../adapters/eventlog-eventstoredb/address.js';
import { NatsServersInvalid, readServers } from '../adapters/queue-nats/servers.js';
import type { Limits } from '../domain/invoice/limits.js';
import type { Mode } from '../domain/shared/ids.js';

export const roles = ['api', 'projector', 'relay', 'issuer', 'sweeper'] as const;
export type Role = (typeof roles)[number];

/** Everything that the environment decides (interface.md "Environment"), checked and typed. */
export type Config = {
  api: { host: string; port: number; baseUrl: string | undefined };
  ops: { host: string; port: number };
  dataDir: string;
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined;
  /** Undefined: the log is a table of the database. Checked; may hold a password. */
  eventStoreUrl: string | undefined;
  /** Undefined: the in-process queue. Checked; may hold a password. */
  natsUrl: string | undefined;
  /** Undefined for a mode that the simulator serves. */
  authorizer: Partial<Record<Mode, string>>;
  authorizerCaFile: string | undefined;
  taxRegistryUrl: string | undefined;
  masterKeyFile: string;
  masterKeyMayBeMade: boolean;
  logLevel: (typeof LOG_LEVELS)[number];
  rates: { write: number; read: number };
  limits: Limits;
  idempotencySeconds: number;
  duplicateSeconds: number;
  downloadTokenSeconds: number;
  sweepSeconds: number;
  simulator: { port: number; controlPort: number; clientCaFile: string | undefined };
};

export type ConfigResult = { config: Config } | { problems: readonly string[] };

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const whole = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number'),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const port = (fallback: string) => v.optional(whole(0, 65_535), fallback);
const seconds = (fallback: number) => v.optional(whole(1, 31_536_000), String(fallback));
const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

const address = (...protocols: string[]) =>
  v.pipe(
    text,
    v.check(
      (url) => URL.canParse(url) && protocols.includes(new URL(url).protocol),
      `must be a ${protocols.join(' or ')} address`,
    ),
  );

const httpAddress = v.pipe(
  address('http:', 'https:'),
  v.transform((url) => url.replace(/\/+$/, '')),
);

/** The spec's windows: an operator may rehearse with shorter ones, never run with them by accident. */
const SPEC_WINDOWS = {
  QUEUED_TIMEOUT_S: 900,
  PROCESSING_TIMEOUT_S: 3600,
  CANCELLATION_TIMEOUT_S: 3600,
  IDEMPOTENCY_TTL_S: 86_400,
  DUPLICATE_WINDOW_S: 60,
  TEST_RETENTION_S: 604_800,
  DOWNLOAD_TOKEN_TTL_S: 900,
} as const;

const environment = v.object({
  HOST: v.optional(text, '127.0.0.1'),
  PORT: port('3000'),
  OPS_HOST: v.optional(text, '127.0.0.1'),
  OPS_PORT: port('3001'),
  BASE_URL: v.optional(httpAddress),
  DATA_DIR: v.optional(text, '.data'),
  DATABASE_URL: v.optional(address('postgres:', 'postgresql:')),
  EVENTSTORE_URL: v.optional(text),
  NATS_URL: v.optional(text),
  AUTHORIZER_TEST_URL: v.optional(
    v.pipe(
      address('https:'),
      v.transform((url) => url.replace(/\/+$/, '')),
    ),
  ),
  AUTHORIZER_LIVE_URL: v.optional(
    v.pipe(
      address('https:'),
      v.transform((url) => url.replace(/\/+$/, '')),
    ),
  ),
  AUTHORIZER_CA_FILE: v.optional(text),
  TAX_REGISTRY_URL: v.optional(httpAddress),
  MASTER_KEY_FILE: v.optional(text),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
  RATE_WRITE_PER_MINUTE: v.optional(whole(60, 1_000_000), '60'),
  RATE_READ_PER_MINUTE: v.optional(whole(300, 1_000_000), '300'),
  QUEUED_TIMEOUT_S: seconds(SPEC_WINDOWS.QUEUED_TIMEOUT_S),
  PROCESSING_TIMEOUT_S: seconds(SPEC_WINDOWS.PROCESSING_TIMEOUT_S),
  CANCELLATION_TIMEOUT_S: seconds(SPEC_WINDOWS.CANCELLATION_TIMEOUT_S),
  IDEMPOTENCY_TTL_S: seconds(SPEC_WINDOWS.IDEMPOTENCY_TTL_S),
  DUPLICATE_WINDOW_S: seconds(SPEC_WINDOWS.DUPLICATE_WINDOW_S),
  TEST_RETENTION_S: seconds(SPEC_WINDOWS.TEST_RETENTION_S),
  DOWNLOAD_TOKEN_TTL_S: seconds(SPEC_WINDOWS.DOWNLOAD_TOKEN_TTL_S),
  ALLOW_SHORT_WINDOWS: v.optional(v.picklist(['0', '1'], 'must be 0 or 1'), '0'),
  AUTHORIZER_TIMEOUT_S: v.optional(whole(1, 600), '30'),
  LOOKUP_INTERVALS_S: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,6}(,\d{1,6})*$/, 'must be whole seconds separated by commas'),
      v.transform((list) => list.split(',').map(Number)),
      v.check((list) => list.every((one) => one >= 1), 'every interval must be at least 1'),
    ),
    '30,60,120,300,600',
  ),
  SWEEP_INTERVAL_S: v.optional(whole(1, 3600), '5'),
  SIMULATOR_PORT: port('0'),
  SIMULATOR_CONTROL_PORT: port('0'),
  SIMULATOR_CA_FILE: v.optional(text),
});

/** Names whose value may come from a mounted file instead: `NAME_FILE`. */
const FROM_FILE = ['DATABASE_URL', 'EVENTSTORE_URL', 'NATS_URL'] as const;

/** Reads the environment; every wrong variable is named, nothing is started (exit 2). */
export const readConfig = (env: NodeJS.ProcessEnv): ConfigResult => {
  const { values, problems } = withFiles(env);
  const parsed = v.safeParse(environment, values);
  for (const issue of parsed.issues ?? []) problems.push(`${v.getDotPath(issue) ?? 'environment'} ${issue.message}`);
  problems.push(...combinations(values));
  return parsed.success && problems.length === 0 ? { config: toConfig(parsed.output) } : { problems };
};

/** What one variable alone cannot tell; checked on the raw values, so that a bad variable hides no other. */
const combinations = (values: Readonly<Record<string, string>>): readonly string[] => {
  const problems: string[] = [];
  for (const [name, least] of Object.entries(SPEC_WINDOWS)) {
    if (values.ALLOW_SHORT_WINDOWS !== '1' && Number(values[name] ?? least) < least) {
      problems.push(`${name} must be at least ${least}; shorter windows need ALLOW_SHORT_WINDOWS=1 (rehearsal only)`);
    }
  }
  if (values.DATABASE_URL !== undefined && values.MASTER_KEY_FILE === undefined) {
    problems.push('MASTER_KEY_FILE is required with DATABASE_URL: 32 bytes in base64');
  }
  if (!isLoopback(values.OPS_HOST ?? '127.0.0.1') && values.OPERATOR_TOKEN_FILE === undefined) {
    problems.push('OPERATOR_TOKEN_FILE is required when OPS_HOST is not a loopback address');
  }
  problems.push(...addressProblems('EVENTSTORE_URL', values, credentialsOf, EventStoreUrlInvalid));
  problems.push(...addressProblems('NATS_URL', values, readServers, NatsServersInvalid));
  return problems;
};

/** An engine's address as its adapter reads it; what is wrong is said without the address, which may hold a password. */
const addressProblems = (
  name: string,
  values: Readonly<Record<string, string>>,
  read: (address: string) => unknown,
  Invalid: new () => Error,
): readonly string[] => {
  const address = values[name];
  if (address === undefined) return [];
  try {
    read(address);
    return [];
  } catch (error) {
    if (error instanceof Invalid) return [`${name}: ${error.message}`];
    throw error;
  }
};

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);

const withFiles = (env: NodeJS.ProcessEnv): { values: Record<string, string>; problems: string[] } => {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value !== '') values[name] = value;
  for (const name of FROM_FILE) {
    const file = values[`${name}_FILE`];
    if (file === undefined) continue;
    if (values[name] !== undefined) problems.push(`${name} and ${name}_FILE are both set`);
    try {
      values[name] = readFileSync(file, 'utf8').trim();
    } catch {
      problems.push(`${name}_FILE cannot be read`);
    }
  }
  return { values, problems };
};

const toConfig = (e: v.InferOutput<typeof environment>): Config => {
  const dataDir = resolve(e.DATA_DIR);
  return {
    api: { host: e.HOST, port: e.PORT, baseUrl: e.BASE_URL },
    ops: { host: e.OPS_HOST, port: e.OPS_PORT },
    dataDir,
    databaseUrl: e.DATABASE_URL,
    eventStoreUrl: e.EVENTSTORE_URL,
    natsUrl: e.NATS_URL,
    authorizer: {
      ...(e.AUTHORIZER_TEST_URL === undefined ? {} : { test: e.AUTHORIZER_TEST_URL }),
      ...(e.AUTHORIZER_LIVE_URL === undefined ? {} : { live: e.AUTHORIZER_LIVE_URL }),
    },
    authorizerCaFile: e.AUTHORIZER_CA_FILE,
    taxRegistryUrl: e.TAX_REGISTRY_URL,
    masterKeyFile: e.MASTER_KEY_FILE ?? resolve(dataDir, 'master.key'),
    masterKeyMayBeMade: e.MASTER_KEY_FILE === undefined,
    logLevel: e.LOG_LEVEL,
    rates: { write: e.RATE_WRITE_PER_MINUTE, read: e.RATE_READ_PER_MINUTE },
    limits: {
      queuedSeconds: e.QUEUED_TIMEOUT_S,
      processingSeconds: e.PROCESSING_TIMEOUT_S,
      cancellationSeconds: e.CANCELLATION_TIMEOUT_S,
      testRetentionSeconds: e.TEST_RETENTION_S,
      sendSeconds: e.AUTHORIZER_TIMEOUT_S,
      lookupIntervalsSeconds: e.LOOKUP_INTERVALS_S,
    },
    idempotencySeconds: e.IDEMPOTENCY_TTL_S,
    duplicateSeconds: e.DUPLICATE_WINDOW_S,
    downloadTokenSeconds: e.DOWNLOAD_TOKEN_TTL_S,
    sweepSeconds: e.SWEEP_INTERVAL_S,
    simulator: { port: e.SIMULATOR_PORT, controlPort: e.SIMULATOR_CONTROL_PORT, clientCaFile: e.SIMULATOR_CA_FILE },
  };
};
