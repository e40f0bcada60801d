import type { StreamName } from '../domain/shared/ids.js';

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Place in the whole log; order of positions is order of commits. Never a stream revision: the types keep them apart. */
export type LogPosition = bigint & { readonly __brand: 'LogPosition' };

/** Whether a place lies before another, in every engine; null is before every event. */
export const isEarlier = (place: LogPosition | null, than: LogPosition | null): boolean =>
  than !== null && (place === null || place < than);

/** Place in one stream, from 0. */
export type Revision = number;

/** There is no "any": every write is conditional (design section 3). */
export type Expected = { kind: 'none' } | { kind: 'exact'; revision: Revision };

/** An event as stored: personal fields sealed, metadata flat and complete, `hash` included. */
export type EventToAppend = {
  /** UUID, derived from the command id and the event's index. */
  id: string;
  type: string;
  data: JsonObject;
  metadata: Readonly<Record<string, string>>;
};

export type RecordedEvent = EventToAppend & { stream: StreamName; revision: Revision; position: LogPosition };

/**
 * `event` is what readers take it for, absent when they cannot read it; `contentHash` the SHA-256 of its hash text, absent when it has
 * none; `fault` says what is wrong with how it is kept.
 */
export type InspectedEvent = {
  position: LogPosition;
  stream: StreamName;
  revision: Revision;
  event?: RecordedEvent;
  contentHash?: string | undefined;
  fault?: string;
};

export type AppendResult =
  | { ok: true; revision: Revision }
  /** `actual` is the stream's last revision, null when it has none. */
  | { ok: false; actual: Revision | null };

/** Thrown when the engine may or may not have stored the events; the caller re-reads the stream before it answers. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown';
}

/** Thrown when the engine cannot be used now and certainly stored nothing. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
}

/** Thrown for an event over 256 KiB; nothing was stored. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** Thrown by a read that meets an event whose stored form nobody can read: whoever can write to the engine's tables changed it. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';

  constructor(position: LogPosition, stream: StreamName, revision: Revision) {
    super(
      `${stream}@${revision}, at position ${position} of the log, cannot be read: nfse audit verify names all such events`,
    );
  }
}

export const MAX_EVENT_BYTES = 256 * 1024;

export type Subscription = {
  /** Only streams whose name begins with one of these; never empty. */
  prefixes: readonly string[];
  /** Exclusive; null from the beginning. */
  after: LogPosition | null;
  signal: AbortSignal;
  /** Called when the connection was lost and before it is tried again. */
  onInterrupted?: (error: unknown) => void;
};

/** What a subscriber gets at once: at least one event, at most `SUBSCRIPTION_BATCH`, in order of the log. */
export type EventBatch = readonly RecordedEvent[];

export const SUBSCRIPTION_BATCH = 500;

export type EventLog = {
  /**
   * All or none. Appending the same ids at the same place again answers with the first result. Throws
   * `AppendOutcomeUnknown` when the connection was lost or the deadline passed meanwhile.
   */
  append(stream: StreamName, expected: Expected, events: readonly EventToAppend[]): Promise<AppendResult>;
  /** Forwards from `from` (default 0) or backwards from the end, at most `limit`. An absent stream is empty. */
  read(stream: StreamName, options?: ReadOptions): Promise<readonly RecordedEvent[]>;
  /** Of the last event that has been committed to the stream, by whatever process; null when it has none. */
  lastRevision(stream: StreamName): Promise<Revision | null>;
  /** The log forwards, exclusive of `after`; an empty answer means the end was reached. */
  readAll(options: { prefixes: readonly string[]; after: LogPosition | null; limit: number }): Promise<EventBatch>;
  /** The last events of these streams, at most `limit`, in order of the log; cut ones as in `readAll`. */
  readLast(options: { prefixes: readonly string[]; limit: number }): Promise<EventBatch>;
  /** Catch-up, then live; ends only when the signal aborts. A lost connection is retried with jitter, from the last event handed out. */
  subscribe(subscription: Subscription): AsyncIterable<EventBatch>;
  /**
   * For audits, of an engine whose tables an owner can edit: every event as it lies there, in order, of whatever stream, also where no
   * reader looks; an empty answer means the end. Such an engine counts its positions without a gap. Absent: `readAll` shows all there is.
   */
  inspect?(options: { after: LogPosition | null; limit: number }): Promise<readonly InspectedEvent[]>;
  /** Position of the last event that was appended through this port, null when there is none; an engine's own events do not count. */
  head(): Promise<LogPosition | null>;
  /** Which log this is, stored beside every checkpoint: a restored or replaced log has another one. */
  identity(): Promise<string>;
  /**
   * Retention: events below `before` of this stream are gone from `read` from then on; revisions of the others stay. The last
   * event is never cut. `readAll` and `subscribe` may show them until the engine frees their space, but never a later one of
   * them when an earlier is gone.
   */
  cut(stream: StreamName, before: Revision): Promise<void>;
};

export type ReadOptions = { from?: Revision; direction?: 'forwards' | 'backwards'; limit?: number };
