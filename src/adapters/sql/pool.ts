import { Socket } from 'node:net';
import pg from 'pg';
import { StandbyRefused } from './errors.js';
import { clientClassFor } from './proven-client.js';

/** What an operator may set for all pools of a process (`DATABASE_…_TIMEOUT_S`); each has a default here. */
export type SessionLimits = {
  /** The server gives up a statement after this, 0: never; default 15 s. */
  statementTimeoutMs?: number;
  /** The server gives up waiting for a lock after this, 0: never; default 10 s. */
  lockTimeoutMs?: number;
  /** Waiting for a connection, new or free, ends after this; default 5 s. */
  connectTimeoutMs?: number;
};

export type PoolOptions = SessionLimits & {
  connectionString: string;
  /** Connections at most. */
  max: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The client gives up a silent server after this and drops the connection; default 2 s after the server would have. */
  answerTimeoutMs?: number;
  /** False: a commit does not wait for the disk; only for rows that may be lost. Default true, whatever the administrator has set. */
  synchronousCommit?: boolean;
  /** True: connecting to a standby fails with `StandbyRefused`. Default false. */
  refuseStandby?: boolean;
  /** Called for each connection that is lost while idle; the pool replaces it. */
  onIdleError?: ((error: Error) => void) | undefined;
};

const STATEMENT_MS = 15_000;
const LOCK_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** Of `connectTimeoutMs`. */
export const CONNECT_MS = 5_000;
/** The server gives up first, because its refusal is certain and a timeout of the client is not. */
const ANSWER_MARGIN_MS = 2_000;
const GOODBYE_MS = 2_000;

/** Opens a pool that survives a lost, silent or replaced server. Connects when first used. */
export const openPool = (options: PoolOptions): pg.Pool => {
  const { statementTimeoutMs = STATEMENT_MS, connectTimeoutMs = CONNECT_MS } = options;
  const serverTimeout = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + ANSWER_MARGIN_MS;
  const sessions = sessionsOf(options);
  // Limits as parameters of the connection are refused, or left out without a word, by poolers; `settingsOf` sets them.
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    Client: clientClassFor(options.connectionString),
    max: options.max,
    application_name: options.applicationName,
    query_timeout: options.answerTimeoutMs ?? serverTimeout,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: sessions.onConnect,
  });
  // An 'error' event without a listener ends the process.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', ignore));
  pool.on('release', (_error, client) => unrefSocket(client));
  sessions.attach(pool);
  return endKeepingProcessAlive(pool);
};

/** Does the work over one connection, which is ended afterwards. */
export const overPool = async <T>(
  options: Omit<PoolOptions, 'max'>,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> => {
  const pool = openPool({ ...options, max: 1 });
  return await work(pool).finally(() => pool.end());
};

/** For connections whose statements may take as long as they need. */
export const PATIENT = { statementTimeoutMs: 0, lockTimeoutMs: 0 } as const satisfies SessionLimits;

/**
 * `pool.end` waits for the goodbye of a session that was busy when the end began. Its socket no longer keeps the process alive, which would then
 * end (exit 13) before a healthy server has answered. A timer keeps the process alive for that time.
 */
const endKeepingProcessAlive = (pool: pg.Pool): pg.Pool => {
  const end = pool.end.bind(pool) as () => Promise<void>;
  return Object.assign(pool, {
    end: async () => {
      const awake = setTimeout(() => undefined, GOODBYE_MS);
      await end().finally(() => clearTimeout(awake));
    },
  });
};

/**
 * A silent server never answers a goodbye, so the socket of an idle client must not keep the process alive. The pool reverses this when it lends
 * the client.
 */
const unrefSocket = ({ connection }: pg.PoolClient): void => {
  if (connection.stream instanceof Socket) connection.stream.unref();
};

/** Without a listener an 'error' event ends the process. A client in use reports its loss through its query. */
const ignore = (): void => {};

type Reported = { parameterName: string; parameterValue: string };

/** From PostgreSQL 14 on the server reports changes of this setting to open sessions. */
const REPORTED_SIGN = 'default_transaction_read_only';

/** Several statements at once have a result each, which the types of the driver do not know. */
const resultsOf = <Row extends pg.QueryResultRow>(
  answer: pg.QueryResult<Row> | pg.QueryResult<Row>[],
): readonly pg.QueryResult<Row>[] => (Array.isArray(answer) ? answer : [answer]);

/** What a new session says of its server. */
const SERVER = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only`;

type ServerRow = { standby: boolean; read_only: string };

/**
 * Sets the limits of the session, 0 for none, and what the administrator of the server may have set otherwise: statements see what others have
 * committed. All of this goes with the first question, so that a connection takes no longer.
 */
const settingsOf = (options: PoolOptions): readonly string[] => [
  NO_TRANSACTION_LIMIT,
  'set idle_session_timeout = 0',
  `set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`,
  `set statement_timeout = ${options.statementTimeoutMs ?? STATEMENT_MS}`,
  `set lock_timeout = ${options.lockTimeoutMs ?? LOCK_MS}`,
  'set session characteristics as transaction isolation level read committed',
  // Less would round the numbers that the server computes.
  'set extra_float_digits = 1',
  options.synchronousCommit === false ? 'set synchronous_commit = off' : DURABLE,
];

/** PostgreSQL 15 and 16 do not have this setting, and name it null. It limits whole migrations and rebuilds, whose statements have their own limits. */
const NO_TRANSACTION_LIMIT = `select set_config('transaction_timeout', '0', false)
  where current_setting('transaction_timeout', true) is not null`;

/**
 * Acknowledged events must survive a crash of the server and a failover to a synchronous standby: `off` loses them in the one, `local` in the other.
 * Any other value is the administrator's choice. Setting that value again keeps it when the server reloads its configuration.
 */
const DURABLE = `select set_config('synchronous_commit',
    case when setting in ('off', 'local') then 'on' else setting end, false)
  from current_setting('synchronous_commit') setting`;

/**
 * A session of a server that takes no writes is used once. Such a server was replaced, or is about to be, and would serve old data. The next caller
 * connects again, by the name or proxy that knows the new primary; the driver has no `target_session_attrs`. While no server takes writes, reads
 * continue at the price of a connection each, but for a standby where the pool refuses that.
 */
const sessionsOf = (options: PoolOptions) => {
  const readOnly = new WeakSet<pg.ClientBase>();
  const begin = [...settingsOf(options), SERVER].join('; ');
  return {
    /** Prepares a new session and asks what its server is; for the pool's `onConnect`. */
    onConnect: async (client: pg.ClientBase): Promise<void> => {
      const last = resultsOf(await client.query<ServerRow>(begin)).at(-1)?.rows[0];
      if (last?.standby === true && options.refuseStandby === true) throw new StandbyRefused();
      if (last?.read_only === 'on') readOnly.add(client);
    },
    /** Closes sessions of a server that takes no writes when they are given back. */
    attach: (pool: pg.Pool): void => {
      pool.on('connect', (client) =>
        client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Reported) => {
          if (parameterName === REPORTED_SIGN && parameterValue === 'on') readOnly.add(client);
        }),
      );
      pool.on('release', (_error, client) => {
        // The pool drops a client that has begun to end.
        if (readOnly.has(client)) void client.end();
      });
    },
  };
};
