import type { CompanyId, StreamName } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { type FoundDocument, isContradictory, type Owner } from '../../domain/invoice/sent-document.js';
import type { InvoiceFacts } from '../../domain/invoice/state.js';
import type { AuthorizedNote, Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { LookupProgressStore } from '../../ports/work-progress.js';
import type { EventStore } from '../event-store/event-store.js';
import type { Breaker } from './breaker.js';
import type { CertificateBreaker } from './certificate-breaker.js';
import { isInflated } from './found-documents.js';
import type { LookUpSemaphore } from './look-up-limit.js';

/** What the protocol reports to operators; never holds a document, a name or a raw answer. */
export type IssuerNotice = {
  kind:
    | 'certificate_missing'
    | 'certificate_refused'
    | 'series_blocked'
    /** The last number of the series was given. The company needs another series. */
    | 'series_exhausted'
    | 'number_conflict'
    | 'document_invalid'
    /** The accepted content cannot be opened: its day key was lost with the database, or its master key was given up. */
    | 'content_lost'
    | 'lookup_inconclusive'
    /**
     * The last look-up before a verdict threw, or its result could not be recorded. The verdict is recorded all the same; only the time-out of a
     * cancellation whose confirmation was found waits.
     */
    | 'last_look_up_failed'
    /**
     * A note or event under our Id whose content does not fit its signature, or which is not signed. With the detail `size`: its bytes do not fit into an
     * event, and what it proves is recorded without them. With `content`, `amount`, `provider` and `environment`: a download found another note than
     * that of the invoice.
     */
    | 'document_altered'
    /** A document under our Id whose outer signature is missing or wrong, or has an unknown algorithm or an unreadable certificate. */
    | 'signature_unverified'
    | 'outcome_not_recorded'
    /** Work came for an invoice that the log does not have: another service may use the same queue, or an older copy of the log was put back. */
    | 'unknown_invoice';
  stream: StreamName;
  detail?: string;
};

type EngineFaults = {
  /** Whether the log or the database cannot be used now, so that the fault says nothing about the work. */
  isFault(error: unknown): boolean;
  report(stream: StreamName, error: unknown): void;
};

export type IssuerDeps = {
  store: EventStore;
  authorizer: Authorizer;
  /** The breaker: holds back sends while an environment is out. Look-ups continue. */
  breaker: Breaker;
  /** Holds back the sends of a company whose certificate the authorizer refuses. Look-ups continue. */
  certificates: CertificateBreaker;
  signer: DocumentSigner;
  /** Bounds the look-ups of a worker, so that sends have room beside them. Without it look-ups are not bounded. */
  lookUpSemaphore?: LookUpSemaphore;
  lookups: LookupProgressStore;
  /** With it, a result of a send is recorded again after a fault of an engine. Without it the fault ends the work on the stream. */
  engineFaults?: EngineFaults;
  clock: Clock;
  limits: Limits;
  company(companyId: CompanyId): Promise<Company | undefined>;
  /** The company's current certificate, opened; undefined when the company has none that it can sign with now. */
  identityOf(caller: Caller): Promise<SigningIdentity | undefined>;
  /** Central-bank number of an ISO currency, for exports. */
  currencyCode(iso: string): string | undefined;
  actor: `worker:${string}` | `timer:${string}`;
  notify(notice: IssuerNotice): void;
  /** Called after a refusal of an invoice was recorded, with the codes of the authorizer. Must not throw. */
  onRefused?(facts: InvoiceFacts, codes: readonly string[]): void;
  /** Aborts when the process stops: no attempt and no look-up begins, and what is under way is recorded within the bounds of a stop. */
  stopping?: AbortSignal;
  /** Aborts when issuing pauses: no attempt begins and no verdict is recorded. The process runs on, so answers have all their time to be recorded. */
  pausing?: AbortSignal;
  /**
   * Whether the log was away a moment ago, as in a failover. Another process may know of a loss and needs a moment to record the pause, so no attempt begins
   * and no verdict is recorded.
   */
  wasAway?(): boolean;
};

/** Sends a notice to operators. A failure to send it must not affect the invoice. */
export const sendNotice = ({ notify }: Pick<IssuerDeps, 'notify'>, notice: IssuerNotice): void => {
  try {
    notify(notice);
  } catch {
    // The notice is lost.
  }
};

/** The notices for a document under one of our ids; empty for a reliable document. */
export const noticesOf = (stream: StreamName, found: ReceivedDocument, owner: Owner): readonly IssuerNotice[] => [
  ...(found.signatureFault === undefined
    ? []
    : [{ kind: 'signature_unverified' as const, stream, detail: found.signatureFault }]),
  ...(owner === 'unknown' && isContradictory(found) ? [{ kind: 'document_altered' as const, stream }] : []),
  ...(isInflated(found) ? [{ kind: 'document_altered' as const, stream, detail: 'size' }] : []),
];

/** A document as a call to the authorizer gave it. */
export type ReceivedDocument = FoundDocument & Pick<AuthorizedNote, 'xml'>;

/** When a worker should look at the stream again; `done`: not before a new event; `unknown`: the log has no event of the stream. */
export type Next =
  | { kind: 'done' }
  | { kind: 'unknown' }
  | { kind: 'later'; at: Instant }
  | { kind: 'park'; reason: string };

export const done: Next = { kind: 'done' };
