import type { AcceptResult, IssueCommand } from '../app/accept/accept-deps.js';
import type { CancelCommand } from '../app/cancel/cancel-invoice.js';
import type { Download } from '../app/download/download.js';
import type { DownloadTokens } from '../app/download/download-token.js';
import type { Requester } from '../app/event-store/command-context.js';
import type { ErrorCode } from '../domain/common/error-catalogue.js';
import type { CompanyId, InvoiceAddress, InvoiceId } from '../domain/common/ids.js';
import type { ActivityBody } from '../domain/company/activities.js';
import type { Invoice } from '../domain/invoice/state.js';
import type { Clock } from '../ports/clock.js';
import type { Credential } from '../ports/read-model.js';

/** Owner and rights of a key, at most one second old. */
export type Authenticated = Credential & { companyEnabled: boolean };

/** What log lines and metrics may contain about a request: never a key, token, query string or body. */
export type RequestSummary = {
  /** The route's template (`/v1/nfse/:id`), never the path itself; `unmatched` for an unknown route. */
  route: string;
  method: string;
  status: number;
  code?: ErrorCode;
  durationMs: number;
  requestId: string;
  invoiceId?: InvoiceId;
  /** Id of the key, as operators know it. */
  keyId?: string;
  /** Address of the connection; the proxy's address behind a proxy. */
  peer?: string;
};

/** Requests per 60 seconds and key; the contract's numbers are the least values. */
export type RateLimits = { write: number; read: number };

/** Resolves when the caller's answer may leave. Only the caller's connection waits. */
export type Pacer = (caller: string) => Promise<void> | undefined;

/** Slows down callers that ask faster than a quota or a person would (ADR 29). A caller is a key, or an address when there is no key. */
export type Pacing = {
  /** For refusals that take nothing from a quota. */
  refusals: Pacer;
  /** For pages and assets of the API's documents. */
  pages: Pacer;
};

type Owner = Omit<InvoiceAddress, 'invoiceId'>;

/** `suspended`: by the kill switch or the pause of an incomplete log. `unready`: this process does not know its guards yet, or the database is out. */
export type ApiState = 'open' | 'suspended' | 'unready';

/** All that the HTTP layer needs: use cases with their dependencies bound, settings and a clock, but no adapter. */
export type HttpDeps = {
  clock: Clock;
  /** A random id; a client's header never becomes a request id. */
  newRequestId(): string;
  apiState(): Promise<ApiState>;
  /** By SHA-256 of the whole key, hex. */
  authenticate(keyHash: string): Promise<Authenticated | undefined>;
  /** For downloads by token alone, which have no key to tell. */
  companyEnabled(companyId: CompanyId): Promise<boolean>;
  accept(command: IssueCommand, requester: Requester): Promise<AcceptResult>;
  cancel(command: CancelCommand, requester: Requester): Promise<AcceptResult>;
  find(address: InvoiceAddress): Promise<Invoice | undefined>;
  byReference(owner: Owner, reference: string): Promise<Invoice | undefined>;
  activities(owner: Owner): Promise<readonly ActivityBody[]>;
  downloadXml(address: InvoiceAddress): Promise<Download>;
  downloadPdf(address: InvoiceAddress): Promise<Download>;
  downloadTokens: DownloadTokens;
  /** Origin of `links`, without a trailing slash (LINK-pdf). */
  baseUrl: string;
  rateLimits: RateLimits;
  /** Whether `/docs` and `/openapi.json` are served. */
  docs: boolean;
  /** True when an engine cannot be used now: the answer is then 503 instead of 500. */
  isUnavailable(error: unknown): boolean;
  /** True when too many requests waited already and nothing was done for this one. */
  isOverloaded(error: unknown): boolean;
  /** True when the requests of this company alone were too many. */
  isOwnOverload(error: unknown): boolean;
  /** Delays the answer to a fault, so that clients that repeat at once do not keep the service busy with refusals. */
  delayFault?(error: unknown): Promise<void>;
  /** Default: no answer waits. */
  pacing?: Pacing;
  onRequest?(summary: RequestSummary): void;
  onFault?(error: unknown, requestId: string): void;
};
