import { Metadata, type ServiceError, status } from '@grpc/grpc-js';

/** How a call of the double goes wrong. */
type Fault =
  /** The request is taken and forgotten. */
  | { kind: 'silent' }
  /** Of an append: it is stored, but not answered. */
  | { kind: 'silent_after_storing' }
  | { kind: 'slow'; ms: number }
  /** Of a subscription: it delivers no event, and reports the searched position so many times, with this pause. */
  | { kind: 'searching'; checkpoints: number; everyMs: number }
  /** Of an append: answered as a conflict, for any content of the stream. */
  | { kind: 'conflict'; current: bigint }
  | { kind: 'refuse'; error: ServiceError }
  /** Of a read: the connection of the call ends after so many events. */
  | { kind: 'drop'; after: number };

export type Faults = {
  appends?: Fault | undefined;
  reads?: Fault | undefined;
  subscriptions?: Fault | undefined;
  /** Of a node that does not lead: it refuses each call that asks for the leader, and answers the others by itself. */
  notLeading?: ServiceError | undefined;
  /** Subscriptions stay open and deliver no new events. */
  muted?: boolean;
  /** Live messages that may wait for their taker; the server's own number unless a test changes it. */
  liveBuffer?: number;
  /** Every so-many-th read of the whole log is lost. */
  dropEvery?: number;
  /** Reads of the whole log so far; a test may set it back. */
  wholeLogReads?: number;
  /** Set by the double: number of open subscriptions. */
  openSubscriptions?: number;
  /** Called when a subscription has sent what there was and begins to go live; `drop`: its buffer is full. */
  onGoingLive?: (() => 'drop' | undefined) | undefined;
};

export const refusal = (code: status, details: string, entries: Record<string, string> = {}): ServiceError => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(entries)) metadata.set(key, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

export const notLeader = (host: string, port: number): ServiceError =>
  refusal(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': String(port),
  });

export const notReady = (): ServiceError => refusal(status.UNAVAILABLE, 'Server Is Not Ready');

export const timedOut = (): ServiceError => refusal(status.ABORTED, 'Operation timed out: a commit took too long');

export const tooSlow = (state: 'live' | 'transitioning to live'): ServiceError =>
  refusal(
    status.ABORTED,
    `Operation timed out: Consumer too slow to handle event while ${state}. Client resubscription required.`,
  );

export const accessDenied = (): ServiceError =>
  refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

export const unauthenticated = (): ServiceError => refusal(status.UNAUTHENTICATED, 'Bad HTTP status code: 401');

export const streamDeleted = (stream: string): ServiceError =>
  refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });

export const appendTooLarge = (max: number): ServiceError =>
  refusal(status.INVALID_ARGUMENT, `Maximum Append Size of ${max} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(max),
  });
