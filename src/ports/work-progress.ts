import type { StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { LookupProgress } from '../domain/invoice/send-steps.js';
import type { LogPosition } from './event-log.js';

export type StoredLookupProgress = LookupProgress & { lastAskedAt: Instant };

/** Results so far of the look-ups of one send. `work` is `issue/<attempt>`, `cancel/<request>/<attempt>` or, of support, `settle/<dpsId>`. */
export type LookupProgressStore = {
  get(stream: StreamName, work: string): Promise<StoredLookupProgress | undefined>;
  put(stream: StreamName, work: string, progress: StoredLookupProgress): Promise<void>;
  forget(stream: StreamName): Promise<void>;
};

/** Streams whose old events are about to be cut. When a sweeper dies in between, the next one finds the stream here. */
export type PendingCuts = {
  add(stream: StreamName): Promise<void>;
  done(stream: StreamName): Promise<void>;
  list(limit: number): Promise<readonly StreamName[]>;
};

/** The position up to which a log's new work is in a durable queue. Losing it puts work items again. */
export type RelayCheckpoint = {
  /** Null when nothing of this log has been relayed. */
  read(logIdentity: string): Promise<LogPosition | null>;
  /** Never backwards. */
  move(logIdentity: string, position: LogPosition): Promise<void>;
};
