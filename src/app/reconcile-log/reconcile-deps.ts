import type { Registration } from '../../domain/company/events.js';
import type { Limits } from '../../domain/invoice/limits.js';
import type { CompanyId, Mode, StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { EventLog } from '../../ports/event-log.js';
import type { EventStore } from '../event-store/event-store.js';

/** What a log that was put back is compared with, and whom it tells. */
export type ReconcileDeps = {
  log: Pick<EventLog, 'readAll' | 'read'>;
  store: EventStore;
  authorizer: Authorizer;
  signer: DocumentSigner;
  clock: Clock;
  limits: Pick<Limits, 'lookupIntervalsSeconds'>;
  actor: `support:${string}`;
  /** Opened; undefined when the company has none that could be opened. */
  identityOf(caller: Caller): Promise<SigningIdentity | undefined>;
  currencyCode(iso: string): string | undefined;
  /** 7-digit IBGE code of the city that the company is registered in. */
  municipalityOf(registration: Registration): string | undefined;
  /** Rows that may be newer than the log: where a note may have been known. */
  byAccessKeys(keys: readonly string[]): Promise<readonly { accessKey: string; stream: StreamName }[]>;
  /** Served by a simulator whose ledger is not here: there is nothing to ask, and nothing of it is a fiscal document. */
  modesWithoutLedger: readonly Mode[];
  /** So many numbers in a row that the authorizer does not know end the walk of a series. */
  span: number;
  waitUntil(at: Instant): Promise<void>;
  onProgress(text: string): void;
};

/** A series of one company's DPS ids, and where to begin. */
export type Walk = {
  mode: Mode;
  companyId: CompanyId;
  municipality: string;
  series: string;
  nextNumber: number;
  taken: readonly number[];
};
