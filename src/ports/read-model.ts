import type { ImportedLines } from '../domain/catalog/catalog.js';
import type { CompanyState } from '../domain/company/company.js';
import type { Scope } from '../domain/company/events.js';
import type { InvoiceState } from '../domain/invoice/state.js';
import type { MunicipalityDemands } from '../domain/municipality/demands.js';
import type { LocalEntry } from '../domain/registry/entry.js';
import type { CompanyId, Mode, StreamName } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { Revision } from './event-log.js';

/** An invoice's folded state as the projector last saw it; personal fields may still be sealed. */
export type InvoiceRow = { state: InvoiceState; revision: Revision };

export type Credential = {
  keyId: string;
  companyId: CompanyId;
  mode: Mode;
  scopes: readonly Scope[];
  revoked: boolean;
};

/** Work that a stream still owes: kept by the `deadlines` projection, looked at by the sweeper and never trusted by a decision. */
export type Deadline = {
  stream: StreamName;
  mode: Mode;
  companyId: CompanyId;
  kind: 'issue' | 'cancel';
  /** Last event of this work. */
  since: Instant;
  started: boolean;
};

/** The last row of a page: the next page begins behind it. */
export type DeadlineCursor = Pick<Deadline, 'since' | 'stream'>;

/** Open work with the moment, in milliseconds since 1970, at which a verdict by time ends it. */
export type OpenWork = Deadline & { dueMs: number };

export type OpenWorkCursor = Pick<OpenWork, 'dueMs' | 'stream'>;

export type OpenWorkWanted = {
  /** Only work whose last event is not after these instants; null asks for all of it. */
  quietSince: { queued: Instant; started: Instant } | null;
  /** How long work may take from its beginning. */
  windows: { queuedSeconds: number; processingSeconds: number; cancellationSeconds: number };
};

/** The relational views that the GET routes and the sweeper read. All of it can be rebuilt from the log. */
export type ReadModel = {
  invoice(stream: StreamName): Promise<InvoiceRow | undefined>;
  company(companyId: CompanyId): Promise<{ state: CompanyState; revision: Revision } | undefined>;
  companies(): Promise<readonly CompanyState[]>;
  /** By SHA-256 of the whole API key, hex. */
  credential(keyHash: string): Promise<Credential | undefined>;
  credentialById(keyId: string): Promise<Credential | undefined>;
  apiSwitchedOff(): Promise<boolean>;
  /** What operators imported for these CNAEs, or for all; a CNAE that nobody imported is not in it. */
  catalogLines(cnaes: readonly string[] | 'all'): Promise<ImportedLines>;
  /** By 7-digit IBGE code; undefined while no operator has said anything. */
  municipalityDemands(ibge: string): Promise<MunicipalityDemands | undefined>;
  /** Name and address may still be sealed. */
  registryEntry(cnpj: string): Promise<LocalEntry | undefined>;
  /** Which invoices hold one of these access keys. */
  byAccessKeys(accessKeys: readonly string[]): Promise<readonly { accessKey: string; stream: StreamName }[]>;
  /** Open work, what is due first at the head. */
  openWork(wanted: OpenWorkWanted, limit: number, after?: OpenWorkCursor): Promise<readonly OpenWork[]>;
  /**
   * Streams for which a verdict by time may be due, by `since` and stream: their work began at or before the instant of
   * its kind. A kind without an instant is not asked for.
   */
  verdictsDue(
    beganBefore: { queued?: Instant; started?: Instant; cancel?: Instant },
    limit: number,
    after?: DeadlineCursor,
  ): Promise<readonly Deadline[]>;
  /** Test invoices whose life ended at or before the instant. */
  expiredTestInvoices(createdBefore: Instant, limit: number): Promise<readonly StreamName[]>;
};

/** Rows that nobody reads: the generation that is kept for a rollback. They do not move with the log. */
export type KeptRows = {
  /** Empties the row of an invoice that has ended, as its last event would. */
  end(stream: StreamName): Promise<void>;
};
