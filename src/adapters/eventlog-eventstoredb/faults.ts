import { ErrorType, isCommandError, StreamDeletedError } from '@eventstore/db-client';
import { AppendOutcomeUnknown, EventLogUnavailable, EventTooLarge } from '../../ports/event-log.js';

/** Thrown when the server refuses the user or does not know it; an operator has to act. */
export class EventLogAccessDenied extends EventLogUnavailable {
  readonly code = 'access_denied';
}

/** Thrown when a person deleted the stream permanently: no event can be written to it again. */
export class EventLogStreamDeleted extends EventLogUnavailable {
  readonly code = 'stream_deleted';
}

/** Thrown when the server ended a call without an error; the events that came before are valid. */
export class StreamLost extends EventLogUnavailable {
  readonly code = 'stream_lost';
}

/** Thrown when the server stayed silent for the whole time limit of a read. */
export class ServerSilent extends EventLogUnavailable {
  readonly code = 'server_silent';
}

/** Thrown by a call that ended before any byte was sent. */
export class NothingSent extends Error {
  override readonly name = 'NothingSent';
}

/**
 * Statuses that prove that an append was not stored: no connection existed, or the server says that it did not look at the append. Texts of grpc-js
 * 1.9 to 1.14 and of EventStoreDB 23.10, each observed.
 */
const NOT_TAKEN =
  /No connection established|Channel closed before call started|Name resolution failed|Server Is Not Ready|Server Is (?:Too )?Busy|No leader info available/;

type FaultType = `${ErrorType}`;

const typeOf = (error: unknown): FaultType | undefined =>
  error instanceof Error && isCommandError(error) ? error.type : undefined;

/** Whether a stream does not exist or has no event left. */
export const isStreamNotFound = (error: unknown): boolean => typeOf(error) === ErrorType.STREAM_NOT_FOUND;

/** Whether the server refused because another node leads; the client goes to that node with its next call. */
export const isNotLeader = (error: unknown): boolean => typeOf(error) === ErrorType.NOT_LEADER;

/** Whether the call failed before anything left this process; the next call makes a new connection. */
export const isChannelClosed = (error: unknown): boolean =>
  error instanceof NothingSent || /Channel closed before call started/.test(textOf(error));

/** Whether another node, or another connection to the same node, would answer the read. */
export const isMisdirected = (error: unknown): boolean => isNotLeader(error) || isChannelClosed(error);

/**
 * Whether a reader may continue after the last event that came: the connection or the call ended, or the server gave up a subscription that was too
 * slow. A server that stayed silent for the whole time limit is no such case.
 */
export const isLost = (error: unknown): boolean => {
  if (error instanceof StreamLost) return true;
  const cause = causeOf(error);
  const type = typeOf(cause);
  return isMisdirected(cause) || (type !== undefined && LOST.includes(type));
};

/** Whether the server may answer the same read later: it is lost, silent, not ready, or no node of its cluster is found. */
export const isAway = (error: unknown): boolean => {
  const cause = causeOf(error);
  return isLost(error) || cause instanceof ServerSilent || hasNoStatus(cause) || NOT_TAKEN.test(textOf(cause));
};

const LOST: readonly FaultType[] = [ErrorType.TIMEOUT, ErrorType.UNAVAILABLE, ErrorType.CANCELLED];

/** Whether the server gave up a subscription because its events were not taken. Text of EventStoreDB 23.10.6. */
export const isTooSlow = (error: unknown): boolean => {
  const cause = causeOf(error);
  return typeOf(cause) === ErrorType.TIMEOUT && /Consumer too slow/.test(textOf(cause));
};

/** Whether the server refused to read from a position at which no record begins. Text of EventStoreDB 23.10.6; later versions name the position. */
export const isNoSuchPlace = (error: unknown): boolean => {
  const cause = causeOf(error);
  return /Unexpected ReadAllResult: Error|invalid position/i.test(textOf(cause));
};

/** Returns the port's error for a failed append: `AppendOutcomeUnknown` unless it is certain that nothing was stored. */
export const meaningOfAppendFault = (error: unknown): Error => {
  if (error instanceof AppendOutcomeUnknown) return error;
  const type = typeOf(error);
  if (type === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED) {
    return new EventTooLarge('an append is larger than the server takes at once', { cause: error });
  }
  if (isRefusal(type) || isNotLeader(error) || NOT_TAKEN.test(textOf(error)) || hasNoStatus(error)) {
    return unavailable('the event log did not take the append', error);
  }
  return new AppendOutcomeUnknown('the event log was lost during an append', { cause: error });
};

/** Returns the port's error for a failed read; an `EventLogUnavailable` stays as it is. */
export const unavailable = (what: string, cause: unknown): EventLogUnavailable => {
  if (cause instanceof EventLogUnavailable) return cause;
  const type = typeOf(cause);
  if (type === ErrorType.ACCESS_DENIED) {
    return new EventLogAccessDenied(`${what}: the user of its address has no access`, { cause });
  }
  if (type === ErrorType.STREAM_DELETED) {
    const stream = cause instanceof StreamDeletedError ? ` ${cause.streamName}` : '';
    return new EventLogStreamDeleted(`${what}: the stream${stream} was deleted for good`, { cause });
  }
  return new EventLogUnavailable(what, { cause });
};

const isRefusal = (type: FaultType | undefined): boolean =>
  type === ErrorType.ACCESS_DENIED || type === ErrorType.STREAM_DELETED || type === ErrorType.INVALID_ARGUMENT;

/** The client throws plain errors only before it begins a call: no node was found, or the channel was closed. */
const hasNoStatus = (error: unknown): boolean =>
  error instanceof NothingSent ||
  (error instanceof Error && typeOf(error) === undefined && /^Failed to discover /.test(error.message));

/** What the client threw, of an error of the port that was made from it. */
const causeOf = (error: unknown): unknown => (error instanceof EventLogUnavailable ? (error.cause ?? error) : error);

const textOf = (error: unknown): string => (error instanceof Error ? error.message : '');
