import { connect } from 'nats';
import { afterEach, beforeEach, vi } from 'vitest';
import type { QueueNotice } from '../../../src/adapters/queue-nats/link.js';
import { type Names, namesFor } from '../../../src/adapters/queue-nats/names.js';
import {
  createNatsQueue,
  type NatsQueueOptions,
  type NatsWorkQueue,
} from '../../../src/adapters/queue-nats/nats-queue.js';
import { readServers } from '../../../src/adapters/queue-nats/servers.js';
import type { WorkItem, WorkQueue } from '../../../src/ports/work-queue.js';
import { streamNamed } from '../fixture/named-streams.js';
import { freshPrefix, type NatsServer, type NatsServerOptions, startNats } from '../nats.js';

export const bound = { timeout: 60_000, interval: 10 };

/** A shared server keeps nothing of a test. */
export const removeStreams = async (url: string, names: Names): Promise<void> => {
  const connection = await connect(readServers(url));
  const manager = await connection.jetstreamManager();
  for (const stream of [names.workStream, names.parkedStream]) await manager.streams.delete(stream);
  await connection.close();
};

type Work = Partial<Omit<Parameters<WorkQueue['work']>[0], 'signal'>>;

type Worker = { abort(): void; ended: Promise<void> };

export type QueueHarness = {
  names: Names;
  notices: QueueNotice[];
  /** Another process, as far as the server can tell. */
  open(options?: Partial<NatsQueueOptions>): Promise<NatsWorkQueue>;
  work(queue: WorkQueue, work: Work & Pick<Parameters<WorkQueue['work']>[0], 'handle'>): Worker;
  close(): Promise<void>;
};

/** Queues and workers of one test, with unique names; closed in reverse order. */
export const openQueueHarness = (url: string): QueueHarness => {
  const prefix = freshPrefix();
  const notices: QueueNotice[] = [];
  const queues: NatsWorkQueue[] = [];
  const workers: Worker[] = [];
  return {
    names: namesFor(prefix),
    notices,
    open: async (options = {}) => {
      const queue = await createNatsQueue({
        servers: url,
        clock: { now: () => '2026-11-21T12:00:00.000Z' },
        prefix,
        notify: (notice) => notices.push(notice),
        // A worker that is delayed for less than the first of these pauses keeps its work items.
        ackWaitMs: 3_000,
        answerMs: 3_000,
        heartbeatMs: 200,
        checkMs: 1_000,
        ...options,
      });
      queues.push(queue);
      return queue;
    },
    work: (queue, { handle, concurrency = 1 }) => {
      const stop = new AbortController();
      const worker = {
        abort: () => stop.abort(),
        ended: queue.work({ concurrency, signal: stop.signal, handle }),
      };
      workers.push(worker);
      return worker;
    },
    close: async () => {
      for (const worker of workers) worker.abort();
      await Promise.all(workers.map(({ ended }) => ended));
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
};

/** Work on the invoice that the test calls so. */
export const itemOf = (name: string, messageId = `event of ${name}`, kind: WorkItem['kind'] = 'issue'): WorkItem => ({
  kind,
  stream: streamNamed(name),
  messageId,
});

/** The same as the sweeper puts it: its id begins with the stream. */
export const sweptItemOf = (name: string, sweep: string, kind: WorkItem['kind'] = 'issue'): WorkItem =>
  itemOf(name, `${streamNamed(name)}/${sweep}`, kind);

/** Puts the work item again until the queue has taken it, as the relay does. */
export const putUntilTaken = (queue: WorkQueue, item: WorkItem): Promise<void> =>
  vi.waitFor(() => queue.put(item), bound);

/**
 * Gives each test a server and a harness, by `keep`, and closes both after it. Returns how a test begins anew, over another server with these options.
 */
export const natsForEachTest = (
  keep: (begun: { server: NatsServer; harness: QueueHarness }) => void,
): ((options: NatsServerOptions) => Promise<void>) => {
  let end: () => Promise<void>;
  let server: NatsServer;
  const begin = async (options: NatsServerOptions = {}): Promise<void> => {
    const begun = await startNats(options);
    const harness = openQueueHarness(begun.url);
    server = begun;
    end = async () => {
      await harness.close();
      await begun.close();
    };
    keep({ server: begun, harness });
  };
  beforeEach(() => begin());
  afterEach(() => end());
  return async (options) => {
    await server.close();
    await begin(options);
  };
};
