import type pg from 'pg';

/** Leadership by session locks: it saves work, while the compare-and-set of the checkpoint is what makes writing correct. */
export type LeaderSession = {
  /** A signal that aborts when the leadership is lost; undefined while another process leads. Throws when R is away. */
  tryLead(name: string): Promise<AbortSignal | undefined>;
  resign(name: string): Promise<void>;
  close(): Promise<void>;
};

type Session = { client: pg.PoolClient; lost: AbortController };

/** One dedicated connection for all locks of this process, opened when first needed and again after a loss. */
export const leaderSession = (db: pg.Pool): LeaderSession => {
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
  const inTurn = <T>(ask: (open: Session) => Promise<T>): Promise<T> => {
    const asked = turn.then(async () => await ask(await current()));
    turn = asked.catch(() => undefined);
    return asked;
  };

  return {
    tryLead: (name) =>
      inTurn(async ({ client, lost }) => {
        const { rows } = await client.query<{ leads: boolean }>(
          'select pg_try_advisory_lock(hashtextextended($1, 0)) as leads',
          [name],
        );
        return rows[0]?.leads === true ? lost.signal : undefined;
      }),
    resign: (name) =>
      inTurn(async ({ client }) => {
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
