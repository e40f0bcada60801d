import type { InvoiceId, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { LogPosition } from './event-log.js';
import type { KeyOwner } from './guards.js';

/** What an acceptance in the log says about its Idempotency-Key; everything that the key's row needs. */
export type AcceptedKey = KeyOwner & {
  bodyHash: string;
  commandId: string;
  invoiceId: InvoiceId;
  acceptedAt: Instant;
};

/** What an acceptance in the log says about the duplicate window. */
export type AcceptedMark = { fingerprint: string; stream: StreamName; at: Instant };

/** Places in the log; null: nothing of it is known to be held. */
export type GuardsPosition = {
  /** The guards of every acceptance up to here are in R. */
  guards: LogPosition | null;
  /** The rows that operators' commands and the log made were in R up to here: companies, keys, catalogue, kill switch. */
  operatorRows: LogPosition | null;
};

/** What R says when it is asked. */
export type GuardsLook = GuardsPosition & {
  /** The furthest place in this log that anything in R was made from. */
  furthest: LogPosition | null;
  /** The log was once found to end before `furthest`; stays until somebody has reconciled. */
  wasSetBack: boolean;
  /** This session moves the position and fills what is missing; one among all processes. */
  leads: boolean;
};

/**
 * One session of R. That it still answers proves that R was neither restarted nor replaced since it was opened, and so
 * that no commit was lost meanwhile. Every method throws when the session is over.
 */
export type GuardsSession = {
  look(): Promise<GuardsLook>;
  /**
   * Durable when it resolves, and everything committed before it too. Never backwards. Throws, and ends the session, when the
   * position is not what this session saw or wrote last: its rows were replaced meanwhile.
   */
  move(position: GuardsPosition): Promise<void>;
  /**
   * Puts in what is missing and never weakens what stands: a finished key that is not over, a key that somebody works on, a
   * younger mark. Returns how many rows were written.
   */
  fill(keys: readonly AcceptedKey[], marks: readonly AcceptedMark[], now: Instant): Promise<number>;
  noteSetBack(head: LogPosition | null, now: Instant): Promise<void>;
  /** Aborts when the session is lost. */
  lost: AbortSignal;
  close(): Promise<void>;
};

/** How much of one log the guards of R hold (design section 5). */
export type GuardsRecord = { open(logIdentity: string): Promise<GuardsSession> };
