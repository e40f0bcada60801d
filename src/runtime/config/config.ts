import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { ignoredParameters, readDatabaseUrl } from '../../adapters/sql/address.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import { misspeltName } from '../../domain/common/nearest-name.js';
import { combinationProblems, isLoopbackInUrl } from './checks.js';
import { environment, FROM_FILE } from './environment.js';
import { checkMasterKey, readCertificates, readToken, unreadable } from './secret-files.js';

export const roles = ['api', 'projector', 'relay', 'issuer', 'sweeper'] as const;
export type Role = (typeof roles)[number];

/** Everything that environment variables configure, checked and typed. */
export type Config = ReturnType<typeof toConfig>;

export type ConfigResult = { config: Config } | { problems: readonly string[] };

/** Modes without a configured address: the simulator of this service answers for them. */
export const modesWithoutAuthorizer = (config: Config): readonly Mode[] =>
  modes.filter((mode) => config.authorizer[mode] === undefined);

/** Modes that a simulator serves, here or elsewhere. Nothing authorized there is a fiscal document. */
export const simulatedModes = (config: Config): readonly Mode[] =>
  modes.filter((mode) => config.authorizer[mode] === undefined || config.simulator.elsewhere.includes(mode));

/** Whether a simulator answers in this mode: the national system is never on this machine, so a local address is a simulator's (ADR 34). */
export const isSimulatorsMode = (config: Config, mode: Mode): boolean => {
  const address = config.authorizer[mode];
  return simulatedModes(config).includes(mode) || (address !== undefined && isLoopbackInUrl(new URL(address).hostname));
};

/** `keyMayBeMissing`: for a command that works without the file of the master key. `keyMustBeUsable`: for the service, which needs a good one. */
export type ConfigOptions = { keyMayBeMissing?: boolean; keyMustBeUsable?: boolean };

/** Reads the environment and names every wrong variable. Nothing is started. */
export const readConfig = (
  env: NodeJS.ProcessEnv,
  { keyMayBeMissing = false, keyMustBeUsable = false }: ConfigOptions = {},
): ConfigResult => {
  const { values, problems } = withFiles(env);
  const files = filesOf(values, problems);
  const parsed = v.safeParse(environment, values);
  for (const issue of parsed.issues ?? []) problems.push(`${v.getDotPath(issue) ?? 'environment'} ${issue.message}`);
  problems.push(...combinationProblems(values));
  // For other commands a bad file alone is no problem of the configuration: a restore puts the key there, and setup database needs no key.
  if (keyMustBeUsable || problems.length > 0)
    checkMasterKey('MASTER_KEY_FILE', values.MASTER_KEY_FILE, { mayBeMissing: keyMayBeMissing, problems });
  return !parsed.success || problems.length > 0 ? { problems } : { config: toConfig(parsed.output, files) };
};

const OF_SIMULATOR = /^(?:SIMULATOR_\w+|DATA_DIR|LOG_LEVEL|TEST_RETENTION_S|ALLOW_SHORT_WINDOWS)$/;

/** The same for a simulator apart from the service: it starts before the files exist that the service's variables name. */
export const readSimulatorConfig = (env: NodeJS.ProcessEnv): ConfigResult =>
  readConfig(Object.fromEntries(Object.entries(env).filter(([name]) => OF_SIMULATOR.test(name))));

/** Variables that are probably misspelt. They are ignored, which an operator would otherwise not notice. */
export const misspeltVariables = (env: NodeJS.ProcessEnv): readonly { sent: string; meant: string }[] => {
  const known = [...Object.keys(environment.entries), ...FROM_FILE.map((name) => `${name}_FILE`), ...FILES_OF_SECRETS];
  return Object.keys(env).flatMap((sent) => {
    if (known.includes(sent)) return [];
    // MASTER_KEY, which only a file may hold, and PORT_FILE, which no file may.
    const meant =
      [`${sent}_FILE`, sent.replace(/_FILE$/, '')].find((name) => known.includes(name)) ?? misspeltName(sent, known);
    return meant === undefined ? [] : [{ sent, meant }];
  });
};

/** Warnings for an operator: parameters of the addresses of the database that have no effect, because the service sets them itself. */
export const ignoredParameterWarnings = (env: NodeJS.ProcessEnv): readonly string[] => {
  const { values } = withFiles(env);
  return (['DATABASE_URL', 'DATABASE_OWNER_URL'] as const).flatMap((name) => ignoredParametersLine(name, values[name]));
};

/** The same of one address, which `name` holds. */
export const ignoredParametersLine = (name: string, address = ''): readonly string[] => {
  const ignored = ignoredParameters(address.trim());
  return ignored.length === 0
    ? []
    : [`warning: ${ignored.join(', ')} in ${name} ${ignored.length === 1 ? 'is' : 'are'} ignored: ${SET_HERE}`];
};

const SET_HERE = 'the service names its sessions itself, and DATABASE_…_TIMEOUT_S set its limits';

const FILES_OF_SECRETS = ['OPERATOR_TOKEN_FILE', 'METRICS_TOKEN_FILE'] as const;

/** A server listens on every address with these, so they are no host name. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** A Host header has IPv6 addresses in brackets. */
const asInHostHeader = (host: string): string => (host.includes(':') ? `[${host}]` : host).toLowerCase();

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
    } catch (error) {
      problems.push(unreadable(`${name}_FILE`, error));
    }
  }
  return { values, problems };
};

/** A message with `NAME_FILE` in place of each variable whose value came from a file: there an operator has to look. */
export const namedAsSet = (message: string, env: NodeJS.ProcessEnv): string =>
  FROM_FILE.filter((name) => !env[name] && env[`${name}_FILE`]).reduce(
    (text, name) => text.replace(new RegExp(`\\b${name}\\b`, 'g'), `${name}_FILE`),
    message,
  );

/** What is read from files that variables name. Certificates are in PEM. */
const filesOf = (values: Readonly<Record<string, string>>, problems: string[]) => ({
  operatorToken: readToken('OPERATOR_TOKEN_FILE', values.OPERATOR_TOKEN_FILE, problems),
  metricsToken: readToken('METRICS_TOKEN_FILE', values.METRICS_TOKEN_FILE, problems),
  authorizerRoots: readCertificates('AUTHORIZER_CA_FILE', values.AUTHORIZER_CA_FILE, problems),
  clientAuthorities: readCertificates('SIMULATOR_CA_FILE', values.SIMULATOR_CA_FILE, problems),
});

const toConfig = (
  e: v.InferOutput<typeof environment>,
  { operatorToken, metricsToken, authorizerRoots, clientAuthorities }: ReturnType<typeof filesOf>,
) => {
  const dataDir = resolve(e.DATA_DIR);
  return {
    api: { host: e.HOST, port: e.PORT, baseUrl: e.BASE_URL },
    ops: { host: e.OPS_HOST, port: e.OPS_PORT },
    /** Undefined: the console needs no token, which is only allowed when the operations port is on a loopback address. */
    operatorToken,
    /** Undefined: `/metrics` needs no token. */
    metricsToken,
    /** Host names in lower case under which operators reach the console, besides those of loopback. */
    consoleHosts: [...(ANY_ADDRESS.has(e.OPS_HOST) ? [] : [asInHostHeader(e.OPS_HOST)]), ...e.CONSOLE_HOSTS],
    dataDir,
    /** Undefined: the embedded PostgreSQL in `dataDir`. */
    databaseUrl: e.DATABASE_URL === undefined ? undefined : readDatabaseUrl(e.DATABASE_URL),
    /** Address of the role that owns the schema of `databaseUrl` and makes its steps. Undefined: the user of `databaseUrl` makes them. */
    databaseOwnerUrl: e.DATABASE_OWNER_URL === undefined ? undefined : readDatabaseUrl(e.DATABASE_OWNER_URL),
    /** Engines on other machines may be reached without TLS. */
    allowsPlaintext: e.ALLOW_PLAINTEXT_ENGINES === '1',
    database: {
      /** Connections of the pool that all parts without a dedicated pool share. */
      poolSize: e.DATABASE_POOL_SIZE,
      limits: {
        statementTimeoutMs: e.DATABASE_STATEMENT_TIMEOUT_S * 1000,
        lockTimeoutMs: e.DATABASE_LOCK_TIMEOUT_S * 1000,
        connectTimeoutMs: e.DATABASE_CONNECT_TIMEOUT_S * 1000,
      },
    },
    /** Undefined: the log is a table of the database. Checked; may hold a password. */
    eventStoreUrl: e.EVENTSTORE_URL,
    /** Undefined: the in-process queue. Checked; may hold a password. */
    natsUrl: e.NATS_URL,
    /** Undefined for a mode that the simulator serves. */
    authorizer: { live: e.AUTHORIZER_LIVE_URL, test: e.AUTHORIZER_TEST_URL },
    /** Of the municipal parameters API; undefined for a mode whose address is derived from the authorizer's. */
    parameters: { live: e.PARAMETERS_LIVE_URL, test: e.PARAMETERS_TEST_URL },
    /** Trusted beside the roots that the product knows; each in PEM. */
    authorizerRoots,
    authorizerConnectTimeoutMs: e.AUTHORIZER_CONNECT_TIMEOUT_S * 1000,
    taxRegistryUrl: e.TAX_REGISTRY_URL,
    /** Folder for the daily anchors, which operators publish. Undefined: anchors are in the log only. */
    anchorDir: e.ANCHOR_DIR === undefined ? undefined : resolve(e.ANCHOR_DIR),
    masterKeyFile: e.MASTER_KEY_FILE ?? resolve(dataDir, 'master.key'),
    masterKeyMayBeMade: e.MASTER_KEY_FILE === undefined,
    logLevel: e.LOG_LEVEL,
    /** Where traces are exported to. Undefined: nothing is traced. */
    tracing:
      e.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || e.OTEL_SDK_DISABLED === 'true'
        ? undefined
        : { endpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT, protocol: e.OTEL_EXPORTER_OTLP_PROTOCOL },
    /** Whether the public API serves its reference and its error pages. */
    docs: e.DOCS === 'on',
    /** Concurrent clients of the public API. Undefined: as many as the process has descriptors for. */
    maxConnections: e.MAX_CONNECTIONS,
    /** How long the public API goes on taking connections after a signal to end. */
    stopDelayMs: e.STOP_DELAY_S * 1000,
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
    reconcile: {
      samplePercent: e.RECONCILE_SAMPLE_PERCENT,
      paceSeconds: e.RECONCILE_PACE_S,
      roundSeconds: e.RECONCILE_ROUND_S,
      settledSeconds: e.RECONCILE_SETTLED_S,
      reachSeconds: e.RECONCILE_REACH_S,
    },
    /** Of the ADN; an address is undefined for a mode whose address is derived from the authorizer's. */
    distribution: {
      live: e.DISTRIBUTION_LIVE_URL,
      test: e.DISTRIBUTION_TEST_URL,
      everySeconds: e.DISTRIBUTION_EVERY_S,
      paceSeconds: e.DISTRIBUTION_PACE_S,
    },
    simulator: {
      host: e.SIMULATOR_HOST,
      port: e.SIMULATOR_PORT,
      controlPort: e.SIMULATOR_CONTROL_PORT,
      clientAuthorities,
      /** Certificates are requested by renegotiation (docs/national-system.md#renegotiation). */
      renegotiate: e.SIMULATOR_RENEGOTIATE === '1',
      /** Only the spellings that every version of the authorizer takes (docs/simulator.md#start-it). */
      strict: e.SIMULATOR_STRICT === '1',
      /** Modes whose configured authorizer is a simulator too: their documents say SIMULADO. */
      elsewhere: e.SIMULATED_MODES,
    },
  };
};
