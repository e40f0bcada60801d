import type { CompanyId, InvoiceId, Mode } from '../shared/ids.js';
import type { Cents } from '../shared/money.js';
import type { FiscalDate, Instant } from '../shared/time.js';
import type { Customer, ForeignAmount, IssuerFacts, ServiceLine } from './facts.js';

/**
 * `keyHash`: SHA-256 in hex. `bodyHash`: HMAC under a key that its text names; in version 1 of the acceptance SHA-256 in hex. A
 * replay is rendered only from an acceptance that carries them.
 */
export type IdempotencyMark = { keyHash: string; bodyHash: string };

/** What the authorizer said, by its codes; `texts` is its raw wording and never leaves support (spec "Invoice error object"). */
export type AuthorizerAnswer = { codes: readonly string[]; httpStatus?: number; texts?: readonly string[] };

export type CancelReason = 'issuance_error' | 'service_not_provided' | 'other';

export type Evidence = 'response' | 'lookup';

/**
 * What happened to one invoice. This is the storage format: add types or optional fields, never rename or change a
 * meaning. Golden files in test/golden/events hold every version that was ever written. `*Gzip` is base64 of the
 * gzipped exact bytes.
 */
export type InvoiceEvent =
  | {
      type: 'InvoiceAccepted';
      data: {
        mode: Mode;
        companyId: CompanyId;
        invoiceId: InvoiceId;
        amountInCents: Cents;
        /** Markers already expanded. */
        description: string;
        competence: FiscalDate;
        customer?: Customer;
        foreignAmount?: ForeignAmount;
        reference?: string;
        line: ServiceLine;
        issuer: IssuerFacts;
        acceptedAt: Instant;
        idempotency?: IdempotencyMark;
        /** Key of the duplicate window: HMAC over company, mode, amount and the description as sent; in version 1 SHA-256 in hex. */
        fingerprint: string;
      };
    }
  | {
      type: 'IssuanceAttempted';
      data: {
        attempt: number;
        series: string;
        number: number;
        dpsId: string;
        /** DigestValue of the signature: proves that a note found later embeds this DPS. Not sealed in version 1. */
        digest: string;
        /** Over digest and signature: proves the same where the digest cannot be opened any more. Absent in version 1. */
        signatureMark?: string;
        signedDpsGzip: string;
        attemptedAt: Instant;
        /** From here on nobody is sending this attempt any more. */
        deadlineAt: Instant;
      };
    }
  | { type: 'IssuanceNotSent'; data: { attempt: number; reason: string; codes: readonly string[]; at: Instant } }
  | {
      type: 'IssuanceOutcomeUnknown';
      data: { attempt: number; reason: string; at: Instant } & AuthorizerAnswer;
    }
  | {
      type: 'IssuanceProvenAbsent';
      data: { attempt: number; dpsId: string; firstAskedAt: Instant; secondAskedAt: Instant; at: Instant };
    }
  | {
      type: 'Authorized';
      data: {
        attempt: number;
        accessKey: string;
        nfseNumber: string;
        /** `dhProc` of the note, in UTC: the API's `issued_at` (reading 48). */
        authorizedAt: Instant;
        nfseXmlGzip: string;
        nfseSha256: string;
        evidence: Evidence;
        /** The attempt is among what a log that was put back has lost; its note was found by `doctor --reconcile` (ADR 22). */
        attemptLost?: true;
        at: Instant;
      };
    }
  | { type: 'IssuanceRejected'; data: { attempt: number; at: Instant } & AuthorizerAnswer }
  /** Nothing was issued and nothing can come any more: never sent, or (with a reason) not fit to be sent at all. */
  | { type: 'IssuanceFailed'; data: { failedAt: Instant; reason?: 'customer_name_missing'; at: Instant } }
  | { type: 'NotProcessed'; data: { failedAt: Instant; at: Instant } }
  | { type: 'IssuanceInterrupted'; data: { failedAt: Instant; at: Instant } }
  | {
      type: 'NumberConflictFound';
      data: {
        attempt: number;
        dpsId: string;
        accessKey: string;
        /** Not sealed in version 1. */
        foundDigest: string;
        /** Customer, amount and description equal ours: it may be our own note from before a restore. */
        sameContent: boolean;
        at: Instant;
      };
    }
  | {
      type: 'CancellationRequested';
      data: { request: number; reason: CancelReason; description: string; requestedAt: Instant };
    }
  | {
      type: 'CancellationAttempted';
      data: {
        request: number;
        attempt: number;
        /** `PRE` + access key + 101101: the same for every try. */
        requestId: string;
        /** Not sealed in version 1. */
        digest: string;
        signatureMark?: string;
        signedRequestGzip: string;
        attemptedAt: Instant;
        deadlineAt: Instant;
      };
    }
  | {
      type: 'CancellationNotSent';
      data: { request: number; attempt: number; reason: string; codes: readonly string[]; at: Instant };
    }
  | {
      type: 'CancellationOutcomeUnknown';
      data: { request: number; attempt: number; reason: string; at: Instant } & AuthorizerAnswer;
    }
  | {
      type: 'CancellationProvenAbsent';
      data: { request: number; attempt: number; firstAskedAt: Instant; secondAskedAt: Instant; at: Instant };
    }
  | {
      type: 'CancellationConfirmed';
      data: {
        request: number;
        eventXmlGzip: string;
        eventSha256: string;
        canceledAt: Instant;
        evidence: Evidence;
        at: Instant;
      };
    }
  | {
      type: 'CancellationNotConfirmed';
      data: { request: number; reason: 'refused' | 'timeout'; at: Instant } & AuthorizerAnswer;
    }
  | {
      type: 'CancellationSettledBySupport';
      data: { evidence: string; eventXmlGzip: string; eventSha256: string; canceledAt: Instant; at: Instant };
    }
  | {
      type: 'IndeterminateResolved';
      data: { evidence: string; at: Instant } /** Absent in events that tell no more than the verdict. */ & (
        | { as: 'failed'; absences?: readonly { dpsId: string; firstAskedAt: Instant; secondAskedAt: Instant }[] }
        | {
            as: 'issued';
            accessKey: string;
            nfseNumber: string;
            authorizedAt: Instant;
            nfseXmlGzip: string;
            nfseSha256: string;
          }
      );
    }
  | { type: 'ReconciliationDifferenceFound'; data: { kind: string; accessKey?: string; at: Instant } }
  | {
      type: 'InvoiceImported';
      data: {
        mode: Mode;
        companyId: CompanyId;
        invoiceId: InvoiceId;
        origin: 'legacy' | 'web' | 'manual';
        state: 'issued' | 'canceled' | 'replaced';
        amountInCents: Cents;
        description?: string;
        competence?: FiscalDate;
        customer?: Customer;
        foreignAmount?: ForeignAmount;
        reference?: string;
        serviceCode?: string;
        cnae?: string;
        accessKey?: string;
        createdAt?: Instant;
        issuedAt?: Instant;
        canceledAt?: Instant;
        replacedBy?: string;
        nfseXmlGzip?: string;
        nfseSha256?: string;
        importedAt: Instant;
      };
    }
  | { type: 'ReferenceTaken'; data: { invoiceId: InvoiceId; takenAt: Instant } }
  | { type: 'TestInvoiceDeleted'; data: { lastHash: string; deletedAt: Instant } };

export type InvoiceEventType = InvoiceEvent['type'];

export type InvoiceEventData<T extends InvoiceEventType> = Extract<InvoiceEvent, { type: T }>['data'];
