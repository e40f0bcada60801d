import { type AuditEvent, anchorPrefix, anchorStream, type LogAnchor } from '../../domain/audit/events.js';
import type { StreamName } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, type Instant, utcDay } from '../../domain/common/time.js';
import { ALL_STREAMS } from '../../domain/log/stream-prefixes.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog, LogPosition } from '../../ports/event-log.js';
import { operatorContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { create } from '../event-store/transact.js';
import { walkLog } from '../event-store/walk-log.js';
import { ANCHOR_LAG_EVENTS, createMovedHeads, positionOf } from './anchor-walk.js';

export type AnchorDeps = { log: EventLog; store: EventStore; clock: Clock; actor: `timer:${string}` };

/** An anchor as the log has it, with the hash of its event. */
export type RecordedAnchor = LogAnchor & { at: Instant; hash: string };

/** The anchor before an instant is searched this many days back. */
const LOOK_BACK_DAYS = 400;

/** Streams that are read at the same time. A young log has no anchor, and a slow machine would read its streams one by one for a minute. */
const DAYS_AT_ONCE = 8;

/** Events that other writers may append while the log is read. A verifier keeps the events between the end of an anchor and the anchor. */
const MAX_UNREAD_EVENTS = ANCHOR_LAG_EVENTS / 10;

/** The anchor of a UTC day (`YYYY-MM-DD`); undefined when the day has no anchor. */
export const findAnchor = (day: string, store: EventStore): Promise<RecordedAnchor | undefined> =>
  anchorIn(anchorStream(day), store);

const anchorIn = async (stream: StreamName, store: EventStore): Promise<RecordedAnchor | undefined> => {
  const { events } = await store.load<AuditEvent>(stream, { limit: 1 });
  const [event] = events;
  return event?.type === 'LogAnchored' ? { ...event.data, hash: event.metadata.hash ?? '' } : undefined;
};

/**
 * Appends the anchor of the current UTC day, or returns the one that the log already has. Undefined when there is nothing to anchor or the signal
 * aborted. Reads only what was appended since the last anchor. When two processes append at once, both return the first anchor.
 */
export const anchorLog = async (deps: AnchorDeps, signal?: AbortSignal): Promise<RecordedAnchor | undefined> => {
  const day = utcDay(deps.clock.now());
  const recorded = await findAnchor(day, deps.store);
  if (recorded !== undefined) return recorded;
  const read = await readSinceLastAnchor(deps, signal);
  if (read === undefined) return undefined;
  const { after, moved, upTo } = read;
  const now = deps.clock.now();
  const anchor: LogAnchor = {
    day,
    after,
    upTo: String(upTo),
    live: moved.part('live'),
    test: moved.part('test'),
    order: moved.order(),
  };
  const event = { type: 'LogAnchored' as const, data: { ...anchor, at: now } };
  await create(anchorStream(day), event, operatorContext('record_anchor', deps)(now), deps);
  return await findAnchor(day, deps.store);
};

/**
 * What moved since the newest anchor in the order of the log. That is the anchor of an earlier day, or one that lies after it: a clock that was
 * wrong for a while leaves an anchor of a later day. The events are then read again from the end of that anchor.
 */
const readSinceLastAnchor = async ({ log, store, clock }: AnchorDeps, signal?: AbortSignal) => {
  const byDay = await lastAnchorBefore(clock.now(), store, signal);
  if (signal?.aborted) return undefined;
  const read = await readMovedHeads(positionOf(byDay?.upTo ?? ''), log, signal);
  const newest = read?.anchors.at(-1);
  const newestAnchor = newest === undefined ? undefined : await anchorIn(newest, store);
  if (read === undefined || newestAnchor === undefined || newestAnchor.upTo === byDay?.upTo)
    return read && { ...read, after: byDay?.upTo ?? '' };
  const again = await readMovedHeads(positionOf(newestAnchor.upTo), log, signal);
  return again && { ...again, after: newestAnchor.upTo };
};

/** The newest anchor of the days before the day of the instant. Undefined without an anchor, and when the signal aborted. */
const lastAnchorBefore = async (
  instant: Instant,
  store: EventStore,
  signal?: AbortSignal,
): Promise<RecordedAnchor | undefined> => {
  for (let back = 1; back <= LOOK_BACK_DAYS && signal?.aborted !== true; back += DAYS_AT_ONCE) {
    const days = Array.from({ length: DAYS_AT_ONCE }, (_, further) =>
      utcDay(addSeconds(instant, -(back + further) * DAY_SECONDS)),
    );
    const newestFirst = await Promise.all(days.map((day) => findAnchor(day, store)));
    const newest = newestFirst.find((anchor) => anchor !== undefined);
    if (newest !== undefined) return newest;
  }
  return undefined;
};

/** Reads to the head of the log, and again to its new head, until a round reads at most `MAX_UNREAD_EVENTS` events. `anchors` are in their order. */
const readMovedHeads = async (after: LogPosition | null, log: EventLog, signal?: AbortSignal) => {
  const moved = createMovedHeads();
  const anchors: StreamName[] = [];
  let upTo = after;
  for (let read = Number.POSITIVE_INFINITY; read > MAX_UNREAD_EVENTS; ) {
    read = 0;
    const end = await log.head();
    if (end === null) break;
    for await (const page of walkLog(log, ALL_STREAMS, upTo)) {
      if (signal?.aborted) return undefined;
      const within = page.filter(({ position }) => position <= end);
      for (const { stream, revision, metadata } of within) {
        moved.add({ stream, revision, hash: metadata.hash ?? '' });
        if (stream.startsWith(anchorPrefix)) anchors.push(stream);
      }
      upTo = within.at(-1)?.position ?? upTo;
      read += within.length;
      if (within.length < page.length) break;
    }
  }
  return upTo === null || upTo === after ? undefined : { moved, anchors, upTo };
};

/** The clocks of two processes never differ by more than this. The order of positions is the order of commits, not of recorded times. */
const CLOCKS_APART_SECONDS = DAY_SECONDS;

/**
 * A position after which every event lies that was recorded at `since` or later; null is the beginning of the log. Everything that an anchor
 * covers was appended before the anchor was made, so an anchor made well before `since` gives such a position in either log engine. Null also once
 * the signal has aborted.
 */
export const positionBefore = async (
  since: Instant,
  store: EventStore,
  signal?: AbortSignal,
): Promise<LogPosition | null> => {
  const sureBy = addSeconds(since, -CLOCKS_APART_SECONDS);
  const anchor = await lastAnchorBefore(sureBy, store, signal);
  // The anchor of a day may have been made after the midnight that ends the day.
  return anchor === undefined || anchor.at > sureBy ? null : positionOf(anchor.upTo);
};
