import type { Branded } from '../domain/common/brand.js';
import type { StreamName } from '../domain/common/ids.js';
import type { KeyedGuards } from './keyed-guards.js';

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Position in the whole log. The order of positions is the order of commits. The type keeps it apart from a stream revision. */
export type LogPosition = bigint & { readonly __brand: 'LogPosition' };

/** Whether a position lies before another one, in every engine; null lies before every event. */
export const isEarlier = (place: LogPosition | null, than: LogPosition | null): boolean =>
  than !== null && (place === null || place < than);

/** Number of an event in its stream, from 0. */
export type Revision = Branded<number, 'revision'>;

/** There is no "any": every append is conditional (docs/architecture.md#streams-and-events). */
export type Expected = { kind: 'none' } | { kind: 'exact'; revision: Revision };

/** An event as stored: personal fields sealed, metadata flat and complete, `hash` included. */
export type EventToAppend = {
  /** UUID, derived from the command id and the event's index. */
  id: string;
  type: string;
  data: JsonObject;
  metadata: Readonly<Record<string, string>>;
  /** The text that `metadata.hash` covers, where the caller has it; a log that stores the text needs not write it again. */
  hashText?: string;
};

export type RecordedEvent = Omit<EventToAppend, 'hashText'> & {
  stream: StreamName;
  revision: Revision;
  position: LogPosition;
};

/** An event by what tells it from every other: the hash also says what was before it, so it is another one in a log that was set back. */
export type LastEvent = Pick<RecordedEvent, 'revision'> & { hash: string };

/** A row of an engine's table: the record that readers take an event from, and the columns by which they find it. */
export type StoredEvent = {
  position: LogPosition;
  stream: StreamName;
  revision: Revision;
  id: string;
  type: string;
  record: string;
  hash: string;
};

export type AppendResult =
  | { ok: true; revision: Revision }
  /** `actual` is the stream's last revision, null when it has none. Reads show the stream up to there. */
  | { ok: false; actual: Revision | null };

/** Thrown when the engine may or may not have stored the events. The caller reads the stream again before it answers. */
export class AppendOutcomeUnknown extends Error {
  override readonly name = 'AppendOutcomeUnknown';
}

/** Thrown when the engine cannot be used now; nothing was stored. */
export class EventLogUnavailable extends Error {
  override readonly name = 'EventLogUnavailable';
}

/**
 * What keeps a process from an engine that it has not reached yet. `leaderless`: the servers of a cluster answer, and none leads. `untrusted`, `no_tls`,
 * `needs_tls`: what a TLS handshake shows.
 */
export type EventLogObstacle = 'away' | 'leaderless' | 'untrusted' | 'no_tls' | 'needs_tls';

/** Thrown when the engine was never reached by this process, with the obstacle. `said`: the code of the operating system or of OpenSSL, which holds no value. */
export class EventLogUnreachable extends EventLogUnavailable {
  constructor(
    readonly obstacle: EventLogObstacle,
    readonly said: string,
    { message, cause }: EventLogUnavailable,
  ) {
    super(message, { cause });
  }
}

/**
 * Thrown when no request is accepted, because a pause of issuing is recorded (ADR 14). Nothing was stored. A process that has not seen the pause yet
 * gets it from the log or from the guards.
 */
export class IssuingPaused extends EventLogUnavailable {
  constructor() {
    super('a pause of issuing is recorded');
  }
}

/**
 * Thrown to a subscription when the log has lost events that this process has read, as after a failover to a standby that had not received them. Other
 * events may be at their positions, so a follower of the log must read its stored checkpoint again.
 */
export class EventLogSetBack extends Error {
  override readonly name = 'EventLogSetBack';

  constructor() {
    super('the event log has lost events that were read before');
  }
}

/** Thrown for an event over 256 KiB; nothing was stored. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/** Thrown by a read that meets an event whose stored form cannot be read: a person with write access to the tables changed it. */
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
  /** Only streams whose names begin with one of these prefixes; never empty. */
  prefixes: readonly string[];
  /** Exclusive; null from the beginning. */
  after: LogPosition | null;
  signal: AbortSignal;
  /** Called when the connection was lost, before the next try. */
  onInterrupted?: (error: unknown) => void;
};

/** The events of one delivery: at least one, at most `SUBSCRIPTION_BATCH`, in order of the log. */
export type EventBatch = readonly RecordedEvent[];

export const SUBSCRIPTION_BATCH = 500;

/**
 * Appends the first event of a stream together with the guards of its request, all in one transaction. False when the key has a row or the stream
 * an event: nothing is stored then. Throws as `EventLog.append`; only a log in the database of the guards can do it (ADR 42).
 */
export type GuardedAppend = (stream: StreamName, event: EventToAppend, guards: KeyedGuards) => Promise<boolean>;

/**
 * Whether a log that shares its database has lost events which this process has read or appended, as after a failover to a standby that had not
 * received them (ADR 14). From the moment that this is noticed until `accept`, appends throw `EventLogUnavailable`.
 */
export type LostEnd = {
  /** Asks the server. Stays true until `accept`. */
  isLost(): Promise<boolean>;
  /** Calls the listener each time that a loss is noticed, by any read or append of the process. */
  onLost(listener: () => void): void;
  /** To be called when a pause of issuing is recorded and known in this process: appends are taken again. */
  accept(): void;
};

/**
 * Whether a log apart from the database has the last events that this process has seen and appended (ADR 14). `missing`: the log ends before one, as
 * on a node that lags for moments. `replaced`: another event is in the place of one, so this is another log, or it was set back and has grown again.
 */
export type RememberedEvents = {
  /** Until it finds every event, appends throw `EventLogUnavailable`. Throws `EventLogUnavailable`. */
  look(): Promise<'held' | 'missing' | 'replaced'>;
  /** To be called when a pause of issuing is recorded: the events of what the log has lost are not looked for any more. */
  forget(): void;
};

export type EventLog = {
  /**
   * Appends all events or none. Appending the same ids at the same revision again returns the first result. Throws
   * `AppendOutcomeUnknown` when the connection was lost or the deadline passed meanwhile.
   */
  append(stream: StreamName, expected: Expected, events: readonly EventToAppend[]): Promise<AppendResult>;
  /** Absent where the guards are in another database than the log. */
  appendGuarded?: GuardedAppend;
  /** Forwards from `from` (default 0) or backwards from the end, at most `limit`. An absent stream is empty. */
  read(stream: StreamName, options?: ReadOptions): Promise<readonly RecordedEvent[]>;
  /** How many reads of the last event alone (`backwards`, `limit` 1) share questions to the engine. Absent where each is a question. */
  lastReadsAtOnce?: number;
  /** The last committed event of the stream, by any process; null for an absent stream. */
  lastEvent(stream: StreamName): Promise<LastEvent | null>;
  /** The log forwards, exclusive of `after`. An empty answer means the end. */
  readAll(options: { prefixes: readonly string[]; after: LogPosition | null; limit: number }): Promise<EventBatch>;
  /** The last events of these streams, at most `limit`, in order of the log. Cut events may be missing, as in `readAll`. */
  readLast(options: { prefixes: readonly string[]; limit: number }): Promise<EventBatch>;
  /**
   * Catch-up, then live; ends only when the signal aborts. A lost connection is retried with jitter, after the last delivered event. Throws
   * `EventLogSetBack` where the log shares the database of the checkpoints; elsewhere guard readiness finds a log that was set back (ADR 14).
   */
  subscribe(subscription: Subscription): AsyncIterable<EventBatch>;
  /**
   * For audits of an engine whose tables an owner can edit: every row in order, of any stream, also where no reader looks. An
   * empty answer means the end. Such an engine numbers its positions without a gap. Where absent, `readAll` returns everything.
   */
  readStored?(options: { after: LogPosition | null; limit: number }): Promise<readonly StoredEvent[]>;
  /**
   * For audits of an engine whose users can hide events from `read` which `readAll` still returns: the streams with these prefixes whose beginning is
   * hidden, each with the first revision that `read` may still find, null for one that was deleted for good. Where absent, only `cut` hides events.
   */
  readHidden?(prefixes: readonly string[]): Promise<ReadonlyMap<StreamName, Revision | null>>;
  /** Absent where the log is apart from the database: guard readiness compares the two there (ADR 14). */
  lostEnd?: LostEnd;
  /** Absent where log and database are one. */
  remembered?: RememberedEvents;
  /** Position of the last event appended through this port, null without any; an engine's internal events do not count. */
  head(): Promise<LogPosition | null>;
  /** Whether a reader can begin after this position. Absent where a reader can begin at any number. */
  hasPlace?(position: LogPosition): Promise<boolean>;
  /** Identity of this log, stored beside every checkpoint. A restored or replaced log has another identity. */
  identity(): Promise<string>;
  /** As `identity`, but undefined for a log that has none, which the question would otherwise give to it. Absent where each log has one. */
  storedIdentity?(): Promise<string | undefined>;
  /**
   * Retention: `read` no longer returns events below `before`; the other events keep their revisions. The last event is never cut.
   * `readAll` and `subscribe` may return cut events until the engine frees their space, but never a later one without the earlier ones.
   */
  cut(stream: StreamName, before: Revision): Promise<void>;
};

export type ReadOptions = { from?: Revision; direction?: 'forwards' | 'backwards'; limit?: number };

/** The identity of the log, without giving one to a log that has none; undefined for that log. Throws `EventLogUnavailable`. */
export const identityIfGiven = (log: Pick<EventLog, 'identity' | 'storedIdentity'>): Promise<string | undefined> =>
  log.storedIdentity === undefined ? log.identity() : log.storedIdentity();
