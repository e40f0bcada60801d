import { invoicePrefix } from '../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import { type EventBatch, type EventLog, isEarlier, type LogPosition } from '../../ports/event-log.js';
import type { AcceptedKey, AcceptedMark, GuardsSession } from '../../ports/guard-checkpoint.js';
import { UNKNOWN_BODY } from '../../ports/idempotency-keys.js';
import { type DecodedEvent, decodeSealed } from '../event-store/codec.js';

export type GuardWindows = { idempotencySeconds: number; duplicateSeconds: number };

type AcceptedGuards = { keys: readonly AcceptedKey[]; marks: readonly AcceptedMark[] };

/** Clocks of processes differ. A guard that is a little too old does no harm; a missing guard may. */
const MARGIN_SECONDS = 600;

/** The guards of acceptances before this instant no longer count. */
const neededSince = ({ idempotencySeconds, duplicateSeconds }: GuardWindows, now: Instant): Instant =>
  addSeconds(now, -Math.max(idempotencySeconds, duplicateSeconds) - MARGIN_SECONDS);

/**
 * The guards of the acceptances among these events, as far as they still count. Hashes are copied with the tags of their keys, so no key is
 * needed. Throws `UnknownEventVersion` for an acceptance that a newer program wrote.
 */
export const acceptedGuards = (
  events: EventBatch,
  { idempotencySeconds, duplicateSeconds }: GuardWindows,
  now: Instant,
): AcceptedGuards => {
  const keysSince = addSeconds(now, -idempotencySeconds - MARGIN_SECONDS);
  const marksSince = addSeconds(now, -duplicateSeconds - MARGIN_SECONDS);
  const keys: AcceptedKey[] = [];
  const marks: AcceptedMark[] = [];
  for (const event of events) {
    if (event.type === 'InvoiceImported') keys.push(...importedKey(event, keysSince));
    if (event.type !== 'InvoiceAccepted') continue;
    const { stream, metadata, data } = decodeSealed(event) as Extract<DecodedEvent, { type: 'InvoiceAccepted' }>;
    const { mode, companyId, invoiceId, acceptedAt, idempotency, fingerprint } = data;
    if (idempotency !== undefined && !isBefore(acceptedAt, keysSince)) {
      keys.push({ mode, companyId, ...idempotency, commandId: metadata.commandId ?? '', invoiceId, acceptedAt });
    }
    if (!isBefore(acceptedAt, marksSince)) marks.push({ fingerprint, stream, at: acceptedAt });
  }
  return { keys, marks };
};

/** The key of a request whose note was taken over, as the import writes its row. */
const importedKey = (event: EventBatch[number], since: Instant): readonly AcceptedKey[] => {
  const { data } = decodeSealed(event) as Extract<DecodedEvent, { type: 'InvoiceImported' }>;
  const { mode, companyId, invoiceId, keyHash, createdAt, issuedAt, importedAt } = data;
  const acceptedAt = createdAt ?? issuedAt ?? importedAt;
  if (keyHash === undefined || isBefore(acceptedAt, since)) return [];
  return [{ mode, companyId, keyHash, bodyHash: UNKNOWN_BODY, commandId: '', invoiceId, acceptedAt }];
};

type ReplayDeps = {
  log: Pick<EventLog, 'readAll'>;
  session: Pick<GuardsSession, 'fill' | 'move'>;
  clock: Clock;
  windows: GuardWindows;
  /** A position before which no event was recorded at the instant or later; null when no such position is known. */
  positionBefore(since: Instant): Promise<LogPosition | null>;
};

type ReplayStep = {
  /** The database holds the guards of the log up to this position. */
  position: LogPosition;
  /** Rows that were missing. */
  filled: number;
};

/** Events in memory at once. */
const PAGE = 500;

/**
 * Fills the guards of the log's events after `after`, at least up to `upTo`, into the database, page by page. The position is stored with each
 * page, so that the next process continues there. A long stretch that is too old to count is skipped. Ends early when the consumer stops.
 */
export async function* replayGuards(
  after: LogPosition | null,
  upTo: LogPosition,
  { log, session, clock, windows, positionBefore }: ReplayDeps,
): AsyncGenerator<ReplayStep, void> {
  let position = after;
  let mayBeOld = true;
  while (isEarlier(position, upTo)) {
    const page = await log.readAll({ prefixes: Object.values(invoicePrefix), after: position, limit: PAGE });
    const now = clock.now();
    const { keys, marks } = acceptedGuards(page, windows, now);
    const filled = await session.fill(keys, marks, now);
    const last = page.at(-1);
    // An empty page means that no invoice event is left before `upTo`.
    position = last?.position ?? upTo;
    const since = neededSince(windows, now);
    if (mayBeOld && page.length === PAGE && last !== undefined && isBefore(last.metadata.recordedAt ?? now, since)) {
      // Called once, because it reads the anchor of each day.
      mayBeOld = false;
      const start = await positionBefore(since);
      if (start !== null && isEarlier(position, start)) position = isEarlier(start, upTo) ? start : upTo;
    }
    await session.move({ guards: position, operatorRows: null });
    yield { position, filled };
  }
}
