import type pg from 'pg';

/** A connection that is kept for what its session holds, such as locks. Any error ends it. */
type HeldSession = {
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

export type LeaderSession = ReturnType<typeof leaderSession>;

type Answer = { leads?: boolean; transaction_read_only?: string };

type Session = Pick<HeldSession, 'lost' | 'lose'> & {
  /** Returns the first row. */
  query(text: string, values?: readonly string[]): Promise<Answer | undefined>;
};

/**
 * The server ends a leader's session after this many milliseconds of silence. Without a lease, a frozen or disconnected process would keep its locks
 * until TCP gives up, which may take hours.
 */
const LEASE_MS = 15_000;
/**
 * A renewal that takes longer than the time between two renewals counts as failed: a holder that cannot renew gives up its lead before the lease
 * ends.
 */
const RENEWALS_PER_LEASE = 3;

/**
 * Leads by session locks with a lease. The lead only saves work; the compare-and-set of the checkpoint makes writing correct. One dedicated
 * connection serves all locks of this process. It is opened when first needed and again after a loss. `leaseMs` is in milliseconds; a lock that must
 * outlast a pause of its holder has no lease.
 */
export const leaderSession = (db: pg.Pool, leaseMs: number | 'none' = LEASE_MS) => {
  let session: Promise<Session> | undefined;
  const answerMs = leaseMs === 'none' ? undefined : Math.floor(leaseMs / RENEWALS_PER_LEASE);

  let turn: Promise<unknown> = Promise.resolve();
  /** One statement at a time: renewals and the loops of all projections share the connection. */
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
    const asked = turn.then(ask);
    turn = asked.catch(() => undefined);
    return asked;
  };

  const open = async (): Promise<Session> => {
    const { run, lost, lose } = await holdSession(db);
    lost.addEventListener('abort', () => {
      session = undefined;
    });
    const query: Session['query'] = async (text, values = []) => {
      // The client's types lack `query_timeout` of a single query; without it the pool's limit holds.
      const statement = { text, values: [...values], query_timeout: answerMs } as pg.QueryConfig;
      return (await run((client) => client.query<Answer>(statement))).rows[0];
    };
    const opened = { query, lost, lose };
    if (leaseMs !== 'none') await keepLease(opened, leaseMs, inTurn);
    return opened;
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

  return {
    /** Returns a signal that aborts when the lead is lost; undefined while another process leads. Throws when the database is unreachable. */
    tryLead: (name: string, stopping?: AbortSignal): Promise<AbortSignal | undefined> =>
      inTurn(async () => {
        // Callers that queued while the server was unreachable would each wait for it again.
        if (stopping?.aborted) return undefined;
        const { query, lost } = await current();
        const answer = await query('select pg_try_advisory_lock(hashtextextended($1, 0)) as leads', [name]);
        return answer?.leads === true ? lost : undefined;
      }),
    resign: (name: string): Promise<void> =>
      inTurn(async () => {
        const open = await session?.catch(() => undefined);
        // A lost session holds no lock.
        if (open === undefined || open.lost.aborted) return;
        await open.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
      }),
    close: async (): Promise<void> => {
      const open = await session?.catch(() => undefined);
      session = undefined;
      open?.lose();
    },
  };
};

/**
 * Runs `work` once as the leader, then resigns. The signal of the work aborts when the lead is lost or `stopping` aborts. Undefined while another
 * process leads; throws as the work does, or when the database is unreachable.
 */
export const asLeader = async <T>(
  session: LeaderSession,
  name: string,
  work: (leading: AbortSignal) => Promise<T>,
  stopping?: AbortSignal,
): Promise<T | undefined> => {
  const lost = await session.tryLead(name, stopping);
  if (lost === undefined) return undefined;
  try {
    return await work(stopping === undefined ? lost : AbortSignal.any([stopping, lost]));
  } finally {
    // Closing alone frees the lock only a moment later, and another try in between would find it held. A process that stops does not wait for this.
    if (!lost.aborted && stopping?.aborted !== true) await session.resign(name).catch(() => undefined);
  }
};

/** A lead that is kept until it is resigned or its session is lost. */
type LastingLead = {
  /** Undefined while another process leads. */
  take(): Promise<AbortSignal | undefined>;
  /** Lets another process lead. Nothing happens without the lead. */
  resign(): Promise<void>;
};

/** The lead of this name. `take` and `resign` are called one after the other, because a lock that is taken twice has to be freed twice. */
export const lastingLead = (session: LeaderSession, name: string, signal: AbortSignal): LastingLead => {
  let leading: AbortSignal | undefined;
  return {
    take: async () => {
      if (leading === undefined || leading.aborted) leading = await session.tryLead(name, signal);
      return leading;
    },
    resign: async () => {
      if (leading === undefined) return;
      await session.resign(name);
      leading = undefined;
    },
  };
};

/** The server measures the silence itself, so clocks of two machines are never compared. */
const keepLease = async (
  { query, lost, lose }: Session,
  leaseMs: number,
  inTurn: <T>(ask: () => Promise<T>) => Promise<T>,
): Promise<void> => {
  /** A server that has become read-only was replaced: its locks do not tell who leads on the new primary. */
  const stay = async (): Promise<void> => {
    if (lost.aborted) return;
    const answer = await query('show transaction_read_only');
    if (answer?.transaction_read_only === 'on') lose();
  };
  await query(`set idle_session_timeout = ${leaseMs}`);
  const renewals = setInterval(
    () => void inTurn(stay).catch(() => undefined),
    Math.floor(leaseMs / RENEWALS_PER_LEASE),
  );
  renewals.unref();
  lost.addEventListener('abort', () => clearInterval(renewals), { once: true });
};
