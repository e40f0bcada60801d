import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import type { EventBatch } from '../../ports/event-log.js';
import type { AcceptedKey, AcceptedMark } from '../../ports/guards-record.js';
import { decodeEvent } from '../event-store/codec.js';

export type GuardWindows = { idempotencySeconds: number; duplicateSeconds: number };

export type AcceptedGuards = { keys: readonly AcceptedKey[]; marks: readonly AcceptedMark[] };

/** Clocks of several processes differ; a guard that is a little too old does no harm, one that is missing may. */
const MARGIN_SECONDS = 600;

/** Acceptances of before have no guard that still counts. */
export const neededSince = ({ idempotencySeconds, duplicateSeconds }: GuardWindows, now: Instant): Instant =>
  addSeconds(now, -Math.max(idempotencySeconds, duplicateSeconds) - MARGIN_SECONDS);

/**
 * The guards that the acceptances among these events had set and that still count. Hashes are copied with the tags of their
 * keys, so no key is needed. Throws `UnknownEventVersion` for an acceptance that a newer program wrote.
 */
export const acceptedGuards = async (
  events: EventBatch,
  { idempotencySeconds, duplicateSeconds }: GuardWindows,
  now: Instant,
): Promise<AcceptedGuards> => {
  const keysSince = addSeconds(now, -idempotencySeconds - MARGIN_SECONDS);
  const marksSince = addSeconds(now, -duplicateSeconds - MARGIN_SECONDS);
  const keys: AcceptedKey[] = [];
  const marks: AcceptedMark[] = [];
  for (const event of events) {
    if (event.type !== 'InvoiceAccepted') continue;
    const accepted = await decodeEvent(event, 'sealed');
    if (accepted.type !== 'InvoiceAccepted') continue;
    const { mode, companyId, invoiceId, acceptedAt, idempotency, fingerprint } = accepted.data;
    const { stream, metadata } = accepted;
    if (idempotency !== undefined && !isBefore(acceptedAt, keysSince)) {
      keys.push({ mode, companyId, ...idempotency, commandId: metadata.commandId ?? '', invoiceId, acceptedAt });
    }
    if (!isBefore(acceptedAt, marksSince)) marks.push({ fingerprint, stream, at: acceptedAt });
  }
  return { keys, marks };
};
