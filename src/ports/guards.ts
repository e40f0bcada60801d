import type { CompanyId, InvoiceId, Mode, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { LogPosition } from './event-log.js';

/** Whose key it is: keys are scoped per company and mode (reading 13). */
export type KeyOwner = { mode: Mode; companyId: CompanyId; keyHash: string };

/** `commandId` and `acceptedAt` are made once per claim; a retry after a crash goes on with the same ones. */
export type Claim = { leaseToken: string; commandId: string; acceptedAt: Instant };

export type KeyState =
  | { kind: 'free' }
  | { kind: 'in_use' }
  /** `bodyHash`: of the request that holds the key. `invoiceId`: of its invoice, once it is known. */
  | { kind: 'reuse'; bodyHash: string; invoiceId?: InvoiceId }
  | { kind: 'done'; invoiceId: InvoiceId };

export type ClaimResult = { kind: 'claimed'; claim: Claim } | Exclude<KeyState, { kind: 'free' }>;

/** Time-boxed promises; losing them can refuse or delay, never allow a second fiscal document (design section 5). */
export type IdempotencyKeys = {
  /**
   * `fresh` is used unless an expired lease of the same body is taken over. `sameBody` is another stored hash that is known to
   * be of this body; what is stored anew is always `bodyHash`.
   */
  claim(owner: KeyOwner, bodyHash: string, fresh: Claim, now: Instant, sameBody?: string): Promise<ClaimResult>;
  /** Only under the lease token that the process holds; false when it was lost. */
  markDone(owner: KeyOwner, leaseToken: string, invoiceId: InvoiceId): Promise<boolean>;
  release(owner: KeyOwner, leaseToken: string): Promise<void>;
};

export type FingerprintMark = { stream: StreamName; at: Instant };

/** What one request is known by in the window: the same content under each key that may be in use around now. */
export type Fingerprints = {
  /** Its mark stands under all of these. The first goes into the event. */
  placed: readonly [string, ...string[]];
  /** As marks of before the keyed hashes have it: compared, never placed. */
  legacy: string;
};

/** Requests meet as soon as they have one fingerprint in common. */
export type DuplicateWindow = {
  /** Places the mark unless one younger than `youngerThan` stands, which is then returned. Null places it in any case. */
  place(
    fingerprints: Fingerprints,
    mark: FingerprintMark,
    youngerThan: Instant | null,
  ): Promise<FingerprintMark | undefined>;
  /** Places `to`, as if the mark `from`, whose request left nothing, did not stand; false when another one does. */
  takeOver(
    fingerprints: Fingerprints,
    from: FingerprintMark,
    to: FingerprintMark,
    youngerThan: Instant,
  ): Promise<boolean>;
  /** A proven refusal leaves no trace; only its own mark is removed. */
  remove(fingerprints: Fingerprints, stream: StreamName): Promise<void>;
};

export type LookupMemo = { asked: number; lastAskedAt: Instant; firstAbsentAt?: Instant };

/** What the look-ups of one send have said so far (`work` is `issue/<attempt>` or `cancel/<request>/<attempt>`). */
export type LookupMemos = {
  get(stream: StreamName, work: string): Promise<LookupMemo | undefined>;
  put(stream: StreamName, work: string, memo: LookupMemo): Promise<void>;
  forget(stream: StreamName): Promise<void>;
};

/** Streams whose old events are about to be cut: a sweeper that dies in between leaves word for the next one. */
export type PendingCuts = {
  add(stream: StreamName): Promise<void>;
  done(stream: StreamName): Promise<void>;
  list(limit: number): Promise<readonly StreamName[]>;
};

/** Up to where a log's new work is in a queue that outlives its processes; losing it taps work again. */
export type RelayCheckpoint = {
  /** Null when nothing of this log was relayed yet. */
  read(logIdentity: string): Promise<LogPosition | null>;
  /** Never backwards. */
  move(logIdentity: string, position: LogPosition): Promise<void>;
};
