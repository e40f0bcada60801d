import type { connect } from 'nats';
import type { Clock } from '../../ports/clock.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import { clearCrashLeftovers } from './crash-leftovers.js';
import { faultCode, unavailable } from './faults.js';
import { openLink, type QueueStatus } from './link.js';
import { namesFor } from './names.js';
import type { Notify } from './notices.js';
import { createParked } from './parked.js';
import { readServers } from './servers.js';
import { createTaps } from './taps.js';
import { ensureTopology } from './topology.js';
import { work } from './worker.js';

export type NatsQueueOptions = {
  /** As `readServers` takes them. */
  servers: string;
  clock: Clock;
  notify?: Notify;
  /** Begins the names of streams and subjects; default `nfse`. */
  prefix?: string;
  /** Copies of each message in a cluster, for streams that are made; default 1. */
  replicas?: number;
  /** A process that was silent for so long has lost its messages to others; default 30 s. */
  ackWaitMs?: number;
  /** An answer of the server takes no longer; default 5 s. */
  answerMs?: number;
  /** Signs of life of a consumer that has nothing to do; default 5 s. */
  heartbeatMs?: number;
  /** Between two checks of streams and consumers; default 60 s. They are checked at each connection too. */
  checkMs?: number;
  /** Of one message; beyond it is parked. Default 1,000: pauses of a long look-up count too. */
  maxDeliveries?: number;
  /** For tests: the client's own unless given. */
  connect?: typeof connect;
};

export type NatsWorkQueue = WorkQueue & {
  status(): QueueStatus;
  /** Ends all work as its own signal would, then drains the connection. */
  close(): Promise<void>;
};

/**
 * The queue on NATS JetStream, 2.9 or newer. Taps for one stream and kind merge, because the server keeps one message of
 * each subject. Within a process one stream is never handled twice at once; two processes may, and the log decides.
 * Throws `NatsServersInvalid`, `NatsTopologyMismatch`, or `WorkQueueUnavailable` when no server answers in time.
 */
export const createNatsQueue = async (options: NatsQueueOptions): Promise<NatsWorkQueue> => {
  const { clock, replicas = 1, ackWaitMs = 30_000, answerMs = 5_000, heartbeatMs = 5_000 } = options;
  const { maxDeliveries = 1_000, checkMs = 60_000, prefix = 'nfse', notify = () => undefined } = options;
  const names = namesFor(prefix);
  const link = await openLink({
    server: readServers(options.servers),
    answerMs,
    checkMs,
    prepare: async (manager) => {
      const topology = { names, ackWaitMs, replicas };
      await ensureTopology(manager, topology);
      if (await clearCrashLeftovers(manager, names)) await ensureTopology(manager, topology);
    },
    notify,
    ...(options.connect === undefined ? {} : { connect: options.connect }),
  });
  const parked = createParked(link, names, clock);
  const taps = createTaps(link, names, parked);
  const closing = new AbortController();
  const working = new Set<Promise<void>>();

  const asPort = async <T>(what: string, asking: () => Promise<T>): Promise<T> => {
    try {
      return await asking();
    } catch (error) {
      throw unavailable(what, error);
    }
  };

  return {
    put: (tap) =>
      asPort('the tap could not be put', () => taps.put(tap)).catch((error: unknown) => {
        notify({ kind: 'put_failed', code: faultCode(error) });
        throw error;
      }),
    work: (asked) => {
      const signal = AbortSignal.any([asked.signal, closing.signal]);
      const task: Promise<void> = work(
        { link, names, parked, ackWaitMs, heartbeatMs, maxDeliveries, notify },
        { ...asked, signal },
      ).finally(() => working.delete(task));
      working.add(task);
      return task;
    },
    depth: () =>
      asPort('the queue could not be counted', async () => {
        const { state } = await link.session().manager.streams.info(names.workStream);
        return state.messages;
      }),
    parked: () =>
      asPort('the parked taps could not be read', async () =>
        (await parked.list()).map(({ kind, stream, messageId, reason, parkedAt }) => ({
          ...{ kind, stream, messageId, reason, parkedAt },
        })),
      ),
    retryParked: (stream) =>
      asPort('the parked tap could not be put back', async () => {
        const records = await parked.findAll(stream);
        for (const record of records) await taps.unpark(record);
        return records.length > 0;
      }),
    status: () => link.status(),
    close: async () => {
      closing.abort();
      await Promise.allSettled(working);
      await link.close();
    },
  };
};
