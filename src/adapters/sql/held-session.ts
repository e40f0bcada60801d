import type pg from 'pg';

/** A connection that is kept for what its session holds, such as locks. Any error ends it. */
export type HeldSession = {
  run<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  /** Aborts when the session is over. */
  lost: AbortSignal;
  /** Ends the session by closing the connection, which frees its locks. */
  lose(): void;
};

export const holdSession = async (pool: pg.Pool): Promise<HeldSession> => {
  const client = await pool.connect();
  const over = new AbortController();
  const lose = (): void => {
    if (over.signal.aborted) return;
    client.off('error', lose);
    client.off('end', lose);
    over.abort();
    client.release(true);
  };
  client.on('error', lose);
  client.once('end', lose);
  return {
    run: async (work) => {
      try {
        return await work(client);
      } catch (error) {
        lose();
        throw error;
      }
    },
    lost: over.signal,
    lose,
  };
};
