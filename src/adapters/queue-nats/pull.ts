import { AsyncResource } from 'node:async_hooks';
import { createInbox, type Msg, nanos } from 'nats';
import { settlesWithin } from '../../lib/pause.js';
import type { Session } from './link.js';
import { readMessage, type WorkMessage } from './message.js';

/** How a request for messages ended; `refused`: the server has no capacity now, or is moving its streams. */
export type PullEnd = 'over' | 'refused' | 'missing' | 'silent' | 'stopped';

type Pull = {
  session: Session;
  stream: string;
  consumer: string;
  batch: number;
  /** Interval of the server's heartbeats while the request waits; two missed heartbeats end it. */
  heartbeatMs: number;
  signal: AbortSignal;
  onMessage(message: WorkMessage): void;
};

/**
 * The shortest request that a server accepts with heartbeats. Longer requests are avoided, because server 2.9 may forget to wake a consumer that was
 * created again while messages came; only the next request finds them.
 */
const HEARTBEATS_OF_A_REQUEST = 2;
const MISSED_HEARTBEATS = 2.5;
const DRAIN_MS = 1_000;

/**
 * Asks a consumer for up to `batch` messages. When it is stopped, messages on their way still reach `onMessage` before it resolves; later ones are
 * given back.
 */
export const pull = async (options: Pull): Promise<PullEnd> => {
  const { session, stream, consumer, batch, heartbeatMs, signal, onMessage } = options;
  const ended = new AbortController();
  const inbox = createInbox();
  let left = batch;
  let silence: NodeJS.Timeout | undefined;
  let isOver = false;
  let end: (how: PullEnd) => void = () => {};
  const ending = new Promise<PullEnd>((resolve) => {
    end = resolve;
  });
  const hear = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => end('silent'), heartbeatMs * MISSED_HEARTBEATS);
  };
  // In the asynchronous context of this call: what a handler connects to is no socket of the client of NATS (`client-sockets.ts`).
  const receive = AsyncResource.bind((message: Msg): void => {
    const work = readMessage(message);
    if (work === undefined) {
      const how = endOf(message);
      if (how !== undefined) end(how);
    } else if (isOver) {
      work.giveBack();
    } else {
      left -= 1;
      onMessage(work);
      if (left === 0) end('over');
    }
  });
  const subscription = session.nc.subscribe(inbox, {
    callback: (error, message) => {
      if (error !== null) return end('refused');
      // While a request that has ended drains, a new timer would keep the process alive.
      if (!ended.signal.aborted) hear();
      receive(message);
    },
  });
  const stop = AbortSignal.any([signal, session.lost]);
  const onStop = (): void => end('stopped');
  stop.addEventListener('abort', onStop, { once: true, signal: ended.signal });
  hear();
  session.nc.publish(
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
    JSON.stringify({
      batch,
      expires: nanos(HEARTBEATS_OF_A_REQUEST * heartbeatMs),
      idle_heartbeat: nanos(heartbeatMs),
    }),
    { reply: inbox },
  );
  if (stop.aborted) end('stopped');
  const how = await ending;
  ended.abort();
  clearTimeout(silence);
  const mayBeOnItsWay = left > 0 && (how === 'stopped' || how === 'silent') && !session.lost.aborted;
  if (mayBeOnItsWay)
    await settlesWithin(
      DRAIN_MS,
      subscription.drain().catch(() => undefined),
    );
  else subscription.unsubscribe();
  isOver = true;
  return how;
};

/** Undefined for a heartbeat. */
const endOf = ({ headers }: Msg): PullEnd | undefined => {
  const about = headers?.description.toLowerCase() ?? '';
  switch (headers?.code) {
    case 100:
      return undefined;
    case 404:
    case 408:
      return 'over';
    case 503:
      return 'missing';
    case 409:
      if (about.startsWith('consumer deleted')) return 'missing';
      return about.startsWith('batch completed') ? 'over' : 'refused';
    default:
      return 'refused';
  }
};
