import { invoicePrefix } from '../domain/shared/ids.js';
import type { EventLog, LogPosition, RecordedEvent } from '../ports/event-log.js';
import type { Tap, WorkQueue } from '../ports/work-queue.js';

export type Relay = {
  log: EventLog;
  queue: WorkQueue;
  /** Where to go on; everything before it is refilled by the sweeper. */
  after: LogPosition | null;
  signal: AbortSignal;
  /** The taps of everything up to here are in the queue. */
  onRelayed(position: LogPosition): Promise<void>;
  onInterrupted(error: unknown): void;
};

/** Turns new work in the log into taps on the issuer's shoulder (design section 1). */
export const runRelay = async ({ log, queue, after, signal, onRelayed, onInterrupted }: Relay): Promise<void> => {
  const prefixes = Object.values(invoicePrefix);
  for await (const batch of log.subscribe({ prefixes, after, signal, onInterrupted })) {
    for (const event of batch) {
      const tap = tapFor(event);
      if (tap !== undefined) await queue.put(tap);
    }
    const last = batch[batch.length - 1];
    if (last !== undefined) await onRelayed(last.position);
  }
};

const tapFor = ({ type, stream, id }: RecordedEvent): Tap | undefined => {
  if (type === 'InvoiceAccepted') return { kind: 'issue', stream, messageId: id };
  if (type === 'CancellationRequested') return { kind: 'cancel', stream, messageId: id };
  return undefined;
};
