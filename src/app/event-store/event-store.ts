import type { StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import {
  AppendOutcomeUnknown,
  type EventLog,
  type EventToAppend,
  type Expected,
  type GuardedAppend,
  type ReadOptions,
  type RecordedEvent,
  type Revision,
} from '../../ports/event-log.js';
import type { KeyedGuards } from '../../ports/keyed-guards.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { decodeEvent, decodeSealed, encodeEvents, type StreamEvent, type StreamVersion } from './codec.js';
import type { AppendContext, CommandContext } from './command-context.js';
import type { DomainEvent } from './event-types.js';

export type LoadedStream<E extends DomainEvent> = { events: readonly StreamEvent<E>[]; version: StreamVersion };

/**
 * The events as they are stored, opened, and the version that the next append must name. After an append under the command id of an earlier call the
 * stored events may be those of that call; a caller that repeats command ids must read the stream before it appends again.
 */
export type Appended = { ok: true; added: LoadedStream<DomainEvent> } | { ok: false };

/** `ok: false`: nothing was stored. */
export type Stored = { ok: boolean };

/** Thrown when neither the append nor the read after it shows what was stored; the API answers 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Thrown when the append may still come: the stream was read, and no event of it is there. */
export class AppendMayCome extends StoreUnavailable {
  constructor() {
    super('the append has an unknown outcome and has not shown up');
  }
}

/** `sealed`: personal fields stay as they are stored, so that no key is needed (ADR 3). */
export type LoadOptions = ReadOptions & { sealed?: true };

/** The event log as the use cases see it: typed events, opened, with the version that the next append must name. */
export type EventStore = {
  load<E extends DomainEvent>(stream: StreamName, options?: LoadOptions): Promise<LoadedStream<E>>;
  /** As of the log: how many loads of the last event alone share questions to it. */
  lastReadsAtOnce?: number;
  /** `ok: false`: another writer was first; reload and decide again. */
  append(
    stream: StreamName,
    version: StreamVersion,
    events: readonly DomainEvent[],
    context: AppendContext,
  ): Promise<Appended>;
  /**
   * Appends the first event of a stream and stores the guards of its request with it, all or nothing. `ok: false`: the key is known, or another
   * writer was first. Absent where the log cannot do it (ADR 42).
   */
  appendGuarded?(stream: StreamName, event: DomainEvent, context: CommandContext, guards: KeyedGuards): Promise<Stored>;
};

/**
 * The event store over a log. When an append has an unknown outcome, the store reads the stream to learn the outcome. An append throws
 * `StoreUnavailable` when the stream cannot be read, and `AppendMayCome` when the stream does not show the event. Everything else that the log or the
 * keys throw is thrown as it is.
 */
export const createEventStore = (log: EventLog, keys: SealingKeys): EventStore => ({
  load: async <E extends DomainEvent>(stream: StreamName, wanted?: LoadOptions): Promise<LoadedStream<E>> => {
    const { sealed = false, ...options } = wanted ?? {};
    const recorded = await log.read(stream, wanted === undefined ? undefined : options);
    const events = await Promise.all(
      recorded.map((event) => (sealed ? decodeSealed(event) : decodeEvent(event, keys))),
    );
    const last = options.direction === 'backwards' ? recorded[0] : recorded[recorded.length - 1];
    const isWhole = options.direction !== 'backwards' && (options.from ?? 0) === 0;
    if (isWhole) refuseWithoutStart(stream, recorded[0], last);
    const firstRecordedAt = isWhole ? recorded[0]?.metadata.recordedAt : undefined;
    const version = last && { kind: 'at' as const, revision: last.revision, hash: last.metadata.hash ?? '' };
    return {
      events: events as unknown as readonly StreamEvent<E>[],
      version: version === undefined ? NO_STREAM : present({ ...version, firstRecordedAt }),
    };
  },
  append: async (stream, version, events, context) => {
    const encoded = await encodeEvents(stream, version, events, context, keys);
    const [first] = encoded;
    if (first === undefined) return { ok: true, added: { events: [], version } };
    const expected: Expected = version.kind === 'none' ? version : { kind: 'exact', revision: version.revision };
    const firstRevision = version.kind === 'none' ? 0 : version.revision + 1;
    const { ok } = await log
      .append(stream, expected, encoded)
      .catch(outcomeByReading(log, stream, firstRevision, first));
    return ok ? { ok, added: addedBy(stream, version, events, encoded) } : { ok };
  },
  ...present({ lastReadsAtOnce: log.lastReadsAtOnce }),
  ...(log.appendGuarded === undefined ? {} : { appendGuarded: guarded(log, log.appendGuarded, keys) }),
});

/** What an append has made of the stream after `version`. */
const addedBy = (
  stream: StreamName,
  version: StreamVersion,
  events: readonly DomainEvent[],
  encoded: readonly EventToAppend[],
): LoadedStream<DomainEvent> => {
  const before = version.kind === 'none' ? -1 : version.revision;
  const firstRecordedAt = version.kind === 'none' ? encoded[0]?.metadata.recordedAt : version.firstRecordedAt;
  const added = encoded.map(({ id, metadata }, index) => {
    const revision = (before + 1 + index) as Revision;
    return { ...events[index], id, stream, revision, metadata } as StreamEvent<DomainEvent>;
  });
  const revision = (before + encoded.length) as Revision;
  const hash = encoded.at(-1)?.metadata.hash ?? '';
  return { events: added, version: present({ kind: 'at' as const, revision, hash, firstRecordedAt }) };
};

const guarded =
  (log: EventLog, append: GuardedAppend, keys: SealingKeys): NonNullable<EventStore['appendGuarded']> =>
  async (stream, event, context, guards) => {
    const [encoded] = await encodeEvents(stream, NO_STREAM, [event], context, keys);
    if (encoded === undefined) throw new Error('an event is encoded as one event');
    // Event and guards are stored together, so the event alone shows the outcome.
    return await append(stream, encoded, guards).then((ok) => ({ ok }), outcomeByReading(log, stream, 0, encoded));
  };

export const NO_STREAM: StreamVersion = { kind: 'none' };

/**
 * A whole stream begins at revision 0, except a test invoice that retention has cut. A stream whose first events a person hid must not be taken for
 * a shorter one: the invoice in it would be issued again.
 */
const refuseWithoutStart = (
  stream: StreamName,
  first: RecordedEvent | undefined,
  last: RecordedEvent | undefined,
): void => {
  if (first !== undefined && first.revision !== 0 && last?.type !== DELETED) throw hidden(stream);
};

const DELETED: DomainEvent['type'] = 'TestInvoiceDeleted';

const hidden = (stream: StreamName): Error =>
  new StoreUnavailable(`the first events of the stream ${stream} are hidden: nothing can be decided about it`);

/**
 * After an append of unknown outcome, reads the revision at which it would have begun. Our first id there means stored, another id that another
 * writer was first. When nothing is there, the events may still come, so neither yes nor no may be answered. Throws every other error.
 */
const outcomeByReading =
  (log: EventLog, stream: StreamName, firstRevision: number, { id }: EventToAppend) =>
  async (error: unknown): Promise<Stored> => {
    if (!(error instanceof AppendOutcomeUnknown)) throw error;
    const found = await log.read(stream, { from: firstRevision, limit: 1 }).catch((cause: unknown) => {
      throw new StoreUnavailable('the append has an unknown outcome and the stream cannot be read', { cause });
    });
    const first = found[0];
    if (first === undefined) throw new AppendMayCome();
    if (first.revision !== firstRevision) throw hidden(stream);
    return { ok: first.id === id };
  };
