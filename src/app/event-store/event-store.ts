import type { StreamName } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import { AppendOutcomeUnknown, type EventLog, type Expected, type ReadOptions } from '../../ports/event-log.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';
import { type DecodedEvent, decodeEvent, decodeSealed, encodeEvents, type StreamVersion } from './codec.js';
import type { CommandContext } from './command-context.js';
import type { DomainEvent } from './event-types.js';

export type LoadedStream<E extends DomainEvent> = { events: readonly DecodedEvent<E>[]; version: StreamVersion };

/** No version is returned: after a repeated append the stored hash may be that of the first try, so a caller that appends again must reload. */
type Appended = { ok: boolean };

/** Thrown when neither the append nor the read after it shows what was stored; the API answers 503. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** `sealed`: personal fields stay as they are stored, so that no key is needed (ADR 3). */
export type LoadOptions = ReadOptions & { sealed?: true };

/** The event log as the use cases see it: typed events, opened, with the version that the next append must name. */
export type EventStore = {
  load<E extends DomainEvent>(stream: StreamName, options?: LoadOptions): Promise<LoadedStream<E>>;
  /** `ok: false`: another writer was first; reload and decide again. */
  append(
    stream: StreamName,
    version: StreamVersion,
    events: readonly DomainEvent[],
    context: CommandContext,
  ): Promise<Appended>;
};

export const createEventStore = (log: EventLog, keys: SealingKeys): EventStore => ({
  load: async <E extends DomainEvent>(stream: StreamName, wanted?: LoadOptions): Promise<LoadedStream<E>> => {
    const { sealed = false, ...options } = wanted ?? {};
    const recorded = await log.read(stream, wanted === undefined ? undefined : options);
    const events = await Promise.all(
      recorded.map((event) => (sealed ? decodeSealed(event) : decodeEvent(event, keys))),
    );
    const last = options.direction === 'backwards' ? recorded[0] : recorded[recorded.length - 1];
    const isWhole = options.direction !== 'backwards' && (options.from ?? 0) === 0;
    const firstRecordedAt = isWhole ? recorded[0]?.metadata.recordedAt : undefined;
    const version = last && { kind: 'at' as const, revision: last.revision, hash: last.metadata.hash ?? '' };
    return {
      events: events as unknown as readonly DecodedEvent<E>[],
      version: version === undefined ? NO_STREAM : present({ ...version, firstRecordedAt }),
    };
  },
  append: async (stream, version, events, context) => {
    const encoded = await encodeEvents(stream, version, events, context, keys);
    const first = encoded[0];
    if (first === undefined) return { ok: true };
    const expected: Expected = version.kind === 'none' ? version : { kind: 'exact', revision: version.revision };
    const firstRevision = version.kind === 'none' ? 0 : version.revision + 1;
    const { ok } = await log.append(stream, expected, encoded).catch((error: unknown) => {
      if (!(error instanceof AppendOutcomeUnknown)) throw error;
      return outcomeByReading(log, stream, firstRevision, first.id);
    });
    return { ok };
  },
});

export const NO_STREAM: StreamVersion = { kind: 'none' };

/**
 * Reads the revision at which the append would have begun. Our first id there means stored, another id that another writer was first. When
 * nothing is there, the events may still come, so neither yes nor no may be answered.
 */
const outcomeByReading = async (
  log: EventLog,
  stream: StreamName,
  firstRevision: number,
  firstId: string,
): Promise<Appended> => {
  const found = await log.read(stream, { from: firstRevision, limit: 1 }).catch((error: unknown) => {
    throw new StoreUnavailable('the append has an unknown outcome and the stream cannot be read', { cause: error });
  });
  const first = found[0];
  if (first === undefined) throw new StoreUnavailable('the append has an unknown outcome and has not shown up');
  return { ok: first.id === firstId };
};
