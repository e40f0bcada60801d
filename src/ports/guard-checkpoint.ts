import type { InvoiceId, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { LogPosition } from './event-log.js';
import type { KeyOwner } from './idempotency-keys.js';

/** What an acceptance says about its idempotency key: everything that the key's row needs. */
export type AcceptedKey = KeyOwner & {
  bodyHash: string;
  commandId: string;
  invoiceId: InvoiceId;
  acceptedAt: Instant;
};

/** What an acceptance says about the duplicate window. */
export type AcceptedMark = { fingerprint: string; stream: StreamName; at: Instant };

/** Positions in the log. Null: the rows are not known to hold any of it. */
export type GuardsPosition = {
  /** The database holds the guards of every acceptance up to this position. */
  guards: LogPosition | null;
  /** The database held the rows of operators' commands up to this position: companies, keys, catalogue, kill switch. */
  operatorRows: LogPosition | null;
};

/** What the database answers about the guards. */
export type GuardsAnswer = GuardsPosition & {
  /** The furthest position in this log that anything in the database was made from. */
  furthest: LogPosition | null;
  /** The log was once found to end before `furthest`. Stays true until a log recovery has finished. */
  logWasIncomplete: boolean;
  /** This session leads: it moves the position and fills what is missing. One session of all processes leads. */
  leads: boolean;
};

/**
 * One database session. While it answers, the database was neither restarted nor replaced since the session opened, and so no commit was
 * lost. Every method throws when the session is over.
 */
export type GuardsSession = {
  look(): Promise<GuardsAnswer>;
  /**
   * When it resolves, the position and everything committed before are durable. Positions never move backwards. Throws and ends the session
   * when the stored position is not what this session last read or wrote: the rows were then replaced.
   */
  move(position: GuardsPosition): Promise<void>;
  /**
   * Inserts missing rows and returns their number. Never weakens an existing row: a finished key within its 24 hours, a claimed key, or a
   * younger mark.
   */
  fill(keys: readonly AcceptedKey[], marks: readonly AcceptedMark[], now: Instant): Promise<number>;
  /**
   * Pauses issuing. With `positions` it pauses only while a row is still made from a later position than the log holds. With `events` it always
   * pauses: the log lacks an event that was in it, however long the log is.
   */
  noteIncompleteLog(head: LogPosition | null, now: Instant, evidence: 'positions' | 'events'): Promise<void>;
  /** Aborts when the session is lost. */
  lost: AbortSignal;
  close(): Promise<void>;
};

/** How much of a log the guards in the database hold (ADR 14). */
export type GuardCheckpoint = { open(logIdentity: string): Promise<GuardsSession> };
