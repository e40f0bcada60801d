import { environment, FROM_FILE } from '../../../src/runtime/config/environment.js';

type VariableName =
  | keyof typeof environment.entries
  | `${(typeof FROM_FILE)[number]}_FILE`
  | 'OPERATOR_TOKEN_FILE'
  | 'METRICS_TOKEN_FILE';

/** All variables that the program reads. */
export const variableNames: readonly string[] = [
  ...Object.keys(environment.entries),
  ...FROM_FILE.map((name) => `${name}_FILE`),
  'OPERATOR_TOKEN_FILE',
  'METRICS_TOKEN_FILE',
];

/** Variables that the SDK of OpenTelemetry reads by itself, as docs/operations/monitoring.md#traces names them. */
export const sdkVariables: readonly string[] = [
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
];

/** `meaning` and `unset` are Markdown of docs/operations/configuration.md; `unset` says what happens without a fixed default. */
export type VariableReference = { group: VariableGroup; meaning: string; unset?: string };

/** In the order in which the page shows them. */
export const VARIABLE_GROUPS = [
  'Public API',
  'Operations port',
  'Data and database',
  'Log and queue',
  'Keys',
  'Authorizer',
  'Registers',
  'Time windows',
  'Reconciliation',
  'Simulator',
  'Logging',
  'Tracing',
] as const;
type VariableGroup = (typeof VARIABLE_GROUPS)[number];

const inFile = (name: string, group: VariableGroup): VariableReference => ({
  group,
  meaning: `a file that holds the value of \`${name}\`; white space around the value is ignored. Set one of the two`,
});

const window = (meaning: string, reasonOfMost?: string): VariableReference => ({
  group: 'Time windows',
  meaning: `${meaning}, in seconds${reasonOfMost === undefined ? '' : `. ${reasonOfMost}`}`,
});

/** What each variable means to an operator. The compiler refuses a variable of the configuration without an entry. */
export const environmentReference: Readonly<Record<VariableName, VariableReference>> = {
  HOST: { group: 'Public API', meaning: 'address on which the public API listens' },
  PORT: {
    group: 'Public API',
    meaning:
      'port of the public API; 0 takes a free one. Commands and the console do not know that port, so the links they show need `BASE_URL` then',
  },
  BASE_URL: {
    group: 'Public API',
    meaning:
      'origin of download links, as clients reach it. A path in it goes into these links only, so give the service a host name without one',
    unset: 'the address on which the API listens',
  },
  RATE_WRITE_PER_MINUTE: {
    group: 'Public API',
    meaning: 'writing requests of one API key in a minute; may only be raised',
  },
  RATE_READ_PER_MINUTE: {
    group: 'Public API',
    meaning:
      'reading requests of one API key in a minute; may only be raised. A fifth of them, at least 60, is how often the links of one invoice open in a minute',
  },
  MAX_CONNECTIONS: {
    group: 'Public API',
    meaning:
      'connections to the public API at once; may only lower what the process has descriptors for. A connection beyond the limit takes the place of the one that has been without a request longest. Where none has been so for 5 s, it takes the place of the one that has waited longest for its client (a request, the rest of a body, an answer that is not taken), or is closed where the service works on a request of every other; a warning in the log says so',
    unset: 'what the process has descriptors for, at most 10,000',
  },
  STOP_DELAY_S: {
    group: 'Public API',
    meaning:
      'seconds that the public API goes on taking connections after a signal to end, while `/health/serving` says 503 and each answer ends its connection. A balancer that asks that path notices before the port closes: [proxies](proxy.md#restart-without-a-failed-request)',
  },
  DOCS: { group: 'Public API', meaning: '`off`: the public API serves neither `/docs` nor `/openapi.json`' },
  OPS_HOST: {
    group: 'Operations port',
    meaning: 'address of health, metrics and the [support console](../console/README.md)',
  },
  OPS_PORT: {
    group: 'Operations port',
    meaning: 'port of health, metrics and console; each process on a machine needs its own port',
  },
  OPERATOR_TOKEN_FILE: {
    group: 'Operations port',
    meaning:
      'a file with the token that the console demands: at least 16 characters, 8 of them different, no repetition and no row such as `abcdef`. Required when `OPS_HOST` is not a loopback address',
    unset: 'the console asks for no token',
  },
  METRICS_TOKEN_FILE: {
    group: 'Operations port',
    meaning: 'a file with a token of the same strength, which `/metrics` then demands as `Authorization: Bearer TOKEN`',
    unset: '`/metrics` asks for no token',
  },
  CONSOLE_HOSTS: {
    group: 'Operations port',
    meaning:
      'names, separated by commas, under which browsers reach the console and Prometheus reaches `/metrics`, besides `localhost`, `127.0.0.1` and `OPS_HOST`',
    unset: 'no other names',
  },
  DATA_DIR: {
    group: 'Data and database',
    meaning: 'folder of the embedded database, of generated keys and of the simulator; one process per folder',
  },
  DATABASE_URL: {
    group: 'Data and database',
    meaning:
      'address of a PostgreSQL server of your own, 15 to 18: [what it needs](postgresql.md). Its user needs [few rights](postgresql.md#roles)',
    unset: 'the embedded PostgreSQL in `DATA_DIR`',
  },
  DATABASE_URL_FILE: inFile('DATABASE_URL', 'Data and database'),
  DATABASE_OWNER_URL: {
    group: 'Data and database',
    meaning:
      'address of the same database as the role that owns the tables, for `nfse setup database`. A `serve` that has it makes the schema’s steps at its start',
    unset: 'the user of `DATABASE_URL` makes the tables',
  },
  DATABASE_OWNER_URL_FILE: inFile('DATABASE_OWNER_URL', 'Data and database'),
  DATABASE_POOL_SIZE: {
    group: 'Data and database',
    meaning:
      'connections of one process, besides [13 or 18 that are fixed](scale.md#connections-to-postgresql); at most 30 with the embedded database',
  },
  DATABASE_STATEMENT_TIMEOUT_S: {
    group: 'Data and database',
    meaning: 'seconds after which the server ends a statement; the service gives up 2 s later',
  },
  DATABASE_LOCK_TIMEOUT_S: {
    group: 'Data and database',
    meaning: 'seconds that a statement waits for a lock; not above `DATABASE_STATEMENT_TIMEOUT_S`',
  },
  DATABASE_CONNECT_TIMEOUT_S: { group: 'Data and database', meaning: 'seconds for a new connection' },
  EVENTSTORE_URL: {
    group: 'Log and queue',
    meaning: 'address of EventStoreDB 23.10 or later, which then holds the event log: [below](#eventstoredb)',
    unset: 'the log is a table in PostgreSQL',
  },
  EVENTSTORE_URL_FILE: inFile('EVENTSTORE_URL', 'Log and queue'),
  NATS_URL: {
    group: 'Log and queue',
    meaning: 'address of NATS JetStream 2.9 or newer, the queue between processes: [below](#nats)',
    unset: 'the queue is inside the process',
  },
  NATS_URL_FILE: inFile('NATS_URL', 'Log and queue'),
  ALLOW_PLAINTEXT_ENGINES: {
    group: 'Log and queue',
    meaning:
      '1: PostgreSQL, EventStoreDB and NATS may be reached without TLS beyond this machine, for example over a network of their own ([TLS](postgresql.md#tls))',
  },
  MASTER_KEY_FILE: {
    group: 'Keys',
    meaning:
      '32 bytes in base64, mode 0600, [one line per generation](keys.md#the-master-key). Required with `DATABASE_URL`',
    unset: '`DATA_DIR/master.key`, made at the first start',
  },
  ANCHOR_DIR: {
    group: 'Keys',
    meaning:
      'folder to which the log’s [daily anchors](audit.md#anchors) are written for you to publish; a process with the role `sweeper` must be able to write there',
    unset: 'anchors are in the log only',
  },
  AUTHORIZER_TEST_URL: {
    group: 'Authorizer',
    meaning: 'base address of Sefin Nacional for test mode, `https://host/SefinNacional`',
    unset: 'the simulator',
  },
  AUTHORIZER_LIVE_URL: {
    group: 'Authorizer',
    meaning: 'base address of Sefin Nacional for live mode, `https://host/SefinNacional`',
    unset: 'the simulator',
  },
  SIMULATED_MODES: {
    group: 'Authorizer',
    meaning: 'modes whose authorizer address is a simulator’s; their documents say SIMULADO',
    unset: 'no mode',
  },
  AUTHORIZER_CA_FILE: {
    group: 'Authorizer',
    meaning:
      'PEM file with extra trust roots. A simulator’s authority in it is believed for simulated modes and for addresses of this machine alone',
  },
  AUTHORIZER_CONNECT_TIMEOUT_S: {
    group: 'Authorizer',
    meaning:
      'seconds for a new connection: name service, TCP, first TLS handshake. When this time is up, nothing was sent',
  },
  AUTHORIZER_TIMEOUT_S: {
    group: 'Authorizer',
    meaning:
      'seconds for one call, the connection included. Above 45, a stop may cut a send, which the next process looks up',
  },
  LOOKUP_INTERVALS_S: {
    group: 'Authorizer',
    meaning:
      'pauses before look-ups, in seconds, separated by commas; the last one repeats. After an answer that the DPS exists (E0014) there is a look-up before the first pause too. Two absences prove that there is no note only when they are as far apart as the second pause ([architecture](../architecture.md#never-twice)); after a refusal with an unknown code as the fourth, if that is longer. It holds in live mode too, and no `ALLOW_SHORT_WINDOWS` guards it: with a second pause below 60 a note that comes late may be missed, so shorten it only before a simulator',
  },
  SWEEP_INTERVAL_S: { group: 'Authorizer', meaning: 'seconds between two sweeps' },
  PARAMETERS_TEST_URL: {
    group: 'Registers',
    meaning:
      'base address of the municipal parameters API for test mode; for a mode in `SIMULATED_MODES` the path is `parametrizacao` in place of `SefinNacional` ([ADR 18](../adr/0018-municipal-parameters-inform-and-rarely-decide.md))',
    unset:
      '`https://adn.<rest>/parametrizacao` where the authorizer’s host is `sefin.<rest>`, else `/parametrizacao` on the authorizer’s host',
  },
  PARAMETERS_LIVE_URL: {
    group: 'Registers',
    meaning: 'the same for live mode',
    unset: 'as for test mode',
  },
  TAX_REGISTRY_URL: {
    group: 'Registers',
    meaning:
      'source of customer names and addresses: `GET {url}/{cnpj}` answers [this JSON](#tax-registry). `https`, or an address of this machine; plain bytes, at most 64 kB, within 500 ms, no redirect',
    unset: 'what `nfse registry put FILE.json` recorded',
  },
  QUEUED_TIMEOUT_S: window('how long an invoice may wait for its first attempt'),
  PROCESSING_TIMEOUT_S: window('how long the outcome of a send may stay unknown'),
  CANCELLATION_TIMEOUT_S: window(
    'how long a cancellation may stay pending after its request, its last attempt or the first answer to it',
  ),
  IDEMPOTENCY_TTL_S: window(
    'how long an Idempotency-Key protects its request',
    'At most six days, because a repetition must find its test invoice, which lives seven',
  ),
  DUPLICATE_WINDOW_S: window(
    'how long an equal request without a key is refused',
    'At most a day, because marks of equal requests are deleted then',
  ),
  TEST_RETENTION_S: window(
    'how long a test invoice lives',
    'Never longer, because the key of its day is destroyed soon after',
  ),
  DOWNLOAD_TOKEN_TTL_S: window('how long a download link opens'),
  ALLOW_SHORT_WINDOWS: {
    group: 'Time windows',
    meaning: '1: the seven windows above may be shorter than their defaults, for rehearsals',
  },
  RECONCILE_SAMPLE_PERCENT: {
    group: 'Reconciliation',
    meaning:
      'how many of a hundred issued invoices a round of the [reconciliation](monitoring.md#reconciliation) compares with the authorizer; all failed and indeterminate ones are compared. 0: no rounds; an invoice of which a queue of the ADN tells is compared all the same',
  },
  RECONCILE_PACE_S: { group: 'Reconciliation', meaning: 'seconds between two invoices, for each mode' },
  RECONCILE_ROUND_S: {
    group: 'Reconciliation',
    meaning: 'seconds from the beginning of a round to the beginning of the next',
  },
  RECONCILE_SETTLED_S: {
    group: 'Reconciliation',
    meaning: 'an invoice is not compared until so many seconds after its acceptance and after its last event',
  },
  RECONCILE_REACH_S: { group: 'Reconciliation', meaning: 'older invoices (in seconds) are not compared' },
  DISTRIBUTION_EVERY_S: {
    group: 'Reconciliation',
    meaning:
      'seconds between two readings of the queue that the ADN keeps for each company, which tells of notes canceled elsewhere ([ADR 50](../adr/0050-the-queue-of-the-adn-tells-of-cancellations-elsewhere.md)). At least `DISTRIBUTION_PACE_S` times the number of enabled companies pass: with 2 s from 1,800 companies on that is longer than an hour. After the number is lowered, a queue whose next time is stored is read at this time once, or at once where it is further away than both the new number and `RECONCILE_SETTLED_S`. 0: no queue is read',
  },
  DISTRIBUTION_PACE_S: { group: 'Reconciliation', meaning: 'seconds between two calls to these queues, for each mode' },
  DISTRIBUTION_TEST_URL: {
    group: 'Reconciliation',
    meaning: 'base address of the distribution of the ADN for test mode; derived as `PARAMETERS_TEST_URL` is',
    unset:
      '`https://adn.<rest>/contribuintes` where the authorizer’s host is `sefin.<rest>`, else `/contribuintes` on the authorizer’s host',
  },
  DISTRIBUTION_LIVE_URL: {
    group: 'Reconciliation',
    meaning: 'the same for live mode',
    unset: 'as for test mode',
  },
  SIMULATOR_HOST: {
    group: 'Simulator',
    meaning:
      'address on which the [simulator](../simulator.md)’s mutual TLS port listens; beyond loopback its certificate names the machine too',
  },
  SIMULATOR_PORT: { group: 'Simulator', meaning: 'mutual TLS port; 0 takes a free one' },
  SIMULATOR_CONTROL_PORT: { group: 'Simulator', meaning: 'control port, on loopback only; 0 takes a free one' },
  SIMULATOR_CA_FILE: {
    group: 'Simulator',
    meaning: 'PEM file of further authorities whose client certificates the simulator accepts',
  },
  SIMULATOR_RENEGOTIATE: {
    group: 'Simulator',
    meaning:
      '1: the simulator asks for the client’s certificate by TLS 1.2 renegotiation after the request, as Sefin does',
  },
  SIMULATOR_STRICT: {
    group: 'Simulator',
    meaning:
      '1: the simulator takes only the XML declaration and the path that every version of Sefin takes ([what it takes else](../simulator.md#what-it-answers))',
  },
  LOG_LEVEL: {
    group: 'Logging',
    meaning: 'least level of the JSON lines on stdout; on a terminal they are lines for a person',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'Tracing',
    meaning:
      'base address of a receiver of OTLP over HTTP, such as `http://collector:4318`, to which [traces](monitoring.md#traces) are exported',
    unset: 'nothing is traced, and nothing of OpenTelemetry is loaded',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: { group: 'Tracing', meaning: 'how the spans are written; gRPC is not offered' },
  OTEL_SDK_DISABLED: { group: 'Tracing', meaning: '`true`: nothing is traced, whatever the address says' },
};
