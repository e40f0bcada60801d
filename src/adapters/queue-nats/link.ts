import { Events, type NatsConnection } from 'nats';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { createBackoff } from '../../waiting/backoff.js';
import { pause, settlesWithin } from '../../waiting/pause.js';
import { type ConnectingOptions, connectOnce, prepareFirst, RETRY_MS, type Session, sessionOn } from './connecting.js';
import { faultCode, unavailable } from './faults.js';
import type { Notify } from './notices.js';

export type QueueStatus = { ok: true } | { ok: false; reason: string };

export type Link = {
  /** Throws `WorkQueueUnavailable` at once when there is none. */
  session(): Session;
  /** The session that is, or comes; undefined when the signal aborts first. */
  next(signal: AbortSignal): Promise<Session | undefined>;
  /** Checks streams and consumers again; several callers share one check. Throws what it fails with. */
  repair(session: Session): Promise<void>;
  status(): QueueStatus;
  close(): Promise<void>;
};

/** Streams and consumers are prepared at each connection, and every `checkMs`. */
export type LinkOptions = ConnectingOptions & { checkMs: number; notify: Notify };

const DRAIN_MS = 2_000;

/** Connects once, within a bound, then keeps a session for ever: it reconnects, and replaces a client that gave up. */
export const openLink = async (options: LinkOptions): Promise<Link> => {
  const { answerMs, notify, prepare } = options;
  const closing = new AbortController();
  const arrivals = new Set<() => void>();
  let session: Session | undefined;
  let repairing: Promise<void> | undefined;
  let trouble = 'not connected';

  const arrive = (arrived: Session): void => {
    session = arrived;
    notify({ kind: 'connected' });
    for (const wake of arrivals) wake();
  };

  /** Until streams and consumers are right, the connection is of no use to anybody. */
  const prepareUntilLost = async (nc: NatsConnection, lost: AbortSignal): Promise<void> => {
    const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
    while (!lost.aborted) {
      try {
        const prepared = await sessionOn(nc, lost, answerMs);
        await prepare(prepared.manager);
        if (!lost.aborted) arrive(prepared);
        return;
      } catch (error) {
        trouble = `streams or consumers: ${faultCode(error)}`;
        notify({ kind: 'topology_failed', code: faultCode(error) });
        await pause(waits.next(), lost);
      }
    }
  };

  /** Returns when the client gives up, which it does by itself only in cases that it does not know how to mend. */
  const follow = async (nc: NatsConnection, first: AbortController): Promise<unknown> => {
    let lost = first;
    const leave = (): void => {
      lost.abort();
      session = undefined;
      trouble = 'not connected';
    };
    const watch = async (): Promise<void> => {
      for await (const { type } of nc.status()) {
        if (type === Events.Disconnect) {
          leave();
          notify({ kind: 'disconnected' });
        } else if (type === Events.Reconnect) {
          lost.abort();
          lost = new AbortController();
          void prepareUntilLost(nc, lost.signal);
        }
      }
    };
    void watch();
    const reason = await nc.closed();
    leave();
    return reason ?? undefined;
  };

  const replace = async (): Promise<void> => {
    const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
    while (!closing.signal.aborted) {
      try {
        const nc = await connectOnce(options);
        if (closing.signal.aborted) return await nc.close();
        const lost = new AbortController();
        void prepareUntilLost(nc, lost.signal);
        return keep(nc, lost);
      } catch (error) {
        notify({ kind: 'connection_failed', code: faultCode(error) });
        await pause(waits.next(), closing.signal);
      }
    }
  };

  let current: NatsConnection;
  const keep = (nc: NatsConnection, lost: AbortController): void => {
    current = nc;
    void follow(nc, lost).then((reason) => {
      if (closing.signal.aborted) return;
      notify({ kind: 'connection_replaced', code: faultCode(reason) });
      void replace();
    });
  };

  const start = async (): Promise<void> => {
    const lost = new AbortController();
    const nc = await connectOnce(options).catch((error: unknown) => {
      throw unavailable('no NATS server is reachable', error);
    });
    try {
      const first = await prepareFirst(nc, lost.signal, options);
      keep(nc, lost);
      arrive(first);
    } catch (error) {
      await nc.close();
      throw error;
    }
  };
  await start();

  const repair = ({ manager }: Session): Promise<void> => {
    repairing ??= prepare(manager).finally(() => {
      repairing = undefined;
    });
    return repairing;
  };
  const check = (): void => {
    if (session === undefined) return;
    repair(session).catch((error: unknown) => notify({ kind: 'topology_failed', code: faultCode(error) }));
  };
  const checks = setInterval(check, options.checkMs);

  return {
    session: () => {
      if (session === undefined) throw new WorkQueueUnavailable('the work queue is not reachable', trouble);
      return session;
    },
    next: (signal) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (session === undefined && !signal.aborted) return;
          arrivals.delete(look);
          signal.removeEventListener('abort', look);
          resolve(signal.aborted ? undefined : session);
        };
        arrivals.add(look);
        signal.addEventListener('abort', look, { once: true });
        look();
      }),
    repair,
    status: () => (session === undefined ? { ok: false, reason: trouble } : { ok: true }),
    close: async () => {
      closing.abort();
      clearInterval(checks);
      if (session !== undefined)
        await settlesWithin(
          DRAIN_MS,
          current.drain().catch(() => undefined),
        );
      session = undefined;
      trouble = 'closed';
      await current.close();
    },
  };
};
