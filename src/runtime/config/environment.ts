import { isIPv6 } from 'node:net';
import * as v from 'valibot';
import { LONGEST_DUPLICATE_WINDOW_SECONDS } from '../../adapters/guards-postgres/guards.js';
import { modes } from '../../domain/common/ids.js';
import { DAY_SECONDS } from '../../domain/common/time.js';

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
const seconds = (fallback: number, most = 31_536_000) => v.optional(whole(1, most), String(fallback));
const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

/** As the parser of URLs reads it: that parser ignores white space around an address and takes backslashes, and paths are appended to the text. */
const address = (...protocols: string[]) =>
  v.pipe(
    text,
    v.check(
      (url) => URL.canParse(url) && protocols.includes(new URL(url).protocol),
      `must be a ${protocols.join(' or ')} address`,
    ),
    v.transform((url) => new URL(url).href.replace(/\/+$/, '')),
  );

const flag = v.optional(v.picklist(['0', '1'], 'must be 0 or 1'), '0');

const httpAddress = address('http:', 'https:');

/** The paths of calls are appended to it, so nothing may follow its own path. */
const httpsAddress = v.pipe(
  address('https:'),
  v.check((url) => !/[?#]/.test(url), 'must be a https: address without query and fragment'),
);

/** The same of the paths of links. */
const publicAddress = v.pipe(
  httpAddress,
  v.check((url) => !/[?#@]/.test(url), 'must be a http: or https: address without user, query and fragment'),
);

const modeList = v.pipe(
  v.string(),
  v.regex(/^(?:test|live|test,live|live,test)?$/, 'must be test, live or test,live'),
  v.transform((list) => modes.filter((mode) => list.includes(mode))),
);

const hostList = v.pipe(
  v.string(),
  v.regex(/^(?:[A-Za-z0-9.:[\]-]+(?:,[A-Za-z0-9.:[\]-]+)*)?$/, 'must be host names separated by commas'),
  v.transform((list) => list.split(',').flatMap((name) => (name === '' ? [] : [name.toLowerCase()]))),
);

/** Whether the name is one of this machine shows when it listens (`own-address.ts`); what is no name at all is refused before anything starts. */
const ownHost = v.pipe(
  text,
  v.check(
    (host) => isIPv6(host) || !/[\s/:?#@[\]]/.test(host),
    'must be a host name or address, without http:// and without the port',
  ),
);

/** Seconds. The limits of the contract; shorter ones need ALLOW_SHORT_WINDOWS, so that they are never set by accident. */
export const SPEC_WINDOWS = {
  QUEUED_TIMEOUT_S: 900,
  PROCESSING_TIMEOUT_S: 3600,
  CANCELLATION_TIMEOUT_S: 3600,
  IDEMPOTENCY_TTL_S: DAY_SECONDS,
  DUPLICATE_WINDOW_S: 60,
  TEST_RETENTION_S: 7 * DAY_SECONDS,
  DOWNLOAD_TOKEN_TTL_S: 900,
} as const;

/** Seconds. Windows that something else ends: a longer one would be taken and not kept. */
const MOST = {
  /** The repetition of a request must find its test invoice, and the day key that its body was hashed with. */
  IDEMPOTENCY_TTL_S: 6 * DAY_SECONDS,
  DUPLICATE_WINDOW_S: LONGEST_DUPLICATE_WINDOW_SECONDS,
  /** The day key of a test invoice is destroyed soon after (docs/contract.md LIMIT-15). */
  TEST_RETENTION_S: 7 * DAY_SECONDS,
} as const;

/** Values of variables that are not set, which `combinationProblems` counts on too. */
export const DEFAULTS = { OPS_HOST: '127.0.0.1', DATABASE_STATEMENT_TIMEOUT_S: '15' } as const;

/** The check of each variable alone; `combinationProblems` checks them together. */
export const environment = v.object({
  HOST: v.optional(ownHost, '127.0.0.1'),
  PORT: port('3000'),
  OPS_HOST: v.optional(ownHost, DEFAULTS.OPS_HOST),
  OPS_PORT: port('3001'),
  CONSOLE_HOSTS: v.optional(hostList, ''),
  BASE_URL: v.optional(publicAddress),
  DATA_DIR: v.optional(text, '.data'),
  DATABASE_URL: v.optional(text),
  DATABASE_OWNER_URL: v.optional(text),
  ALLOW_PLAINTEXT_ENGINES: flag,
  DATABASE_POOL_SIZE: v.optional(whole(10, 500), '20'),
  DATABASE_STATEMENT_TIMEOUT_S: v.optional(whole(2, 600), DEFAULTS.DATABASE_STATEMENT_TIMEOUT_S),
  DATABASE_LOCK_TIMEOUT_S: v.optional(whole(1, 600), '10'),
  DATABASE_CONNECT_TIMEOUT_S: v.optional(whole(1, 60), '5'),
  EVENTSTORE_URL: v.optional(text),
  NATS_URL: v.optional(text),
  AUTHORIZER_TEST_URL: v.optional(httpsAddress),
  AUTHORIZER_LIVE_URL: v.optional(httpsAddress),
  PARAMETERS_TEST_URL: v.optional(httpsAddress),
  PARAMETERS_LIVE_URL: v.optional(httpsAddress),
  DISTRIBUTION_TEST_URL: v.optional(httpsAddress),
  DISTRIBUTION_LIVE_URL: v.optional(httpsAddress),
  ANCHOR_DIR: v.optional(text),
  AUTHORIZER_CA_FILE: v.optional(text),
  TAX_REGISTRY_URL: v.optional(httpAddress),
  MASTER_KEY_FILE: v.optional(text),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`), 'info'),
  DOCS: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  MAX_CONNECTIONS: v.optional(whole(16, 10_000)),
  STOP_DELAY_S: v.optional(whole(0, 15), '0'),
  RATE_WRITE_PER_MINUTE: v.optional(whole(60, 1_000_000), '60'),
  RATE_READ_PER_MINUTE: v.optional(whole(300, 1_000_000), '300'),
  QUEUED_TIMEOUT_S: seconds(SPEC_WINDOWS.QUEUED_TIMEOUT_S),
  PROCESSING_TIMEOUT_S: seconds(SPEC_WINDOWS.PROCESSING_TIMEOUT_S),
  CANCELLATION_TIMEOUT_S: seconds(SPEC_WINDOWS.CANCELLATION_TIMEOUT_S),
  IDEMPOTENCY_TTL_S: seconds(SPEC_WINDOWS.IDEMPOTENCY_TTL_S, MOST.IDEMPOTENCY_TTL_S),
  DUPLICATE_WINDOW_S: seconds(SPEC_WINDOWS.DUPLICATE_WINDOW_S, MOST.DUPLICATE_WINDOW_S),
  TEST_RETENTION_S: seconds(SPEC_WINDOWS.TEST_RETENTION_S, MOST.TEST_RETENTION_S),
  DOWNLOAD_TOKEN_TTL_S: seconds(SPEC_WINDOWS.DOWNLOAD_TOKEN_TTL_S),
  ALLOW_SHORT_WINDOWS: flag,
  AUTHORIZER_CONNECT_TIMEOUT_S: v.optional(whole(1, 600), '10'),
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
  RECONCILE_SAMPLE_PERCENT: v.optional(whole(0, 100), '10'),
  RECONCILE_PACE_S: v.optional(whole(1, 3600), '10'),
  RECONCILE_ROUND_S: seconds(DAY_SECONDS),
  RECONCILE_SETTLED_S: seconds(3600),
  RECONCILE_REACH_S: seconds(60 * DAY_SECONDS),
  DISTRIBUTION_EVERY_S: v.optional(whole(0, DAY_SECONDS), '3600'),
  DISTRIBUTION_PACE_S: v.optional(whole(1, 3600), '2'),
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(httpAddress),
  OTEL_EXPORTER_OTLP_PROTOCOL: v.optional(
    v.picklist(['http/protobuf', 'http/json'], 'must be http/protobuf or http/json'),
    'http/protobuf',
  ),
  OTEL_SDK_DISABLED: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
  SIMULATED_MODES: v.optional(modeList, ''),
  SIMULATOR_HOST: v.optional(ownHost, '127.0.0.1'),
  SIMULATOR_PORT: port('0'),
  SIMULATOR_CONTROL_PORT: port('0'),
  SIMULATOR_CA_FILE: v.optional(text),
  SIMULATOR_RENEGOTIATE: flag,
  SIMULATOR_STRICT: flag,
});

/** Variables whose value may come from a mounted file instead: `NAME_FILE`. */
export const FROM_FILE = ['DATABASE_URL', 'DATABASE_OWNER_URL', 'EVENTSTORE_URL', 'NATS_URL'] as const;
