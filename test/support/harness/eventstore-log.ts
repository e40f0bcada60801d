import {
  createEventStoreEventLog,
  type EventStoreEventLog,
  type EventStoreEventLogOptions,
} from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import type { EventLog, LogPosition, RecordedEvent } from '../../../src/ports/event-log.js';
import { type DoubleOptions, type EventStoreDouble, startEventStoreDouble } from '../eventstore-double/double.js';

/** Doubles, logs and followers of one test; closed in reverse order. */
export type EventStoreHarness = {
  double(options?: DoubleOptions): Promise<EventStoreDouble>;
  open(url: string, options?: Partial<EventStoreEventLogOptions>): EventStoreEventLog;
  follow(log: EventLog, prefix: string, after?: LogPosition | null): Follower;
  close(): Promise<void>;
};

type Follower = { events: RecordedEvent[]; names(): readonly string[]; errors: unknown[] };

/** Other events, all in one turn of the event loop: too many for the buffer of a subscription that is not live yet. */
export const fillWith = (double: EventStoreDouble, events: number, stream = 'other'): void => {
  for (let n = 0; n < events; n += 1) {
    double.log.append(`${stream}-${n}`, 'any', [
      { id: crypto.randomUUID(), type: 'T', contentType: '', data: new Uint8Array(), metadata: new Uint8Array() },
    ]);
  }
};

export const openEventStoreHarness = (): EventStoreHarness => {
  const doubles: EventStoreDouble[] = [];
  const logs: EventStoreEventLog[] = [];
  const followers: Promise<void>[] = [];
  const stop = new AbortController();
  return {
    double: async (options) => {
      const double = await startEventStoreDouble(options);
      doubles.push(double);
      return double;
    },
    open: (url, options = {}) => {
      const log = createEventStoreEventLog({ url, ...options });
      logs.push(log);
      return log;
    },
    follow: (log, prefix, after = null) => {
      const events: RecordedEvent[] = [];
      const errors: unknown[] = [];
      const onInterrupted = (error: unknown): void => {
        errors.push(error);
      };
      const run = async (): Promise<void> => {
        const batches = log.subscribe({ prefixes: [prefix], after, signal: stop.signal, onInterrupted });
        for await (const batch of batches) events.push(...batch);
      };
      followers.push(run());
      return { events, errors, names: () => events.map(({ stream, revision }) => `${stream}@${revision}`) };
    },
    close: async () => {
      stop.abort();
      await Promise.all(followers);
      await Promise.all(logs.map((log) => log.close()));
      await Promise.all(doubles.map((double) => double.close()));
    },
  };
};
