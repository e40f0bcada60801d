import type { StreamName } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';

/** Root over the heads of the streams that moved, and how many streams and events those were. */
export type AnchoredPart = { root: string; streams: number; events: number };

/**
 * Heads of all streams that moved behind the position `after` (empty: from the beginning) up to and with `upTo`. The anchor
 * before stands in that stretch, so each root commits to every root before it, and so to the head of every stream (ADR 21).
 */
export type LogAnchor = { day: string; after: string; upTo: string; live: AnchoredPart; test: AnchoredPart };

/** What proves the log, who looked into what is sealed, what support did to the machinery and who came in: a storage format, as the invoice's events. */
export type AuditEvent =
  | { type: 'LogAnchored'; data: LogAnchor & { at: Instant } }
  /** An operator saw personal data in clear. `command` as typed, `subject` the stream or the filter; never what was seen. */
  | { type: 'PersonalDataRevealed'; data: { command: string; subject: string; at: Instant } }
  /** Work of an invoice's stream that was parked is tried again. */
  | { type: 'ParkedWorkRetried'; data: { subject: StreamName; at: Instant } }
  /** A read model was ordered to be made anew; the rows say what came of it. */
  | { type: 'ProjectionRebuildOrdered'; data: { projection: string; at: Instant } }
  /** A generation of the master key is lost without a copy: what it sealed, here and in the vault, nobody opens any more. */
  | { type: 'MasterKeyGivenUp'; data: { generation: string; reason: string; at: Instant } }
  /** Somebody who has the operator token came in, by the name of the actor. `session` opens nothing; `peer` is an IP address. */
  | { type: 'ConsoleSignedIn'; data: { session: string; peer: string; at: Instant } }
  /** A token was tried that is not the operators'; `operator` is the name that was typed. */
  | { type: 'ConsoleSignInRefused'; data: { operator: string; peer: string; at: Instant } }
  /** The session is over, in every process and for every copy of its cookie. */
  | { type: 'ConsoleSignedOut'; data: { session: string; peer: string; at: Instant } };

export type AuditEventType = AuditEvent['type'];

export const auditPersonalFields = {
  LogAnchored: [],
  PersonalDataRevealed: [],
  ParkedWorkRetried: [],
  ProjectionRebuildOrdered: [],
  MasterKeyGivenUp: [],
  ConsoleSignedIn: [],
  ConsoleSignInRefused: [],
  ConsoleSignedOut: [],
} as const satisfies Record<AuditEventType, readonly string[]>;

export const auditEventTypes = Object.keys(auditPersonalFields) as AuditEventType[];

export const anchorPrefix = 'anchor-';

/** One anchor a UTC day (`YYYY-MM-DD`), the only event of its stream. */
export const anchorStream = (day: string): StreamName => `${anchorPrefix}${day}`;

export const revealsStream: StreamName = 'audit-reveals';

export const supportStream: StreamName = 'audit-support';

export const consoleStream: StreamName = 'audit-console';
