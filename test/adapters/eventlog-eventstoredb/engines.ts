import {
  createEventStoreEventLog,
  type EventStoreEventLog,
  type EventStoreEventLogOptions,
} from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import type { EventLogEngine } from '../../contracts/event-log-kit.js';
import { openLine } from '../../support/eventstore-double/line.js';

export type Server = { url: string; close(): Promise<void> };

/** The one that others have started; it keeps what the tests write, under names that nobody else has. */
export const realServer = async (): Promise<Server> => ({
  url: process.env.TEST_EVENTSTORE_URL ?? '',
  close: async () => undefined,
});

/** A line stands only before one node: a cluster tells its clients its own addresses. */
export const hasOneNode = (url: string): boolean => url.startsWith('esdb://') && !url.split('?')[0]?.includes(',');

/** The log over a server, as the contract wants it. */
export const engineOn = async (server: Server, isShared: boolean): Promise<EventLogEngine> => {
  const line = hasOneNode(server.url) ? await openLine(server.url) : undefined;
  const opened: EventStoreEventLog[] = [];
  const open = (options: Partial<EventStoreEventLogOptions> = {}): EventStoreEventLog => {
    const log = createEventStoreEventLog({ url: line?.url ?? server.url, ...options });
    opened.push(log);
    return log;
  };
  return {
    log: open(),
    reopen: async () => open(),
    ...(line === undefined ? {} : { breakConnections: async () => settled(line.cut) }),
    ...(isShared ? { isShared } : {}),
    cutShowsInWholeLog: true,
    close: async () => {
      await Promise.all(opened.map((log) => log.close()));
      await line?.close();
      await server.close();
    },
  };
};

/** Whoever was cut off notices before the caller goes on. */
const settled = async (action: () => void): Promise<void> => {
  action();
  await new Promise((resolve) => setTimeout(resolve, 20));
};
