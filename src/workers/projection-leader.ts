import type pg from 'pg';

/**
 * Leadership by session locks with a lease: it saves work, while the compare-and-set of the checkpoint is what makes
 * writing correct.
 */
export type LeaderSession = {
  /** A signal that aborts when the leadership is lost; undefined while another process leads. Throws when R is away. */
  tryLead(name: string, stopping?: AbortSignal): Promise<AbortSignal | undefined>;
  resign(name: string): Promise<void>;
  close(): Promise<void>;
};

type Session = { client: pg.PoolClient; lost: AbortController };

/**
 * The server ends a leader's session that was silent for so long. A process that is frozen or cut off keeps its
 * connection, hence its locks, until TCP gives up, which may be hours: its kernel goes on answering for it.
 */
const LEASE_MS = 15_000;
/** An answer that takes longer than the time between two of them is none: whoever cannot renew steps down first. */
const RENEWALS_PER_LEASE = 3;

/**
 * One dedicated connection for all locks of this process, opened when first needed and again after a loss. `for ever`:
 * for a lock that must outlast a pause of its holder, whatever that blocks.
 */
export const leaderSession = (db: pg.Pool, leaseMs: number | 'for ever' = LEASE_MS): LeaderSession => {
  let session: Promise<Session> | undefined;

  const open = async (): Promise<Session> => {
    const client = await db.connect();
    const lost = new AbortController();
    const lose = (): void => {
      if (lost.signal.aborted) return;
      lost.abort();
      session = undefined;
      client.release(true);
    };
    client.on('error', lose);
    client.once('end', lose);
    lost.signal.addEventListener('abort', () => client.off('end', lose), { once: true });
    if (leaseMs !== 'for ever') await keepLease(client, leaseMs, lost.signal, lose);
    return { client, lost };
  };

  const current = (): Promise<Session> => {
    if (session === undefined) {
      const opening = open();
      session = opening;
      opening.catch(() => {
        if (session === opening) session = undefined;
      });
    }
    return session;
  };

  let turn: Promise<unknown> = Promise.resolve();
  /** One statement at a time: the loops of all projections share the connection. */
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
    const asked = turn.then(ask);
    turn = asked.catch(() => undefined);
    return asked;
  };

  return {
    tryLead: (name, stopping) =>
      inTurn(async () => {
        // Those who waited their turn at a server that is away would each wait for it anew.
        if (stopping?.aborted) return undefined;
        const { client, lost } = await current();
        const { rows } = await client.query<{ leads: boolean }>(
          'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
          [name],
        );
        return rows[0]?.leads === true ? lost.signal : undefined;
      }),
    resign: (name) =>
      inTurn(async () => {
        const { client } = await current();
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
      }),
    close: async () => {
      const open = await session?.catch(() => undefined);
      session = undefined;
      if (open === undefined || open.lost.signal.aborted) return;
      open.lost.abort();
      // The session's locks go with its connection.
      open.client.release(true);
    },
  };
};

/** The lease is the server's own time of silence, so no clock of two machines is ever compared. */
const keepLease = async (
  client: pg.PoolClient,
  leaseMs: number,
  lost: AbortSignal,
  lose: () => void,
): Promise<void> => {
  const everyMs = Math.floor(leaseMs / RENEWALS_PER_LEASE);
  // The client's types do not know `query_timeout` of a single query.
  const renew = (statement: string): Promise<pg.QueryResult<{ transaction_read_only?: string }>> =>
    client.query({ text: statement, query_timeout: everyMs } as pg.QueryConfig).catch((error: unknown) => {
      lose();
      throw error;
    });
  /** A server that takes no writes any more has been replaced: its locks say nothing about who leads on the new one. */
  const stay = async (): Promise<void> => {
    const { rows } = await renew('show transaction_read_only');
    if (rows[0]?.transaction_read_only === 'on') lose();
  };
  await renew(`set idle_session_timeout = ${leaseMs}`);
  const renewals = setInterval(() => void stay().catch(() => undefined), everyMs);
  renewals.unref();
  lost.addEventListener('abort', () => clearInterval(renewals), { once: true });
};
