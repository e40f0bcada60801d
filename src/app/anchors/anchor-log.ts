import { randomUUID } from 'node:crypto';
import { type AuditEvent, anchorStream, type LogAnchor } from '../../domain/log/audit-events.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog, LogPosition } from '../../ports/event-log.js';
import { ANCHOR_TAIL, createStretch } from '../audit/anchor-walk.js';
import { walkLog } from '../audit/walk.js';
import { type EventStore, NO_STREAM } from '../event-store/event-store.js';

export type AnchorDeps = { log: EventLog; store: EventStore; clock: Clock; actor: `timer:${string}` };

/** An anchor as it stands in the log, with the hash of its event. */
export type StandingAnchor = LogAnchor & { at: Instant; hash: string };

const DAY_SECONDS = 86_400;

/** How many days without an anchor are looked back; after more, the next one covers the log from its beginning. */
const LOOK_BACK_DAYS = 400;

/** What others append while the stretch is read; an anchor must not be further behind the log than a verifier keeps. */
const CLOSE_ENOUGH = ANCHOR_TAIL / 10;

/** Reads of an anchored day; undefined when the day has none. */
export const findAnchor = async (day: string, store: EventStore): Promise<StandingAnchor | undefined> => {
  const { events } = await store.load<AuditEvent>(anchorStream(day), { limit: 1 });
  const [event] = events;
  return event?.type === 'LogAnchored' ? { ...event.data, hash: event.metadata.hash ?? '' } : undefined;
};

/**
 * Appends the anchor of the current UTC day unless it stands; undefined when there is nothing to anchor, or the signal aborted.
 * Reads what was recorded since the anchor before, so its cost is that of a day. Whoever comes second finds the first one's.
 */
export const anchorLog = async (deps: AnchorDeps, signal?: AbortSignal): Promise<StandingAnchor | undefined> => {
  const day = dayOf(deps.clock.now());
  const standing = await findAnchor(day, deps.store);
  if (standing !== undefined) return standing;
  const after = (await lastAnchorBefore(`${day}T00:00:00.000Z`, deps.store))?.upTo;
  const read = await readStretch(after === undefined ? null : (BigInt(after) as LogPosition), deps.log, signal);
  if (read === undefined) return undefined;
  const { stretch, upTo } = read;
  const now = deps.clock.now();
  const anchor: LogAnchor = {
    ...{ day, after: after ?? '', upTo: String(upTo) },
    ...{ live: stretch.part('live'), test: stretch.part('test') },
  };
  const commandId = randomUUID();
  const ids = { commandId, correlationId: commandId, causationId: commandId };
  const event = { type: 'LogAnchored' as const, data: { ...anchor, at: now } };
  const context = { ...ids, actor: deps.actor, now, site: 'record_anchor' as const };
  await deps.store.append(anchorStream(day), NO_STREAM, [event], context);
  return await findAnchor(day, deps.store);
};

const dayOf = (at: Instant): string => at.slice(0, 10);

/** Of the days before that of the instant. */
export const lastAnchorBefore = async (instant: Instant, store: EventStore): Promise<StandingAnchor | undefined> => {
  let at = instant;
  for (let back = 0; back < LOOK_BACK_DAYS; back += 1) {
    at = addSeconds(at, -DAY_SECONDS);
    const found = await findAnchor(dayOf(at), store);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Up to where the log ended a moment ago: while it was read much may have been added, which is then read as well. */
const readStretch = async (after: LogPosition | null, log: EventLog, signal?: AbortSignal) => {
  const stretch = createStretch();
  let upTo = after;
  for (let read = Number.POSITIVE_INFINITY; read > CLOSE_ENOUGH; ) {
    read = 0;
    const end = await log.head();
    if (end === null) break;
    for await (const page of walkLog(log, ALL_STREAMS, upTo)) {
      if (signal?.aborted) return undefined;
      const within = page.filter(({ position }) => position <= end);
      for (const { stream, revision, metadata } of within) {
        stretch.add({ stream, revision, hash: metadata.hash ?? '' });
      }
      upTo = within[within.length - 1]?.position ?? upTo;
      read += within.length;
      if (within.length < page.length) break;
    }
  }
  return upTo === null || upTo === after ? undefined : { stretch, upTo };
};
