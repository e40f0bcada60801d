import {
  createEventStoreEventLog,
  type EventStoreEventLog,
  type EventStoreEventLogOptions,
} from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { openLine } from '../eventstore-double/line.js';
import type { EventLogEngine } from './event-log.js';

export type Server = { url: string; close(): Promise<void> };

/** The real server of `TEST_EVENTSTORE_URL`. It keeps what the tests write, under names that no other run uses. */
export const realServer = async (): Promise<Server> => ({
  url: process.env.TEST_EVENTSTORE_URL ?? '',
  close: async () => undefined,
});

/** A line needs a single node: a cluster sends its clients to the addresses of its nodes, past the line. */
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

/** Resolves when the clients that were cut off have noticed. */
const settled = async (action: () => void): Promise<void> => {
  action();
  await new Promise((resolve) => setTimeout(resolve, 20));
};
