import { randomUUID } from 'node:crypto';
import type { StreamName } from '../../../src/domain/common/ids.js';
import { fromRecord, type StoredRecord, toRecord } from '../../../src/domain/log/record.js';
import {
  type EventLog,
  type EventToAppend,
  EventTooLarge,
  type Expected,
  type GuardedAppend,
  type LogPosition,
  MAX_EVENT_BYTES,
  type RecordedEvent,
  type Revision,
  SUBSCRIPTION_BATCH,
  type Subscription,
} from '../../../src/ports/event-log.js';
import type { MemoryGuards } from './guards.js';

type Stored = StoredRecord & { stream: StreamName; revision: Revision; id: string; position: LogPosition };

/**
 * The log of unit tests: keeps the promises of the durable logs and stores events as the same text. `guards`: those of the same database, if the log
 * is to append together with them.
 */
export const memoryEventLog = (guards?: () => Pick<MemoryGuards, 'isKnown' | 'storeFinished'>): EventLog => {
  const identity: string = randomUUID();
  const streams = new Map<StreamName, Stored[]>();
  let all: Stored[] = [];
  let head = 0n;
  const sleepers = new Set<() => void>();

  const commit = (stream: StreamName, from: Revision, events: readonly (StoredRecord & { id: string })[]): void => {
    const added = events.map((event, index) => {
      head += 1n;
      return { ...event, stream, revision: from + index, position: head as LogPosition };
    });
    const stored = streams.get(stream);
    if (stored === undefined) streams.set(stream, [...added]);
    else stored.push(...added);
    all.push(...added);
    for (const wake of [...sleepers]) wake();
  };

  const readAll: EventLog['readAll'] = async ({ prefixes, after, limit }) => {
    const found: RecordedEvent[] = [];
    for (let index = indexAfter(all, after ?? 0n); index < all.length && found.length < limit; index += 1) {
      const event = all[index];
      if (event !== undefined && prefixes.some((prefix) => event.stream.startsWith(prefix))) found.push(toEvent(event));
    }
    return found;
  };

  const nextAppend = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        sleepers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      sleepers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  async function* subscribe({ prefixes, after, signal }: Subscription) {
    let cursor = after;
    while (!signal.aborted) {
      const seen = head;
      const batch = await readAll({ prefixes, after: cursor, limit: SUBSCRIPTION_BATCH });
      if (signal.aborted) return;
      cursor = batch.at(-1)?.position ?? cursor;
      if (batch.length > 0) yield batch;
      else if (head === seen) await nextAppend(signal);
    }
  }

  const appendGuarded =
    (shared: NonNullable<typeof guards>): GuardedAppend =>
    async (stream, event, own) => {
      const prepared = prepare(stream, 0, [event]);
      if (shared().isKnown(own.owner) || streams.has(stream)) return false;
      shared().storeFinished(stream, own);
      commit(stream, 0, prepared);
      return true;
    };

  return {
    ...(guards && { appendGuarded: appendGuarded(guards) }),
    append: async (stream, expected, events) => {
      const firstRevision = firstRevisionOf(expected);
      const prepared = prepare(stream, firstRevision, events);
      const stored = streams.get(stream) ?? [];
      const actual = stored.at(-1)?.revision ?? null;
      if ((actual ?? -1) === firstRevision - 1) {
        commit(stream, firstRevision, prepared);
        return { ok: true, revision: firstRevision + prepared.length - 1 };
      }
      const idAt = (revision: Revision): string | undefined => stored.find((e) => e.revision === revision)?.id;
      const again = prepared.every(({ id }, index) => idAt(firstRevision + index) === id);
      return again ? { ok: true, revision: firstRevision + prepared.length - 1 } : { ok: false, actual };
    },
    read: async (stream, { from = 0, direction = 'forwards', limit = Number.POSITIVE_INFINITY } = {}) => {
      const stored = streams.get(stream) ?? [];
      const chosen = direction === 'forwards' ? stored.filter(({ revision }) => revision >= from) : stored.toReversed();
      return chosen.slice(0, limit).map(toEvent);
    },
    lastEvent: async (stream) => {
      const last = streams.get(stream)?.at(-1);
      return last === undefined ? null : { revision: last.revision, hash: last.hash };
    },
    readAll,
    readLast: async ({ prefixes, limit }) => {
      const ours = all.filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)));
      return limit <= 0 ? [] : ours.slice(-limit).map(toEvent);
    },
    subscribe,
    head: async () => (head === 0n ? null : (head as LogPosition)),
    identity: async () => identity,
    cut: async (stream, before) => {
      const last = streams.get(stream)?.at(-1)?.revision ?? 0;
      const stays = (event: Stored): boolean => event.stream !== stream || event.revision >= Math.min(before, last);
      streams.set(stream, (streams.get(stream) ?? []).filter(stays));
      all = all.filter(stays);
    },
  };
};

const firstRevisionOf = (expected: Expected): Revision => (expected.kind === 'none' ? 0 : expected.revision + 1);

const prepare = (stream: StreamName, firstRevision: Revision, events: readonly EventToAppend[]) => {
  if (events.length === 0) throw new RangeError('an append holds at least one event');
  return events.map((event, index) => {
    const stored = toRecord(stream, firstRevision + index, event);
    if (Buffer.byteLength(stored.record) > MAX_EVENT_BYTES) throw new EventTooLarge('an event is over 256 KiB');
    return { ...stored, id: event.id.toLowerCase() };
  });
};

const toEvent = ({ record, hash, position }: Stored): RecordedEvent => ({ ...fromRecord({ record, hash }), position });

/** Index of the first event behind a position; `all` is in order of positions. */
const indexAfter = (all: readonly Stored[], after: bigint): number => {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((all[middle]?.position ?? 0n) > after) high = middle;
    else low = middle + 1;
  }
  return low;
};
