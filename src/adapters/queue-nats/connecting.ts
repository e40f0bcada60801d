import {
  type ConnectionOptions,
  connect,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
} from 'nats';
import { createBackoff, jittered } from '../../waiting/backoff.js';
import { pause } from '../../waiting/pause.js';
import { unavailable } from './faults.js';
import { NatsTopologyMismatch } from './topology-mismatch.js';

/** A connection from one connect to the loss of it, with streams and consumers as they have to be. */
export type Session = {
  nc: NatsConnection;
  js: JetStreamClient;
  manager: JetStreamManager;
  /** Aborts when the connection is lost: requests of this session get no answer any more. */
  lost: AbortSignal;
};

export type ConnectingOptions = {
  server: ConnectionOptions;
  /** Waiting for an answer of the server ends after this. */
  answerMs: number;
  /** Makes streams and consumers what they have to be. */
  prepare(manager: JetStreamManager): Promise<void>;
  /** For tests: the client's own unless given. */
  connect?: typeof connect;
};

export const RETRY_MS = { first: 100, longest: 5_000 };
/** Half to full of it, at random: the client asks anew for each look at its clock, so it cannot grow here. */
const RECONNECT_MS = 1_000;
const PING_MS = 10_000;

/** A client that reconnects for ever once it was connected; throws what the client does when no server answers in time. */
export const connectOnce = (options: ConnectingOptions): Promise<NatsConnection> =>
  (options.connect ?? connect)({
    ...options.server,
    name: 'nfse',
    timeout: options.answerMs,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => jittered(RECONNECT_MS),
    pingInterval: PING_MS,
    noAsyncTraces: true,
  });

export const sessionOn = async (nc: NatsConnection, lost: AbortSignal, answerMs: number): Promise<Session> => {
  const api = { timeout: answerMs, checkAPI: false };
  return { nc, js: nc.jetstream(api), manager: await nc.jetstreamManager(api), lost };
};

/** A server that has just started may still be reading its streams; a refusal is told at once. */
export const prepareFirst = async (
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
