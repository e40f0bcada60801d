import type { AccessKey, CancelingEvent, DpsId } from '../common/access-key.js';
import type { EventOf } from '../common/event-of.js';
import type { CompanyId, InvoiceId, Mode } from '../common/ids.js';
import type { Cents } from '../common/money.js';
import type { FiscalDate, Instant } from '../common/time.js';
import type { SimplesAssessment, TaxRegime } from '../company/events.js';

/** As recorded: add optional fields, never rename. */
export type ForeignAddress = {
  street: string;
  number: string;
  district: string;
  city: string;
  state: string;
  postalCode: string;
  /** ISO 3166-1 alpha-2, never `BR`. */
  country: string;
};

/** An address in Brazil from the tax registry, never from the caller. */
export type DomesticAddress = {
  street: string;
  number: string;
  complement?: string;
  district: string;
  /** IBGE code. */
  municipality: string;
  /** 8 digits. */
  postalCode: string;
};

/**
 * The customer as recorded. For a CNPJ the name is the tax registry's, not the caller's (CUST-name). The address is present only where the
 * document needs it, and the API does not show it.
 */
export type Customer =
  | { type: 'br'; document?: string; name?: string; address?: DomesticAddress }
  | {
      type: 'foreign';
      name?: string;
      taxId?: string;
      taxIdAbsenceReason?: 'exempt' | 'not_required';
      address: ForeignAddress;
    };

export type ForeignAmount = { currency: string; amountInCents: Cents };

/** The activity line that the invoice uses, with what the tables said about its service at acceptance. */
export type ServiceLine = {
  cnae: string;
  serviceCode: string;
  nbs?: string;
  municipalCode?: string;
  /** Where LC 116, article 3, makes the ISSQN due; absent means at the provider's establishment. */
  issqnDue?: 'where_performed';
  /** Recorded until November 2026: operation and classification, which the document declares under the conditions of ADR 16. */
  ibsCbs?: Pick<IbsCbs, 'cIndOp' | 'cClassTrib'>;
};

/** The declaration of IBS and CBS: `cIndOp` and `cClassTrib`, six digits each; `cClassTribReg` for a suspension. */
export type IbsCbs = { cIndOp: string; cClassTrib: string; cClassTribReg?: string };

/** The company facts at acceptance. They make the DPS a pure function of the acceptance (ADR 2). */
export type IssuerFacts = {
  municipality: string;
  taxRegime: TaxRegime;
  simplesAssessment: SimplesAssessment;
  specialRegime: number;
  /** Percent with two places, `6.00`. */
  approximateTaxPercent?: string;
  /** Percents with two places of the company's dated table; precede the single percentage. */
  approximateTaxes?: Record<'federal' | 'state' | 'municipal', string>;
  municipalRegistration?: string;
};

/**
 * `keyHash`: SHA-256 in hex. `bodyHash`: HMAC under a key that its text names; SHA-256 in hex in version 1 of the acceptance. Where no finished claim
 * names the invoice of a key, a replay is answered only from an acceptance that carries both (docs/architecture.md#uniqueness).
 */
export type IdempotencyMark = { keyHash: string; bodyHash: string };

/** The authorizer's codes. `texts` is its raw wording, which only support sees (IERR-message). */
export type AuthorizerAnswer = { codes: readonly string[]; httpStatus?: number; texts?: readonly string[] };

/** `refused`: the authorizer refused the document with codes of which at least one is in no catalogue. Absences may make it final (ADR 41). */
type Refusable = { refused?: true };

/**
 * The stored `reason` of an answer with final codes that is evidence only, because an earlier send may have left a document. `evolve` knows such an
 * answer by this text, which therefore never changes.
 */
export const REFUSED_AFTER_OTHERS = {
  note: 'rejected after an unknown attempt',
  cancellation: 'refused after an unknown attempt',
} as const;

/** When the two look-ups were asked that found nothing. A refusal has them when it became final by them. */
type Absences = { firstAskedAt: Instant; secondAskedAt: Instant };

export type CancelReason = 'issuance_error' | 'service_not_provided' | 'other';

export type Evidence = 'response' | 'lookup';

/** Why a document cannot be sent: its customer has no name, or our own check by the official schema refuses it. */
export type UnsendableReason = 'customer_name_missing' | 'document_invalid';

/**
 * Events of one invoice. This is the storage format: add types or optional fields, never rename or change a meaning. Golden files in
 * test/golden/events hold every version ever written. `*Gzip` is base64 of the gzipped exact bytes.
 */
type InvoiceEvents = {
  InvoiceAccepted: {
    mode: Mode;
    companyId: CompanyId;
    invoiceId: InvoiceId;
    amountInCents: Cents;
    /** Markers are already expanded. */
    description: string;
    competence: FiscalDate;
    customer?: Customer;
    foreignAmount?: ForeignAmount;
    reference?: string;
    line: ServiceLine;
    issuer: IssuerFacts;
    /** Decided at acceptance; absent where the document declares nothing (ADR 46). */
    ibsCbs?: IbsCbs;
    acceptedAt: Instant;
    idempotency?: IdempotencyMark;
    /** Key of the duplicate window: HMAC over company, mode, amount and the description as sent; SHA-256 in hex in version 1. */
    fingerprint: string;
  };
  IssuanceAttempted: {
    attempt: number;
    series: string;
    number: number;
    dpsId: DpsId;
    /** DigestValue of the signature: proves that a note found later embeds this DPS. Not sealed in version 1. */
    digest: string;
    /** Hash over digest and signature: the same proof where the digest can no longer be opened. Absent in version 1. */
    signatureMark?: string;
    signedDpsGzip: string;
    attemptedAt: Instant;
    /** After this instant no process sends this attempt. */
    deadlineAt: Instant;
  };
  IssuanceNotSent: { attempt: number; reason: string; codes: readonly string[]; at: Instant };
  IssuanceOutcomeUnknown: { attempt: number; reason: string; at: Instant } & Refusable & AuthorizerAnswer;
  IssuanceProvenAbsent: { attempt: number; dpsId: DpsId; firstAskedAt: Instant; secondAskedAt: Instant; at: Instant };
  Authorized: {
    attempt: number;
    accessKey: AccessKey;
    nfseNumber: string;
    /** `dhProc` of the note, in UTC: the API's `issued_at` (INV-issued_at). */
    authorizedAt: Instant;
    /** With its hash absent for a note that does not fit into an event; a download asks the authorizer for that note (ADR 30). */
    nfseXmlGzip?: string;
    nfseSha256?: string;
    evidence: Evidence;
    /** The log has lost the attempt; `doctor --reconcile` found its note (ADR 22), or a process had its answer in hand (ADR 14). */
    attemptLost?: true;
    at: Instant;
  };
  IssuanceRejected: { attempt: number; at: Instant } & Partial<Absences> & AuthorizerAnswer;
  /** No note exists and none can come: never sent, or (with a reason) not fit to be sent. */
  IssuanceFailed: { failedAt: Instant; reason?: UnsendableReason; at: Instant };
  NotProcessed: { failedAt: Instant; at: Instant };
  IssuanceInterrupted: { failedAt: Instant; at: Instant };
  NumberConflictFound: {
    attempt: number;
    dpsId: DpsId;
    accessKey: AccessKey;
    /** Not sealed in version 1. */
    foundDigest: string;
    /** Customer, amount and description equal ours: the note may be our own from before a restore. */
    sameContent: boolean;
    at: Instant;
  };
  CancellationRequested: { request: number; reason: CancelReason; description: string; requestedAt: Instant };
  CancellationAttempted: {
    request: number;
    attempt: number;
    /** `PRE` + access key + 101101: the same for every attempt. */
    requestId: string;
    /** Not sealed in version 1. */
    digest: string;
    signatureMark?: string;
    signedRequestGzip: string;
    attemptedAt: Instant;
    deadlineAt: Instant;
  };
  CancellationNotSent: { request: number; attempt: number; reason: string; codes: readonly string[]; at: Instant };
  CancellationOutcomeUnknown: {
    request: number;
    attempt: number;
    reason: string;
    /** The event in the way, as the refusal names it, where that event cancels the note (ADR 8). Absent in events of before November 28, 2026. */
    namedEvent?: CancelingEvent;
    at: Instant;
  } & Refusable &
    AuthorizerAnswer;
  CancellationProvenAbsent: {
    request: number;
    attempt: number;
    firstAskedAt: Instant;
    secondAskedAt: Instant;
    at: Instant;
  };
  CancellationConfirmed: {
    request: number;
    /** Absent for a document that does not fit into an event. */
    eventXmlGzip?: string;
    eventSha256: string;
    canceledAt: Instant;
    evidence: Evidence;
    at: Instant;
  };
  /** `document_invalid`: our own check refused the request, which was never sent. */
  CancellationNotConfirmed: {
    request: number;
    reason: 'refused' | 'timeout' | 'document_invalid';
    at: Instant;
  } & Partial<Absences> &
    AuthorizerAnswer;
  CancellationSettledBySupport: {
    evidence: string;
    eventXmlGzip?: string;
    eventSha256: string;
    canceledAt: Instant;
    at: Instant;
  };
  /** Support found that the authorizer shows no event for the note, and that the note is to stay: the failed cancellation needs no more work. */
  CancellationClosedBySupport: { evidence: string; at: Instant };
  /**
   * The authorizer holds an event of another party that cancels or replaces the note: of the national portal, of other software, of the municipality.
   * A cancellation of ours that was requested ends with it.
   */
  NoteCanceledElsewhere: {
    accessKey: AccessKey;
    eventType: CancelingEvent;
    /** The note that replaces this one, as the event of a substitution names it. */
    replacedBy?: AccessKey;
    eventXmlGzip?: string;
    eventSha256: string;
    /** `dhProc` of the event, in UTC. */
    canceledAt: Instant;
    /** What support knew when it had the note looked up; absent when a worker found the event. */
    evidence?: string;
    at: Instant;
  };
  /**
   * `absences` is missing in events that record only the verdict, and `otherSales` where no note of another sale was found or named. `attemptLost`: the note
   * was under a DPS id of the invoice with its content, and no `NumberConflictFound` says so.
   */
  IndeterminateResolved: { evidence: string; at: Instant } & (
    | {
        as: 'failed';
        absences?: readonly { dpsId: DpsId; firstAskedAt: Instant; secondAskedAt: Instant }[];
        otherSales?: readonly OtherSale[];
      }
    | {
        as: 'issued';
        accessKey: AccessKey;
        nfseNumber: string;
        authorizedAt: Instant;
        nfseXmlGzip?: string;
        nfseSha256?: string;
        attemptLost?: true;
      }
  );
  ReconciliationDifferenceFound: { kind: string; accessKey?: AccessKey; at: Instant };
  InvoiceImported: {
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
    accessKey?: AccessKey;
    createdAt?: Instant;
    issuedAt?: Instant;
    canceledAt?: Instant;
    replacedBy?: string;
    nfseXmlGzip?: string;
    nfseSha256?: string;
    /** SHA-256 in hex of the Idempotency-Key by which the client knows the invoice. */
    keyHash?: string;
    importedAt: Instant;
  };
  /** The stream is that of a reference or of an access key; the invoice is an imported one with another id. */
  ReferenceTaken: { invoiceId: InvoiceId; takenAt: Instant };
  TestInvoiceDeleted: { lastHash: string; deletedAt: Instant };
};

export type InvoiceEvent = EventOf<InvoiceEvents>;

export type InvoiceEventType = keyof InvoiceEvents;

export type InvoiceEventOf<T extends InvoiceEventType> = Extract<InvoiceEvent, { type: T }>;

export type InvoiceEventData<T extends InvoiceEventType> = InvoiceEvents[T];

/**
 * The fields that hold personal data, each sealed in storage (docs/architecture.md#sealing-and-hash-chain). `evolve` carries their values
 * unread, so that the read model can fold sealed events. A digest is personal, because its content can be guessed (ADR 32).
 */
export const invoicePersonalFields = {
  InvoiceAccepted: ['customer', 'description'],
  IssuanceAttempted: ['digest', 'signedDpsGzip'],
  IssuanceNotSent: [],
  IssuanceOutcomeUnknown: ['texts'],
  IssuanceProvenAbsent: [],
  Authorized: ['nfseXmlGzip'],
  IssuanceRejected: ['texts'],
  IssuanceFailed: [],
  NotProcessed: [],
  IssuanceInterrupted: [],
  NumberConflictFound: ['foundDigest'],
  CancellationRequested: ['description'],
  CancellationAttempted: ['digest', 'signedRequestGzip'],
  CancellationNotSent: [],
  CancellationOutcomeUnknown: ['texts'],
  CancellationProvenAbsent: [],
  CancellationConfirmed: ['eventXmlGzip'],
  CancellationNotConfirmed: ['texts'],
  CancellationSettledBySupport: ['evidence', 'eventXmlGzip'],
  CancellationClosedBySupport: ['evidence'],
  NoteCanceledElsewhere: ['eventXmlGzip', 'evidence'],
  IndeterminateResolved: ['evidence', 'nfseXmlGzip'],
  ReconciliationDifferenceFound: [],
  InvoiceImported: ['customer', 'description', 'nfseXmlGzip'],
  ReferenceTaken: [],
  TestInvoiceDeleted: [],
} as const satisfies Record<InvoiceEventType, readonly string[]>;

/**
 * The note of another sale under a DPS id of the invoice. `by`: its amount or customer differs (`content`), or the `operator` compared the note and said
 * so. `unseen`: the look-up of that settlement did not show that note.
 */
export type OtherSale = { dpsId: DpsId; accessKey: AccessKey; by: 'content' | 'operator'; unseen?: true };

/** Data of an event whose personal fields are missing when their key is gone. */
type Erasable<Data, Personal extends string> = Data extends unknown
  ? Omit<Data, Personal> & Partial<Pick<Data, Personal & keyof Data>>
  : never;

/** An invoice event as a reader gets it: opened, or with its personal fields sealed. */
export type ReadInvoiceEvent = {
  [T in InvoiceEventType]: { type: T; data: Erasable<InvoiceEventData<T>, (typeof invoicePersonalFields)[T][number]> };
}[InvoiceEventType];

/** The note that the event gives to its invoice, as the event records it; undefined for an event that gives none. */
export const noteGivenBy = (event: ReadInvoiceEvent) => {
  if (event.type === 'Authorized' || event.type === 'InvoiceImported') return event.data;
  return event.type === 'IndeterminateResolved' && event.data.as === 'issued' ? event.data : undefined;
};

const unchanged = <Data>(data: Data): Data => data;

/**
 * The upcasts of each type: the first makes version 2 of data of version 1, and so on. A type that is not listed has version 1 only. Version 1 of
 * these events holds hashes and digests that can be guessed back; readers tell both kinds apart by their text, so the data stays as it is (ADR 32).
 */
export const invoiceUpcasts = {
  InvoiceAccepted: [unchanged],
  IssuanceAttempted: [unchanged],
  NumberConflictFound: [unchanged],
  CancellationAttempted: [unchanged],
} as const satisfies Partial<Record<InvoiceEventType, readonly unknown[]>>;

export const invoiceEventTypes = Object.keys(invoicePersonalFields) as InvoiceEventType[];
