import type { connect, JetStreamManager } from 'nats';
import { pause, settlesWithin } from '../../lib/pause.js';
import { createReminder } from '../../lib/reminder.js';
import type { Clock } from '../../ports/clock.js';
import { isFromSweep, type WorkItem, type WorkQueue } from '../../ports/work-queue.js';
import { faultCode, ifFound, isUnheard, isWrongLastSequence, unavailable } from './faults.js';
import { type Link, type Notify, openLink, type QueueStatus } from './link.js';
import { writeItem } from './message.js';
import { type Names, namesFor } from './names.js';
import { createParked, findStored, type Parked, type ParkedRecord, removeStored } from './parked.js';
import { readServers } from './servers.js';
import { ensureTopology } from './topology.js';
import { type Endless, work } from './worker.js';

export type NatsQueueOptions = {
  /** Addresses in the form that `readServers` accepts. */
  servers: string;
  clock: Clock;
  notify?: Notify;
  /** Prefix of the names of streams and subjects; default `nfse`. */
  prefix?: string;
  /** A process that is silent for this long loses its messages to others; default 30 s. */
  ackWaitMs?: number;
  /** Longest wait for an answer of the server; default 5 s. */
  answerMs?: number;
  /** Interval of heartbeats from a consumer that has nothing to do; default 5 s. */
  heartbeatMs?: number;
  /** Interval between checks of streams and consumers, which are also checked at each connection; default 60 s. */
  checkMs?: number;
  /** When a message that never ends is parked; default after 1,000 deliveries and 16 hours. */
  endless?: Endless;
  /** For tests; the client's own function by default. */
  connect?: typeof connect;
};

export type NatsWorkQueue = WorkQueue & {
  /**
   * Also says that the last put failed, as when the disk or a limit of the account is full, and that streams, consumers or rights are not as they have to
   * be: the connection shows nothing of that.
   */
  status(): QueueStatus;
  /** Another process has put work items since: a put that failed here before says nothing of the queue any more. */
  anotherPuts(): void;
  /** What a process that works must be permitted and is not; undefined when nothing is missing. No other call uses these rights. */
  missingRight(): Promise<string | undefined>;
  /** Ends all work as an abort of its signal would, then drains the connection. */
  close(): Promise<void>;
};

/**
 * Milliseconds for which a failed put counts when no put follows on this connection. A relay puts again after a second; the process of one that has
 * resigned, and that sees no other relay lead, says nothing of the queue after this time.
 */
const FAILED_PUT_COUNTS_MS = 60_000;

/**
 * The queue on NATS JetStream, 2.9 or newer. Work items for one stream and kind merge, because the server keeps one message of each subject. Within a
 * process one stream is never handled twice at once; two processes may handle it, and the log decides. Throws `AddressInvalid`,
 * `NatsTopologyMismatch`, or `WorkQueueUnavailable` when no server answers in time.
 */
export const createNatsQueue = async (options: NatsQueueOptions): Promise<NatsWorkQueue> => {
  const { clock, ackWaitMs = 30_000, answerMs = 5_000, heartbeatMs = 5_000 } = options;
  const {
    endless = { deliveries: 1_000, seconds: 16 * 3_600 },
    checkMs = 60_000,
    prefix = 'nfse',
    notify = () => undefined,
  } = options;
  const names = namesFor(prefix);
  /** The last put, if it failed on this connection. */
  let failedPut: { code: string; at: number } | undefined;
  /** The relay puts the same item twice a second until it is taken. */
  const reminder = createReminder();
  const putWorks = (): void => {
    failedPut = undefined;
    reminder.reset();
  };
  const link = await openLink({
    server: readServers(options.servers),
    answerMs,
    checkMs,
    prepare: async (manager) => {
      await ensureTopology(manager, names, ackWaitMs);
      if (await clearCrashLeftovers(manager, names)) await ensureTopology(manager, names, ackWaitMs);
    },
    notify: (notice) => {
      if (notice.kind === 'connected') putWorks();
      notify(notice);
    },
    ...(options.connect === undefined ? {} : { connect: options.connect }),
  });
  const parked = createParked(link, names, clock, notify);
  const items = createItemWriter(link, names, parked);
  const closing = new AbortController();
  const working = new Set<Promise<void>>();

  const put = async (item: WorkItem): Promise<void> => {
    try {
      await asPort('the item could not be put', () => items.put(item));
      putWorks();
    } catch (error) {
      failedPut = { code: faultCode(error), at: performance.now() };
      if (reminder.isDue(failedPut.code)) notify({ kind: 'put_failed', code: failedPut.code });
      throw error;
    }
  };
  const status = (): QueueStatus => {
    const connection = link.status();
    const isLost = !connection.ok && connection.isPartial !== true;
    if (isLost || failedPut === undefined) return connection;
    const counts = performance.now() - failedPut.at <= FAILED_PUT_COUNTS_MS;
    return counts ? { ok: false, reason: failedPut.code, isConnected: true } : connection;
  };

  const asPort = <T>(what: string, asking: () => Promise<T>): Promise<T> =>
    asking().catch((error: unknown) => {
      throw unavailable(what, error);
    });

  return {
    put,
    work: (asked) => {
      const signal = AbortSignal.any([asked.signal, closing.signal]);
      const task: Promise<void> = work(
        { link, names, parked, ackWaitMs, heartbeatMs, endless, clock, notify },
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
      asPort('the parked items could not be read', async () => {
        const { records, count } = await parked.list();
        const work = records.map(
          ({ sequence: _sequence, workSequence: _workSequence, workStreamMadeAt: _madeAt, ...item }) => item,
        );
        return { work, count };
      }),
    isParked: (stream) =>
      asPort('the parked item could not be read', async () => (await parked.findAll(stream)).length > 0),
    retryParked: (stream) =>
      asPort('the parked item could not be put back', async () => {
        const records = await parked.findAll(stream);
        for (const record of records) await items.unpark(record);
        return records.length > 0;
      }),
    status,
    anotherPuts: () => {
      failedPut = undefined;
    },
    missingRight: () =>
      asPort('the rights could not be tried', async () => {
        const { nc } = link.session();
        for (const { name } of names.consumers) {
          // Of no message, and without a place for the answer: the server ignores both.
          nc.publish(`$JS.ACK.${names.workStream}.${name}.0.0.0.0.0`, '+WPI');
          nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${names.workStream}.${name}`);
        }
        await settlesWithin(answerMs, nc.flush());
        // The client tells what the server refused after this turn.
        await pause(1);
        return link.troubles.denial();
      }),
    close: async () => {
      closing.abort();
      await Promise.allSettled(working);
      await link.close();
    },
  };
};

/**
 * Corrects what a crashed server remembers of a consumer but not of its stream, or the other way round. Messages that were answered but are still
 * stored would never be delivered and would keep out work items that are put again, so they are removed. A consumer that is ahead of its stream would
 * skip new messages, and one that gave up messages never delivers them, so both are deleted. Returns true when a consumer
 * is missing and must be created again.
 */
export const clearCrashLeftovers = async (manager: JetStreamManager, names: Names): Promise<boolean> => {
  const { workStream } = names;
  const consumers = await Promise.all(
    names.consumers.map(async ({ name, filter }) => {
      const info = await ifFound(manager.consumers.info(workStream, name));
      // Another process has just deleted it.
      if (info === undefined) return undefined;
      return {
        name,
        filter,
        answeredUpTo: info.ack_floor.stream_seq,
        /** Undefined while messages wait or are being handled. */
        idleAfter: info.num_pending + info.num_ack_pending === 0 ? info.delivered.stream_seq : undefined,
      };
    }),
  );
  // Read after the consumers, because then no consumer of a healthy stream is ahead of this state.
  const { state } = await manager.streams.info(workStream);
  const removeThrough = async (last: number, from: number, filter: string): Promise<void> => {
    for (let seq = from; seq <= last; ) {
      const found = await findStored(manager, workStream, { seq, next_by_subj: filter });
      if (found === undefined || found.seq > last) return;
      await removeStored(manager, workStream, found);
      seq = found.seq + 1;
    }
  };
  const hasGivenUp = async (idleAfter: number, filter: string): Promise<boolean> => {
    const kept = await findStored(manager, workStream, { seq: state.first_seq, next_by_subj: filter });
    return kept !== undefined && kept.seq <= idleAfter;
  };
  let isDeleted = false;
  for (const consumer of consumers) {
    if (consumer === undefined) {
      isDeleted = true;
      continue;
    }
    const { name, filter, answeredUpTo, idleAfter } = consumer;
    const isAhead = answeredUpTo > state.last_seq;
    if (!isAhead) await removeThrough(answeredUpTo, state.first_seq, filter);
    if (isAhead || (idleAfter !== undefined && (await hasGivenUp(idleAfter, filter)))) {
      await ifFound(manager.consumers.delete(workStream, name));
      isDeleted = true;
    }
  }
  return isDeleted;
};

/** Writes work items into the work stream. Calls throw the client's errors. */
const createItemWriter = (link: Link, names: Names, parked: Parked) => {
  const publish = async (item: WorkItem, messageId: string, onlyIfNoneWaits: boolean): Promise<number> => {
    const session = link.session();
    const send = async (): Promise<number> => {
      const { seq } = await session.js.publish(names.work(item), writeItem(item), {
        // The kind is part of the id, because ids of two kinds may be equal.
        msgID: `${item.kind} ${messageId}`,
        ...(onlyIfNoneWaits ? { expect: { lastSubjectSequence: 0 } } : {}),
      });
      return seq;
    };
    try {
      return await send();
    } catch (error) {
      if (!isUnheard(error)) throw error;
      // The stream was deleted or its storage lost. The work items that were in it come again from the log.
      await link.repair(session);
      return await send();
    }
  };

  /** Leaves a work item as it is when it waits, pauses, is being handled or is parked. */
  const putAgain = async (item: WorkItem): Promise<void> => {
    if ((await parked.find(item)) !== undefined) return;
    try {
      await publish(item, item.messageId, true);
    } catch (error) {
      if (!isWrongLastSequence(error)) throw error;
    }
  };

  const putNew = async (item: WorkItem): Promise<void> => {
    const [sequence, record] = await Promise.all([publish(item, item.messageId, false), parked.find(item)]);
    // Removes the record of an earlier work item, never one that was parked since.
    if (record !== undefined && (await parked.isBefore(record, sequence))) await parked.forget(record);
  };

  return {
    put: (item: WorkItem): Promise<void> => (isFromSweep(item) ? putAgain(item) : putNew(item)),
    /** Puts a parked work item back, even when the server has just seen its message id. */
    unpark: async (record: ParkedRecord): Promise<void> => {
      await publish(record, `${record.messageId}/unparked/${record.sequence}`, false);
      await parked.forget(record);
    },
  };
};
