import {
  type ConnectionOptions,
  connect,
  Events,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import type { StreamName } from '../../domain/common/ids.js';
import { createBackoff, jittered } from '../../lib/backoff.js';
import type { Lane } from '../../lib/lanes.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import { createReminder } from '../../lib/reminder.js';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { createClientSockets } from './client-sockets.js';
import { faultCode, isRefusal, unavailable } from './faults.js';
import type { Kind } from './names.js';
import { NatsTopologyMismatch } from './topology-mismatch.js';
import { createTroubles, shownSubject } from './troubles.js';

/**
 * `isConnected`: the server answers, and took no work item when the last one was put. `isPartial`: it answers, and streams, consumers or rights are not
 * as they have to be, so that some work may be kept away.
 */
export type QueueStatus = { ok: true } | { ok: false; reason: string; isConnected?: boolean; isPartial?: boolean };

export type Link = Awaited<ReturnType<typeof openLink>>;

/** Streams and consumers are prepared at each connection, and every `checkMs`. */
type LinkOptions = ConnectingOptions & { checkMs: number; notify: Notify };

const DRAIN_MS = 2_000;

const NOT_CONNECTED = 'not connected';

/** Connects within a bound, then keeps a session until `close`. Throws `WorkQueueUnavailable` and `NatsTopologyMismatch`. */
export const openLink = async (options: LinkOptions) => {
  const { answerMs, prepare } = options;
  const closing = new AbortController();
  const arrivals = new Set<() => void>();
  let session: Session | undefined;
  let repairing: Promise<void> | undefined;
  let trouble = NOT_CONNECTED;
  const reminder = createReminder();
  const troubles = createTroubles();

  /** The client tries each second, and each try may end in the same way. */
  const notify: Notify = (notice) => {
    if (reminder.isDue(JSON.stringify(notice))) options.notify(notice);
  };

  const arrive = (arrived: Session): void => {
    session = arrived;
    reminder.reset();
    troubles.clear();
    notify({ kind: 'connected' });
    for (const wake of arrivals) wake();
  };

  /** The connection becomes the session only when streams and consumers are right. */
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
        notify(checkFailed(error));
        await pause(waits.next(), lost);
      }
    }
  };

  const deny = ({ operation, subject }: { operation: string; subject: string }): void => {
    const what = `${operation} ${shownSubject(subject)}`;
    troubles.wasDenied(what);
    notify({ kind: 'not_permitted', what });
  };

  /** Resolves when the client gives up, which it does only in cases that it cannot repair. */
  const follow = async (nc: NatsConnection, first: AbortController): Promise<unknown> => {
    let lost = first;
    let refusal: string | undefined;
    const leave = (): void => {
      lost.abort();
      session = undefined;
      trouble = refusal ?? NOT_CONNECTED;
    };
    const watch = async (): Promise<void> => {
      for await (const { type, data, permissionContext } of nc.status()) {
        if (type === Events.Error) {
          // The server says this before it closes the connection, at each try.
          if (typeof data === 'string' && isRefusal(data)) refusal = data;
          if (permissionContext !== undefined) deny(permissionContext);
        } else if (type === Events.Disconnect) {
          leave();
          notify({ kind: 'disconnected', code: trouble });
        } else if (type === Events.Reconnect) {
          refusal = undefined;
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

  const lostFirst = new AbortController();
  const first = await connectOnce(options).catch((error: unknown) => {
    throw unavailable('there is no connection to NATS', error);
  });
  try {
    const prepared = await prepareFirst(first, lostFirst.signal, options);
    keep(first, lostFirst);
    arrive(prepared);
  } catch (error) {
    await first.close();
    throw error;
  }

  const checkOnce = async (checked: Session): Promise<void> => {
    try {
      await prepare(checked.manager);
      // What went wrong before is news when it comes again.
      if (checked === session && troubles.endCheckFailure()) reminder.reset();
    } catch (error) {
      if (checked === session) troubles.checkFailed(error);
      throw error;
    }
  };
  /** Checks streams and consumers again; several callers share one check. Throws the error of that check. */
  const repair = (checked: Session): Promise<void> => {
    repairing ??= checkOnce(checked).finally(() => {
      repairing = undefined;
    });
    return repairing;
  };
  const check = async (): Promise<void> => {
    let waitMs = options.checkMs;
    try {
      if (session !== undefined) await repair(session);
    } catch (error) {
      // Closing cuts a check that is under way, which is no fault of the server.
      if (closing.signal.aborted) return;
      notify(checkFailed(error));
      waitMs = Math.min(waitMs, RETRY_MS.longest);
    }
    if (!closing.signal.aborted) nextCheck = setTimeout(check, waitMs);
  };
  let nextCheck = setTimeout(check, options.checkMs);

  return {
    /** Throws `WorkQueueUnavailable` at once when there is no connection. */
    session: (): Session => {
      if (session === undefined) throw new WorkQueueUnavailable('the work queue is not reachable', trouble);
      return session;
    },
    /** The current session or the next one; undefined when the signal aborts first. */
    next: (signal: AbortSignal): Promise<Session | undefined> =>
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
    /** Tells a state that lasts once, and again as a reminder; only for notices with names from a small set. */
    notify,
    troubles,
    status: (): QueueStatus => {
      if (session === undefined) return { ok: false, reason: trouble };
      const worst = troubles.worst();
      return worst === undefined ? { ok: true } : { ok: false, reason: worst, isPartial: true };
    },
    close: async (): Promise<void> => {
      closing.abort();
      clearTimeout(nextCheck);
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

/** A connection from one connect to its loss, with streams and consumers as they have to be. */
export type Session = {
  nc: NatsConnection;
  js: JetStreamClient;
  manager: JetStreamManager;
  /** Aborts when the connection is lost; requests of this session get no answer then. */
  lost: AbortSignal;
};

type ConnectingOptions = {
  server: ConnectionOptions;
  /** Longest wait for an answer of the server. */
  answerMs: number;
  /** Creates and corrects streams and consumers. */
  prepare(manager: JetStreamManager): Promise<void>;
  /** For tests; the client's own function by default. */
  connect?: typeof connect;
};

const RETRY_MS = { first: 100, longest: 5_000 };
/** A random half to whole of this time. It cannot grow, because the client asks for the delay each time it looks at its clock. */
const RECONNECT_MS = 1_000;
const PING_MS = 10_000;

/** Returns a client that reconnects without limit once it was connected. Throws the client's error when no server answers in time. */
const connectOnce = async (options: ConnectingOptions): Promise<NatsConnection> => {
  const sockets = createClientSockets();
  try {
    const nc = await sockets.own(() =>
      (options.connect ?? connect)({
        ...options.server,
        name: 'nfse',
        timeout: options.answerMs,
        maxReconnectAttempts: -1,
        ignoreAuthErrorAbort: true,
        reconnectDelayHandler: () => jittered(RECONNECT_MS),
        pingInterval: PING_MS,
        noAsyncTraces: true,
      }),
    );
    void nc.closed().then(sockets.destroy);
    return nc;
  } catch (error) {
    sockets.destroy();
    throw error;
  }
};

const sessionOn = async (nc: NatsConnection, lost: AbortSignal, answerMs: number): Promise<Session> => {
  const api = { timeout: answerMs, checkAPI: false };
  return { nc, js: nc.jetstream(api), manager: await nc.jetstreamManager(api), lost };
};

/** Retries within a bound, because a server that has just started may still read its streams; a mismatch is thrown at once. */
const prepareFirst = async (
  nc: NatsConnection,
  lost: AbortSignal,
  { answerMs, prepare }: ConnectingOptions,
): Promise<Session> => {
  const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
  const first = await sessionOn(nc, lost, answerMs);
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

/** What the queue reports about itself for log lines and counters: names, ids and codes, never a message's text. */
export type QueueNotice =
  | { kind: 'connected' }
  /** `code`: that of the server where it refuses the client. */
  | { kind: 'disconnected'; code: string }
  /** The client gave up; a new one is created. */
  | { kind: 'connection_replaced'; code: string }
  | { kind: 'connection_failed'; code: string }
  /** Streams and consumers could not be checked, or not be put right; the check is repeated. `what`: the one that the server refuses, and why. */
  | { kind: 'topology_failed'; code: string; what?: string }
  /** The server does not permit this operation on this subject. */
  | { kind: 'not_permitted'; what: string }
  /** The consumer refuses requests for its messages again and again, so it is checked. */
  | { kind: 'requests_refused'; consumer: string }
  /** A consumer was silent or gone, so it is checked and asked again. */
  | { kind: 'consumer_rebuilt'; consumer: string; why: 'missing' | 'silent' }
  | { kind: 'put_failed'; code: string }
  /** The handling result did not reach the server; the message comes back when its holder's time ends. */
  | { kind: 'verdict_lost'; work: Kind; lane: Lane; code: string }
  /** The work item waits for an operator now. */
  | { kind: 'parked'; work: Kind; stream: StreamName }
  /** Messages that are not ours were removed. */
  | { kind: 'unreadable'; consumer: string }
  /** So many messages were removed from the parked work that are not ours, in one look at it. */
  | { kind: 'unreadable_parked'; removed: number };

export type Notify = (notice: QueueNotice) => void;

/** Of a check of streams and consumers; `what` is a text of this code. */
export const checkFailed = (error: unknown): QueueNotice => ({
  kind: 'topology_failed',
  code: faultCode(error),
  ...(error instanceof NatsTopologyMismatch ? { what: error.what } : {}),
});
