import type { AccessKey } from '../common/access-key.js';
import type { EventOf } from '../common/event-of.js';
import type { CompanyId, StreamName } from '../common/ids.js';
import type { Instant } from '../common/time.js';

/** Root over the heads of the streams that moved, with the number of those streams and of their events. */
export type AnchoredPart = { root: string; streams: number; events: number };

/**
 * Heads of all streams that moved after the position `after` (empty: since the beginning), up to and including `upTo`. That range contains
 * the previous anchor, so each root commits to every earlier root and to the head of every stream (ADR 21). `order` commits to the order in which the
 * events of the live part lie in the log; anchors of earlier versions have none.
 */
export type LogAnchor = {
  day: string;
  after: string;
  upTo: string;
  live: AnchoredPart;
  test: AnchoredPart;
  order?: string;
};

/** What proves the log, and what operators saw, did and signed in to. Storage format: types and optional fields may be added, never renamed. */
type AuditEvents = {
  LogAnchored: LogAnchor & { at: Instant };
  /** An operator saw personal data in clear. `command`: as typed. `subject`: the stream or the filter. The data seen is not recorded. */
  PersonalDataRevealed: { command: string; subject: string; at: Instant };
  /** Parked work of an invoice's stream is tried again. */
  ParkedWorkRetried: { subject: StreamName; at: Instant };
  /** A rebuild of a read model was ordered; the status of the generation shows its progress. */
  ProjectionRebuildOrdered: { projection: string; at: Instant };
  /** The generation before the live one was ordered back. */
  ProjectionRollbackOrdered: { projection: string; at: Instant };
  /** A master key generation is lost without a copy: all that it sealed, here and in the vault, is permanently unreadable. */
  MasterKeyGivenUp: { generation: string; reason: string; at: Instant };
  /** An operator ended the pause that follows a log from a backup. */
  LogRecovered: {
    /** Notes at the authorizer that no invoice accounts for, live ones only with `--accept-unknown`, now or before. */
    unknownNotes: number;
    /** The live notes that were accepted now, the first thousand. Events of earlier versions also hold those of test mode and those accepted before. */
    accessKeys: readonly AccessKey[];
    /** Companies that were not compared, and cannot be enabled before they are. Absent without any. */
    heldCompanies?: readonly CompanyId[];
    at: Instant;
  };
  /** A holder of the operator token signed in under the actor's name. `session` opens nothing; `peer` is an IP address. */
  ConsoleSignedIn: { session: string; peer: string; at: Instant };
  /** A wrong operator token was tried; `operator` is the typed name, empty for text that is no name. */
  ConsoleSignInRefused: { operator: string; peer: string; at: Instant };
  /** The session ended, in every process and for every copy of its cookie. */
  ConsoleSignedOut: { session: string; peer: string; at: Instant };
};

export type AuditEvent = EventOf<AuditEvents>;

export type AuditEventType = keyof AuditEvents;

export const auditPersonalFields = {
  LogAnchored: [],
  PersonalDataRevealed: [],
  ParkedWorkRetried: [],
  ProjectionRebuildOrdered: [],
  ProjectionRollbackOrdered: [],
  MasterKeyGivenUp: [],
  LogRecovered: [],
  ConsoleSignedIn: [],
  ConsoleSignInRefused: [],
  ConsoleSignedOut: [],
} as const satisfies Record<AuditEventType, readonly string[]>;

export const auditEventTypes = Object.keys(auditPersonalFields) as AuditEventType[];

export const anchorPrefix = 'anchor-';

/** The stream of one UTC day's (`YYYY-MM-DD`) anchor, which is its only event. */
export const anchorStream = (day: string): StreamName => `${anchorPrefix}${day}`;

export const revealsStream: StreamName = 'audit-reveals';

export const supportStream: StreamName = 'audit-support';

export const consoleStream: StreamName = 'audit-console';
