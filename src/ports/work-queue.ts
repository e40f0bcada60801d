import { invoicePrefix, type Mode, parseInvoiceStream, type StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Traceparent } from './tracing.js';

/** A work item: a hint to look at one stream. The log decides, so a lost or repeated work item does no harm. */
export type WorkItem = {
  kind: 'issue' | 'cancel';
  stream: StreamName;
  /** Deduplication id: the same work item put twice in a short time counts once. The sweeper's work items carry the number of the sweep. */
  messageId: string;
  /** The trace to which the work belongs (ADR 51). It is lost when the work item is parked, and the sweeper's work items have none. */
  traceparent?: Traceparent;
};

/** True for work items that the sweeper put again: their ids begin with the stream's name. Ids of new work are event ids. */
export const isFromSweep = ({ messageId, stream }: WorkItem): boolean => messageId.startsWith(`${stream}/`);

/** The lane of a work item: live and test work wait apart from each other. */
export const laneOf = (stream: StreamName): Mode => (stream.startsWith(invoicePrefix.test) ? 'test' : 'live');

/** The company of a work item, for turns by company. Streams that are no invoice's share one turn. */
export const ownerOf = ({ stream }: WorkItem): string => parseInvoiceStream(stream)?.companyId ?? '';

export type Delivery = WorkItem & { deliveries: number };

/** Result of handling a delivery (docs/architecture.md#workers-and-their-failures). A worker may not halt; only a projector may. */
export type HandlingResult = { kind: 'ack' } | { kind: 'retry'; afterMs: number } | { kind: 'park'; reason: string };

export type ParkedWork = WorkItem & { reason: string; parkedAt: Instant };

/** The oldest parked work items, of which an engine may leave out the newer ones. `count` is the number of all. */
export type ParkedList = { work: readonly ParkedWork[]; count: number };

/** Why the queue cannot be used; `without_jetstream`: the server is there and has no queue for this user. */
export type QueueFault = 'unavailable' | 'refused' | 'untrusted' | 'without_jetstream';

/**
 * Thrown when the queue cannot be used now. The work item may or may not be in the queue. Putting it again does no harm, and the sweeper
 * finds forgotten work.
 */
export class WorkQueueUnavailable extends Error {
  override readonly name = 'WorkQueueUnavailable';

  /** `code` is the engine's code, never its message. */
  constructor(
    message: string,
    readonly code: string,
    readonly fault: QueueFault = 'unavailable',
  ) {
    super(`${message} (${code})`);
  }
}

/** Every call throws `WorkQueueUnavailable` within a bound, except `work`, which waits for the engine. */
export type WorkQueue = {
  /** A work item of the sweeper (`isFromSweep`) neither shortens a pause nor wakes parked work; new work does both. */
  put(item: WorkItem): Promise<void>;
  /**
   * Handles deliveries, at most `concurrency` of one company and mode at once, until the signal aborts. An engine that gives turns by company may hand out
   * more for other companies while deliveries take longer than a second, up to four times `concurrency` in all. Resolves when the last one is finished.
   */
  work(options: {
    concurrency: number;
    signal: AbortSignal;
    handle(delivery: Delivery): Promise<HandlingResult>;
  }): Promise<void>;
  /** Number of work items that wait or are being handled. */
  depth(): Promise<number>;
  parked(): Promise<ParkedList>;
  isParked(stream: StreamName): Promise<boolean>;
  /** Puts the parked work item of this stream back; false when the stream has no parked work. */
  retryParked(stream: StreamName): Promise<boolean>;
};
