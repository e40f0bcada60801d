import { Socket } from 'node:net';
import pg from 'pg';
import { readOnlySessions } from './read-only-sessions.js';

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
  /** This side gives up a silent server after this and drops the connection; default 2 s after the server would have. */
  answerTimeoutMs?: number;
  /** False: a commit does not wait for the disk; only for rows that may be lost. Default true. */
  synchronousCommit?: boolean;
  /** Told of connections lost while idle; the pool replaces them by itself. */
  onIdleError?: (error: Error) => void;
};

const STATEMENT_MS = 15_000;
const LOCK_MS = 10_000;
const CONNECT_MS = 5_000;
/** The server's own refusal is certain and ours is not, so it goes first. */
const ANSWER_MARGIN_MS = 2_000;
const GOODBYE_MS = 2_000;

/** A pool that a lost, silent or replaced server cannot bring the process down with. Connects when first used. */
export const openPool = (options: PoolOptions): pg.Pool => {
  const { statementTimeoutMs = STATEMENT_MS, connectTimeoutMs = CONNECT_MS } = options;
  const patience = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + ANSWER_MARGIN_MS;
  const sessions = readOnlySessions();
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    statement_timeout: statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs ?? LOCK_MS,
    query_timeout: options.answerTimeoutMs ?? patience,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: sessions.ask,
    ...(options.synchronousCommit === false ? { options: '-c synchronous_commit=off' } : {}),
  });
  // An 'error' event without a listener ends the process.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', ignore));
  pool.on('release', (_error, client) => letExit(client));
  sessions.watch(pool);
  return endingAwake(pool);
};

/**
 * The driver waits for the goodbye of a session that was busy when the end began. Its socket does not keep the process alive any
 * more, which would then end (exit 13) before a healthy server has answered.
 */
const endingAwake = (pool: pg.Pool): pg.Pool => {
  const end = pool.end.bind(pool) as () => Promise<void>;
  return Object.assign(pool, {
    end: async () => {
      const awake = setTimeout(() => undefined, GOODBYE_MS);
      await end().finally(() => clearTimeout(awake));
    },
  });
};

/** A silent server never answers a goodbye, which must not keep a process from ending; the pool takes it back with a client. */
const letExit = ({ connection }: pg.PoolClient): void => {
  if (connection.stream instanceof Socket) connection.stream.unref();
};

/** A checked-out client reports its loss through the query in hand. */
const ignore = (): void => {};
