import {
  type AppendExpectedRevision,
  type EventData,
  NO_STREAM,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { StreamName } from '../../domain/common/ids.js';
import { createBackoff } from '../../lib/backoff.js';
import { pause, within } from '../../lib/pause.js';
import {
  AppendOutcomeUnknown,
  type AppendResult,
  EventLogUnavailable,
  type EventToAppend,
  type Expected,
  type RecordedEvent,
  type Revision,
} from '../../ports/event-log.js';
import type { Connection } from './client.js';
import { toServerEvents } from './events.js';
import { isChannelClosed, isNotLeader, meaningOfAppendFault } from './faults.js';

export type AppendDeps = Pick<Connection, 'client' | 'credentials'> & {
  /** Longest time from the call to an answer. */
  deadlineMs: number;
  /** Throws `EventLogUnavailable` when the log lacks an event that this process knows. */
  ensureHeld(): Promise<void>;
  read(stream: StreamName, from: Revision, limit: number): Promise<readonly RecordedEvent[]>;
};

/** Pause before an append that was certainly not stored is sent again; the client changes its connection meanwhile. */
const RETRY_MS = 25;

/** The deadline around a call of the client ends this much later than the client's own, which says more. */
const CLIENT_FIRST_MS = 25;

/** One conditional append, as `EventLog.append` describes it. */
export const appendTo = async (
  deps: AppendDeps,
  stream: StreamName,
  expected: Expected,
  events: readonly EventToAppend[],
): Promise<AppendResult> => {
  const first = expected.kind === 'none' ? 0 : expected.revision + 1;
  const prepared = toServerEvents(stream, first, events);
  const revision = expected.kind === 'none' ? NO_STREAM : BigInt(expected.revision);
  const endsAt = performance.now() + deps.deadlineMs;
  const answer = await retryUntilStored(deps, stream, revision, prepared, endsAt);
  const last = first + events.length - 1;
  if (answer.ok) {
    if (answer.revision === last) return answer;
    throw new AppendOutcomeUnknown('the event log accepted an append at another place than the expected one');
  }
  await untilShown(deps, stream, answer.actual, endsAt);
  return (await isStoredAlready(deps, stream, first, last, answer.actual, events))
    ? { ok: true, revision: last }
    : answer;
};

/** Sends an append again if it was certainly not stored and an answer can still come in time; any other fault is thrown at once. */
const retryUntilStored = async (
  deps: AppendDeps,
  stream: StreamName,
  revision: AppendExpectedRevision,
  events: readonly EventData[],
  endsAt: number,
): Promise<AppendResult> => {
  for (;;) {
    // The server behind another connection may have an older state of the log.
    await within(Math.max(1, endsAt - performance.now()), deps.ensureHeld(), notLooked);
    try {
      return await send(deps, stream, revision, events, Math.max(1, Math.floor(endsAt - performance.now())));
    } catch (error) {
      const again = isNotLeader(error) || isChannelClosed(error);
      if (!again || endsAt - performance.now() < deps.deadlineMs / 4) throw meaningOfAppendFault(error);
      await pause(RETRY_MS);
    }
  }
};

/**
 * With `credentials` the client avoids its batch path, on which a deadline does not hold, one lost connection rejects the appends of all others, and
 * a late answer ends the process (ADR 12). The client's deadline does not cover finding a node, so a second deadline surrounds the call.
 */
const send = async (
  { client, credentials }: AppendDeps,
  stream: StreamName,
  expectedRevision: AppendExpectedRevision,
  events: readonly EventData[],
  ms: number,
): Promise<AppendResult> => {
  const options = { expectedRevision, credentials, requiresLeader: true, deadline: ms };
  try {
    const appending = client.appendToStream(stream, [...events], options);
    const { success, nextExpectedRevision } = await within(ms + CLIENT_FIRST_MS, appending, tooLate);
    const revision = Number(nextExpectedRevision);
    if (success) return { ok: true, revision };
    return { ok: false, actual: revision < 0 ? null : revision };
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    const { actualVersion } = error;
    return { ok: false, actual: typeof actualVersion === 'bigint' ? Number(actualVersion) : null };
  }
};

const tooLate = (): Error => new AppendOutcomeUnknown('the event log did not answer the append in time');

const notLooked = (): Error => new EventLogUnavailable('the event log did not answer a read before an append in time');

/** Pauses between the reads that look for the events of another writer. */
const SHOWN_MS = { first: 10, longest: 200 };

/**
 * Resolves when reads show the stream's last revision that a conflict names. The leader refuses an append because of events that it has written, and
 * shows these events later, when a majority of the nodes and its index have them (ADR 12). Callers read the stream to learn who was first, so an
 * unseen event would be taken for no event. Throws `EventLogUnavailable` when the time is over: the refused append was not stored.
 */
const untilShown = async (
  { read }: AppendDeps,
  stream: StreamName,
  actual: Revision | null,
  endsAt: number,
): Promise<void> => {
  if (actual === null) return;
  const waits = createBackoff(SHOWN_MS.first, SHOWN_MS.longest);
  while ((await read(stream, actual, 1)).length === 0) {
    if (performance.now() >= endsAt)
      throw new EventLogUnavailable('the event log refused an append because of an event that it does not show yet');
    await pause(waits.next());
  }
};

/** The server recognizes most repeated appends itself; a conflict that it reports may still be our own events. */
const isStoredAlready = async (
  deps: AppendDeps,
  stream: StreamName,
  first: Revision,
  last: Revision,
  actual: Revision | null,
  events: readonly EventToAppend[],
): Promise<boolean> => {
  if (actual === null || actual < last) return false;
  const stored = await deps.read(stream, first, events.length);
  return events.every(({ id }, index) => stored[index]?.id === id && stored[index]?.revision === first + index);
};
