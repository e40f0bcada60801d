import type { ImportedLines } from '../domain/catalog/catalog.js';
import type { AccessKey } from '../domain/common/access-key.js';
import type { CompanyId, Mode, StreamName } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { Company } from '../domain/company/company.js';
import type { Scope } from '../domain/company/events.js';
import type { InvoiceState } from '../domain/invoice/state.js';
import type { MunicipalityDemands } from '../domain/municipality/events.js';
import type { LocalEntry } from '../domain/registry/events.js';
import type { Revision } from './event-log.js';

/** An invoice's folded state as the projector last wrote it; personal fields may still be sealed. */
type InvoiceSnapshot = { state: InvoiceState; revision: Revision };

export type Credential = {
  keyId: string;
  companyId: CompanyId;
  mode: Mode;
  scopes: readonly Scope[];
  revoked: boolean;
};

/** Open work of a stream, from the `deadlines` projection. The sweeper looks at it; no decision relies on it. */
export type Timer = {
  stream: StreamName;
  mode: Mode;
  companyId: CompanyId;
  kind: 'issue' | 'cancel';
  /** Instant of the last event of this work. */
  since: Instant;
  started: boolean;
};

/** The last row of a page; the next page begins after it. */
export type TimerCursor = Pick<Timer, 'since' | 'stream'>;

/**
 * Open work with the instant, in milliseconds since 1970, at which its verdict is due if nothing of it happens until then. Each attempt, and the
 * first answer to an attempt, moves the verdict.
 */
export type OpenWork = Timer & { dueMs: number };

export type OpenWorkCursor = Pick<OpenWork, 'dueMs' | 'stream'>;

export type OpenWorkFilter = {
  /** Only work whose last event is not after these instants; null asks for all of it. */
  quietSince: { queued: Instant; started: Instant } | null;
  /** How long work may take from its beginning, by kind. */
  windows: { queuedSeconds: number; processingSeconds: number; cancellationSeconds: number };
};

/** An invoice whose row has this access key. */
export type KeyHolder = { accessKey: AccessKey; stream: StreamName };

/** The relational views for the GET routes and the sweeper. All of it can be rebuilt from the log. */
export type ReadModel = {
  invoice(stream: StreamName): Promise<InvoiceSnapshot | undefined>;
  company(companyId: CompanyId): Promise<Company | undefined>;
  companies(): Promise<readonly Company[]>;
  /** By SHA-256 of the whole API key, hex. */
  credential(keyHash: string): Promise<Credential | undefined>;
  credentialById(keyId: string): Promise<Credential | undefined>;
  apiSwitchedOff(): Promise<boolean>;
  /** The imported lines of these CNAEs, or of all; without an entry for a CNAE that was never imported. */
  catalogLines(cnaes: readonly string[] | 'all'): Promise<ImportedLines>;
  /** By 7-digit IBGE code; undefined when no operator has entered anything. */
  municipalityDemands(ibge: string): Promise<MunicipalityDemands | undefined>;
  /** Name and address may still be sealed. */
  registryEntry(cnpj: string): Promise<LocalEntry | undefined>;
  /** The invoices that hold one of these access keys. */
  byAccessKeys(accessKeys: readonly AccessKey[]): Promise<readonly KeyHolder[]>;
  /** Open work, the earliest due first. */
  openWork(wanted: OpenWorkFilter, limit: number, after?: OpenWorkCursor): Promise<readonly OpenWork[]>;
  /**
   * Streams whose verdict may be due, ordered by `since` and stream: their work began at or before the instant of its kind. A kind without
   * an instant is left out.
   */
  verdictsDue(
    beganBefore: { queued?: Instant; started?: Instant; cancel?: Instant },
    limit: number,
    after?: TimerCursor,
  ): Promise<readonly Timer[]>;
  /** Test invoices whose retention ended at or before the instant. */
  expiredTestInvoices(createdBefore: Instant, limit: number): Promise<readonly StreamName[]>;
};

/** The rows that no projector keeps up with the log: of the previous projection generation, for a rollback, and of an interrupted rebuild. */
export type PreviousGeneration = {
  /** Empties the row of an invoice that has ended, as the stream's last event would. */
  end(stream: StreamName): Promise<void>;
};
