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

type Answer = { leads?: boolean; transaction_read_only?: string };

type Session = {
  /** The first row. Whatever fails ends the session. */
  query(text: string, values?: readonly string[]): Promise<Answer | undefined>;
  lost: AbortController;
  lose(): void;
};

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
  const answerMs = leaseMs === 'for ever' ? undefined : Math.floor(leaseMs / RENEWALS_PER_LEASE);

  let turn: Promise<unknown> = Promise.resolve();
  /** One statement at a time: renewals and the loops of all projections share the connection. */
  const inTurn = <T>(ask: () => Promise<T>): Promise<T> => {
    const asked = turn.then(ask);
    turn = asked.catch(() => undefined);
    return asked;
  };

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
    const query: Session['query'] = async (text, values = []) => {
      // The client's types do not know `query_timeout` of a single query.
      const statement = { text, values: [...values], query_timeout: answerMs } as pg.QueryConfig;
      try {
        return (await client.query<Answer>(answerMs === undefined ? { text, values: [...values] } : statement)).rows[0];
      } catch (error) {
        lose();
        throw error;
      }
    };
    const opened = { query, lost, lose };
    if (leaseMs !== 'for ever') await keepLease(opened, leaseMs, inTurn);
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
    tryLead: (name, stopping) =>
      inTurn(async () => {
        // Those who waited their turn at a server that is away would each wait for it anew.
        if (stopping?.aborted) return undefined;
        const { query, lost } = await current();
        const answer = await query('select pg_try_advisory_lock(hashtextextended($1, 0)) as leads', [name]);
        return answer?.leads === true ? lost.signal : undefined;
      }),
    resign: (name) =>
      inTurn(async () => {
        const { query } = await current();
        await query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
      }),
    close: async () => {
      const open = await session?.catch(() => undefined);
      session = undefined;
      if (open === undefined || open.lost.signal.aborted) return;
      // The session's locks go with its connection.
      open.lose();
    },
  };
};

/** The lease is the server's own time of silence, so no clock of two machines is ever compared. */
const keepLease = async (
  { query, lost, lose }: Session,
  leaseMs: number,
  inTurn: <T>(ask: () => Promise<T>) => Promise<T>,
): Promise<void> => {
  /** A server that takes no writes any more has been replaced: its locks say nothing about who leads on the new one. */
  const stay = async (): Promise<void> => {
    if (lost.signal.aborted) return;
    const answer = await query('show transaction_read_only');
    if (answer?.transaction_read_only === 'on') lose();
  };
  await query(`set idle_session_timeout = ${leaseMs}`);
  const renewals = setInterval(
    () => void inTurn(stay).catch(() => undefined),
    Math.floor(leaseMs / RENEWALS_PER_LEASE),
  );
  renewals.unref();
  lost.signal.addEventListener('abort', () => clearInterval(renewals), { once: true });
};
