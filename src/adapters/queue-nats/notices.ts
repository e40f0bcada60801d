import type { Verdict } from '../../ports/work-queue.js';
import type { Kind, Lane } from './names.js';

/** What the queue tells about itself, for log lines and counters: names, ids and codes, never a message's text. */
export type QueueNotice =
  | { kind: 'connected' }
  | { kind: 'disconnected' }
  /** The client gave up for good; a new one is made. */
  | { kind: 'connection_replaced'; code: string }
  | { kind: 'connection_failed'; code: string }
  /** Streams and consumers could not be checked; this is tried again. */
  | { kind: 'topology_failed'; code: string }
  /** A consumer was silent or gone, so it is checked and asked anew. */
  | { kind: 'consumer_rebuilt'; consumer: string; why: 'missing' | 'silent' }
  | { kind: 'put_failed'; code: string }
  | { kind: 'delivered'; work: Kind; lane: Lane; deliveries: number }
  | { kind: 'concluded'; work: Kind; lane: Lane; verdict: Verdict['kind'] }
  /** Its message comes back when the holder's time is over. */
  | { kind: 'verdict_lost'; work: Kind; lane: Lane; code: string }
  /** Not one of our messages; it was taken out. */
  | { kind: 'unreadable'; consumer: string };

export type Notify = (notice: QueueNotice) => void;
