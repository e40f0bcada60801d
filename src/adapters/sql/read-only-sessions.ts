import type pg from 'pg';

type Reported = { parameterName: string; parameterValue: string };

/** The server reports it to open sessions too, from PostgreSQL 14 on. */
const REPORTED_SIGN = 'default_transaction_read_only';

export type ReadOnlySessions = {
  /** Asks a new session whether its server takes writes; for the pool's `onConnect`. */
  ask(client: pg.ClientBase): Promise<void>;
  /** Closes such sessions when they are given back. */
  watch(pool: pg.Pool): void;
};

/**
 * A session of a server that takes no writes is used once. Such a server has been replaced, or is about to be: whoever
 * comes next connects anew, by the name or proxy that knows the new primary, and does not go on reading an old one. The
 * driver has no `target_session_attrs`. While nobody takes writes reading goes on, at the price of a connection each.
 */
export const readOnlySessions = (): ReadOnlySessions => {
  const readOnly = new WeakSet<pg.ClientBase>();
  return {
    ask: async (client) => {
      const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
      if (rows[0]?.transaction_read_only === 'on') readOnly.add(client);
    },
    watch: (pool) => {
      pool.on('connect', (client) =>
        client.connection.on('parameterStatus', ({ parameterName, parameterValue }: Reported) => {
          if (parameterName === REPORTED_SIGN && parameterValue === 'on') readOnly.add(client);
        }),
      );
      pool.on('release', (_error, client) => {
        // The pool drops what has begun to end.
        if (readOnly.has(client)) void client.end();
      });
    },
  };
};
