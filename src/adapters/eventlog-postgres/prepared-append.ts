import type pg from 'pg';
import type { StreamName } from '../../domain/common/ids.js';
import { type StoredRecord, toRecord } from '../../domain/log/record.js';
import {
  type EventToAppend,
  EventTooLarge,
  type Expected,
  MAX_EVENT_BYTES,
  type Revision,
} from '../../ports/event-log.js';
import type { KeyedGuards } from '../../ports/keyed-guards.js';
import { integerArray, textArray, uuidArray } from '../sql/arrays.js';

/** An append whose events are already text: only the server can still refuse it. */
export type PreparedAppend = {
  stream: StreamName;
  /** -1 for a new stream. */
  expected: Revision;
  events: readonly (StoredRecord & { id: string; type: string })[];
  /** UTF-8 bytes of all records. */
  bytes: number;
  /** Stored with the event, of which there is one; such an append is accepted only when its key is free too. */
  guards?: KeyedGuards;
};

/** Writes the events as text. Throws `EventTooLarge` and `NotCanonical`; both mean that nothing was stored. */
export const prepareAppend = (
  stream: StreamName,
  expected: Expected,
  events: readonly EventToAppend[],
): PreparedAppend => {
  if (events.length === 0) throw new RangeError('an append holds at least one event');
  const last = expected.kind === 'none' ? -1 : expected.revision;
  let bytes = 0;
  const prepared = events.map((event, index) => {
    const stored = toRecord(stream, last + 1 + index, event);
    const size = Buffer.byteLength(stored.record);
    if (size > MAX_EVENT_BYTES) throw new EventTooLarge(`an event of ${size} bytes is over ${MAX_EVENT_BYTES}`);
    bytes += size;
    return { ...stored, id: event.id, type: event.type };
  });
  return { stream, expected: last, events: prepared, bytes };
};

/** One statement for all appends of a batch. */
export const statementOf = (appends: readonly PreparedAppend[]): pg.QueryConfig => {
  const guarded = appends.flatMap(({ guards }, index) => (guards === undefined ? [] : [{ guards, place: index + 1 }]));
  if (guarded.length === 0) return { name: 'append', text: APPEND, values: appendColumns(appends) };
  return {
    name: 'append-guarded',
    text: APPEND_GUARDED,
    values: [...appendColumns(appends), ...guardColumns(guarded)],
  };
};

const placeholders = (count: number): string => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ');

const APPEND = `select accepted, revisions from event_log_append(${placeholders(9)})`;

const APPEND_GUARDED = `select accepted, revisions from event_log_append_guarded(${placeholders(21)})`;

const appendColumns = (appends: readonly PreparedAppend[]): Buffer[] => {
  const events = appends.flatMap(({ stream, expected, events: own }) =>
    own.map((event, index) => ({ event, stream, revision: expected + 1 + index })),
  );
  return [
    textArray(appends.map(({ stream }) => stream)),
    integerArray(appends.map(({ expected }) => expected)),
    integerArray(appends.map((append) => append.events.length)),
    textArray(events.map(({ stream }) => stream)),
    integerArray(events.map(({ revision }) => revision)),
    uuidArray(events.map(({ event }) => event.id)),
    textArray(events.map(({ event }) => event.type)),
    textArray(events.map(({ event }) => event.record)),
    textArray(events.map(({ event }) => event.hash)),
  ];
};

/** `place`: of the append in its batch, from 1. */
type Guarded = { guards: KeyedGuards; place: number };

const guardColumns = (guarded: readonly Guarded[]): Buffer[] => {
  const text = (of: (guards: KeyedGuards) => string): Buffer => textArray(guarded.map(({ guards }) => of(guards)));
  const marks = guarded.flatMap(({ guards, place }) =>
    guards.fingerprints.placed.map((fingerprint) => ({ fingerprint, place })),
  );
  return [
    integerArray(guarded.map(({ place }) => place)),
    text(({ owner }) => owner.mode),
    text(({ owner }) => owner.companyId),
    text(({ owner }) => owner.keyHash),
    text(({ bodyHash }) => bodyHash),
    text(({ claim }) => claim.leaseToken),
    // A key that has its invoice needs no lease.
    text(({ claim }) => claim.acceptedAt),
    text(({ claim }) => claim.commandId),
    text(({ claim }) => claim.acceptedAt),
    text(({ invoiceId }) => invoiceId),
    integerArray(marks.map(({ place }) => place)),
    textArray(marks.map(({ fingerprint }) => fingerprint)),
  ];
};
