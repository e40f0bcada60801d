import type { EventStoreEventLog } from '../adapters/eventlog-eventstoredb/event-log.js';
import { postgresEventLog } from '../adapters/eventlog-postgres/event-log.js';
import type { SessionLimits } from '../adapters/sql/pool.js';
import type { EventLog } from '../ports/event-log.js';
import type { Config } from './config.js';
import type { Runner } from './runner.js';

type Database = { connectionString: string; limits: SessionLimits; onIdleError: () => void };

/** EventStoreDB by `EVENTSTORE_URL`, else the table in the database that is there anyway. */
export const openEventLog = async (
  { eventStoreUrl }: Config,
  database: Database,
  runner: Runner,
): Promise<EventLog> => {
  const log = eventStoreUrl === undefined ? postgresEventLog(database) : await eventStoreLog(eventStoreUrl);
  runner.onStop('event log', () => log.close());
  return log;
};

/** Loaded when it is used: its client takes a third of a command's start, and most installations have none. */
const eventStoreLog = async (url: string): Promise<EventStoreEventLog> => {
  const { createEventStoreEventLog } = await import('../adapters/eventlog-eventstoredb/event-log.js');
  return createEventStoreEventLog({ url });
};
