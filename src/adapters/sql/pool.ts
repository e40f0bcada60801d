import pg from 'pg';

export type PoolOptions = {
  connectionString: string;
  /** Connections at most. */
  max: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server gives up a statement after this; default 30 s. */
  statementTimeoutMs?: number;
  /** The server gives up waiting for a lock after this; default 10 s. */
  lockTimeoutMs?: number;
  /** Waiting for a connection, new or free, ends after this; default 5 s. */
  connectTimeoutMs?: number;
  /** This side gives up a silent server after this and drops the connection; default never. */
  answerTimeoutMs?: number;
  /** False: a commit does not wait for the disk; only for rows that may be lost. Default true. */
  synchronousCommit?: boolean;
  /** Told of connections lost while idle; the pool replaces them by itself. */
  onIdleError?: (error: Error) => void;
};

/** A pool that a lost server cannot bring the process down with. Connects when first used. */
export const openPool = (options: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    lock_timeout: options.lockTimeoutMs ?? 10_000,
    ...(options.answerTimeoutMs === undefined ? {} : { query_timeout: options.answerTimeoutMs }),
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    ...(options.synchronousCommit === false ? { options: '-c synchronous_commit=off' } : {}),
  });
  // An 'error' event without a listener ends the process.
  pool.on('error', (error) => options.onIdleError?.(error));
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
};

/** A checked-out client reports its loss through the query in hand. */
const ignore = (): void => {};
