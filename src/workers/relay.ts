import { invoicePrefix } from '../domain/common/ids.js';
import { present } from '../domain/common/present.js';
import type { EventLog, LogPosition, RecordedEvent } from '../ports/event-log.js';
import type { WorkItem, WorkQueue } from '../ports/work-queue.js';

type Relay = {
  log: EventLog;
  queue: WorkQueue;
  /** Position to continue from. Work before it is put into the queue again by the sweeper. */
  after: LogPosition | null;
  signal: AbortSignal;
  /** The work items of everything up to `position` are in the queue. */
  onRelayed(position: LogPosition): Promise<void>;
  onInterrupted(error: unknown): void;
};

/** Puts a work item into the queue for each acceptance and each request to cancel in the log. */
export const runRelay = async ({ log, queue, after, signal, onRelayed, onInterrupted }: Relay): Promise<void> => {
  const prefixes = Object.values(invoicePrefix);
  for await (const batch of log.subscribe({ prefixes, after, signal, onInterrupted })) {
    for (const event of batch) {
      const item = workItemFor(event);
      if (item !== undefined) await queue.put(item);
    }
    const last = batch.at(-1);
    if (last !== undefined) await onRelayed(last.position);
  }
};

const kinds: Readonly<Record<string, WorkItem['kind']>> = {
  InvoiceAccepted: 'issue',
  CancellationRequested: 'cancel',
};

const workItemFor = ({ type, stream, id, metadata }: RecordedEvent): WorkItem | undefined => {
  const kind = kinds[type];
  return kind && present({ kind, stream, messageId: id, traceparent: metadata.traceparent });
};
