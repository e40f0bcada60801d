import type { CancelCommand } from '../app/cancel/cancel-invoice.js';
import type { Download } from '../app/download/download.js';
import type { DownloadTokens } from '../app/download/download-token.js';
import type { AcceptResult, IssueCommand, Requester } from '../app/issue/accept-deps.js';
import type { ActivityBody } from '../domain/company/activities.js';
import type { Scope } from '../domain/company/events.js';
import type { Invoice } from '../domain/invoice/state.js';
import type { ErrorCode } from '../domain/shared/error-catalogue.js';
import type { CompanyId, InvoiceAddress, InvoiceId, Mode } from '../domain/shared/ids.js';
import type { Clock } from '../ports/clock.js';

/** Whom a key belongs to and what it may do, as of now (at most a second old). */
export type Authenticated = {
  keyId: string;
  companyId: CompanyId;
  mode: Mode;
  scopes: readonly Scope[];
  revoked: boolean;
  companyEnabled: boolean;
};

/** What a log line or a metric may know of a request: never a key, token, query string or body. */
export type RequestSummary = {
  /** The template (`/v1/nfse/:id`), never the path itself; `unmatched` for an unknown route. */
  route: string;
  method: string;
  status: number;
  code?: ErrorCode;
  durationMs: number;
  requestId: string;
  invoiceId?: InvoiceId;
  /** The id of the key, under which operators know it. */
  keyId?: string;
  /** Address of the connection: a proxy's, where one stands before the service. */
  peer?: string;
};

/** Requests per 60 seconds and key; the spec's numbers are floors. */
export type RateLimits = { write: number; read: number };

type Owner = Omit<InvoiceAddress, 'invoiceId'>;

/** Everything the HTTP layer needs, as functions: no adapter in sight, use cases with their own needs already bound. */
export type HttpDeps = {
  clock: Clock;
  /** Random and ours; a client's header never becomes a request id. */
  newRequestId(): string;
  apiSwitchedOff(): Promise<boolean>;
  /** By SHA-256 of the whole key, hex. */
  authenticate(keyHash: string): Promise<Authenticated | undefined>;
  /** For downloads by token alone, where no key tells. */
  companyEnabled(companyId: CompanyId): Promise<boolean>;
  accept(command: IssueCommand, requester: Requester): Promise<AcceptResult>;
  cancel(command: CancelCommand, requester: Requester): Promise<AcceptResult>;
  find(address: InvoiceAddress): Promise<Invoice | undefined>;
  byReference(owner: Owner, reference: string): Promise<Invoice | undefined>;
  activities(owner: Owner): Promise<readonly ActivityBody[]>;
  downloadXml(address: InvoiceAddress): Promise<Download>;
  downloadPdf(address: InvoiceAddress): Promise<Download>;
  downloadTokens: DownloadTokens;
  /** Origin of `links`, without a trailing slash (reading 37). */
  baseUrl: string;
  rateLimits: RateLimits;
  /** Whether `/docs` and `/openapi.json` are there. */
  docs: boolean;
  /** An engine cannot be used now: the answer is 503, not 500. */
  isUnavailable(error: unknown): boolean;
  /** Waited for before a fault is answered: whoever asks again at once shall not keep the service busy with refusals. */
  holdBack?(error: unknown): Promise<void>;
  onRequest?(summary: RequestSummary): void;
  onFault?(error: unknown, requestId: string): void;
};
