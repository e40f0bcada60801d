import {
  type ConnectionOptions,
  connect,
  Events,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { createBackoff, jittered } from '../../waiting/backoff.js';
import { pause, settlesWithin } from '../../waiting/pause.js';
import { faultCode, unavailable } from './faults.js';
import type { Notify } from './notices.js';
import { NatsTopologyMismatch } from './topology-mismatch.js';

/** A connection from one connect to the loss of it, with streams and consumers as they have to be. */
export type Session = {
  nc: NatsConnection;
  js: JetStreamClient;
  manager: JetStreamManager;
  /** Aborts when the connection is lost: requests of this session get no answer any more. */
  lost: AbortSignal;
};

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

export type LinkOptions = {
  server: ConnectionOptions;
  /** Waiting for an answer of the server ends after this. */
  answerMs: number;
  /** Makes streams and consumers what they have to be; at each connection, and every `checkMs`. */
  prepare(manager: JetStreamManager): Promise<void>;
  checkMs: number;
  notify: Notify;
  /** For tests: the client's own unless given. */
  connect?: typeof connect;
};

const RETRY_MS = { first: 100, longest: 5_000 };
/** Half to full of it, at random: the client asks anew for each look at its clock, so it cannot grow here. */
const RECONNECT_MS = 1_000;
const PING_MS = 10_000;
const DRAIN_MS = 2_000;

/** Connects once, within a bound, then keeps a session for ever: it reconnects, and replaces a client that gave up. */
export const openLink = async (options: LinkOptions): Promise<Link> => {
  const { answerMs, notify, prepare } = options;
  const closing = new AbortController();
  const arrivals = new Set<() => void>();
  let session: Session | undefined;
  let repairing: Promise<void> | undefined;
  let trouble = 'not connected';

  const connectOnce = (): Promise<NatsConnection> =>
    (options.connect ?? connect)({
      ...options.server,
      name: 'nfse',
      timeout: answerMs,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      reconnectDelayHandler: () => jittered(RECONNECT_MS),
      pingInterval: PING_MS,
      noAsyncTraces: true,
    });

  const sessionOn = async (nc: NatsConnection, lost: AbortSignal): Promise<Session> => {
    const api = { timeout: answerMs, checkAPI: false };
    return { nc, js: nc.jetstream(api), manager: await nc.jetstreamManager(api), lost };
  };

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
        const prepared = await sessionOn(nc, lost);
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
        const nc = await connectOnce();
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

  /** A server that has just started may still be reading its streams; a refusal is told at once. */
  const prepareFirst = async (nc: NatsConnection, lost: AbortController): Promise<Session> => {
    const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
    const first = await sessionOn(nc, lost.signal);
    const bound = AbortSignal.timeout(2 * answerMs);
    for (;;) {
      try {
        await prepare(first.manager);
        return first;
      } catch (error) {
        if (error instanceof NatsTopologyMismatch) throw error;
        if (bound.aborted) throw unavailable('JetStream gives no answer', error);
        await pause(waits.next(), bound);
      }
    }
  };

  const start = async (): Promise<void> => {
    const lost = new AbortController();
    const nc = await connectOnce().catch((error: unknown) => {
      throw unavailable('no NATS server is reachable', error);
    });
    try {
      const first = await prepareFirst(nc, lost);
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
