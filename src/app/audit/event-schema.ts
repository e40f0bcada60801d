import * as v from 'valibot';
import { cancelingEvents } from '../../domain/common/access-key.js';
import type { InvoiceEventType } from '../../domain/invoice/events.js';
import type { DomainEvent } from '../event-store/event-types.js';
import {
  anchorFields,
  approximateTaxes,
  base64,
  boolean,
  companyId,
  date,
  dpsStart,
  hash,
  ibsCbsChoice,
  instant,
  integerFrom0,
  integerFrom1,
  keyedHash,
  mode,
  optional,
  sealed,
  strictObject,
  taxParts,
  text,
  texts,
  uuid,
} from './schema-parts.js';

const answer = { codes: texts, httpStatus: optional(integerFrom0), texts: optional(sealed) };
const refusable = { refused: optional(v.literal(true)), ...answer };
const send = { attemptedAt: instant, deadlineAt: instant };
const absence = { firstAskedAt: instant, secondAskedAt: instant, at: instant };
/** A refusal has both instants, or neither. */
const absences = { firstAskedAt: optional(instant), secondAskedAt: optional(instant) };
const ofRequest = { request: integerFrom1, attempt: integerFrom1 };
const verdict = strictObject({ failedAt: instant, at: instant });
const answeredBy = v.picklist(['response', 'lookup'], 'must be response or lookup');
const foreignAmount = optional(strictObject({ currency: text, amountInCents: integerFrom0 }));
/** A document that does not fit into an event is recorded without its bytes. */
const document = { nfseXmlGzip: optional(sealed), nfseSha256: optional(hash) };
const note = { accessKey: text, nfseNumber: text, authorizedAt: instant, ...document };
const cancelEvent = { eventXmlGzip: optional(sealed), eventSha256: hash, canceledAt: instant };

/** How an event version stores the hashes of a request and the digest of a document: keyed and sealed, or plain as in version 1 (ADR 32). */
type VersionHashes = { guardHash: typeof keyedHash | typeof hash; digest: typeof sealed | typeof base64 };

const newest: VersionHashes = { guardHash: keyedHash, digest: sealed };
const plain: VersionHashes = { guardHash: hash, digest: base64 };

const acceptedWith = ({ guardHash }: VersionHashes) =>
  strictObject({
    mode,
    companyId,
    invoiceId: uuid,
    amountInCents: integerFrom0,
    description: sealed,
    competence: date,
    customer: optional(sealed),
    foreignAmount,
    reference: optional(text),
    line: strictObject({
      cnae: text,
      serviceCode: text,
      nbs: optional(text),
      municipalCode: optional(text),
      issqnDue: optional(v.literal('where_performed')),
      ibsCbs: optional(strictObject({ cIndOp: text, cClassTrib: text })),
    }),
    issuer: strictObject({
      municipality: text,
      taxRegime: v.picklist(['mei', 'simples', 'normal']),
      simplesAssessment: v.picklist(['all', 'federal_only', 'none']),
      specialRegime: integerFrom0,
      approximateTaxPercent: optional(text),
      approximateTaxes: optional(taxParts),
      municipalRegistration: optional(text),
    }),
    ibsCbs: optional(strictObject({ cIndOp: text, cClassTrib: text, cClassTribReg: optional(text) })),
    acceptedAt: instant,
    idempotency: optional(strictObject({ keyHash: text, bodyHash: guardHash })),
    fingerprint: guardHash,
  });

const imported = strictObject({
  mode,
  companyId,
  invoiceId: uuid,
  origin: v.picklist(['legacy', 'web', 'manual']),
  state: v.picklist(['issued', 'canceled', 'replaced']),
  amountInCents: integerFrom0,
  description: optional(sealed),
  competence: optional(date),
  customer: optional(sealed),
  foreignAmount,
  reference: optional(text),
  serviceCode: optional(text),
  cnae: optional(text),
  accessKey: optional(text),
  createdAt: optional(instant),
  issuedAt: optional(instant),
  canceledAt: optional(instant),
  replacedBy: optional(text),
  nfseXmlGzip: optional(sealed),
  nfseSha256: optional(hash),
  keyHash: optional(hash),
  importedAt: instant,
});

const attemptedWith = ({ digest }: VersionHashes) =>
  strictObject({
    attempt: integerFrom1,
    series: text,
    number: integerFrom1,
    dpsId: text,
    digest,
    signatureMark: optional(hash),
    signedDpsGzip: sealed,
    ...send,
  });

const conflictWith = ({ digest }: VersionHashes) =>
  strictObject({
    attempt: integerFrom1,
    dpsId: text,
    accessKey: text,
    foundDigest: digest,
    sameContent: boolean,
    at: instant,
  });

const cancelAttemptedWith = ({ digest }: VersionHashes) =>
  strictObject({
    ...ofRequest,
    requestId: text,
    digest,
    signatureMark: optional(hash),
    signedRequestGzip: sealed,
    ...send,
  });

/** Schemas of the earlier versions of a type, from version 1 on. They check data after the upcasts. */
export const earlierInvoiceSchemas: Partial<Record<InvoiceEventType, readonly v.GenericSchema[]>> = {
  InvoiceAccepted: [acceptedWith(plain)],
  IssuanceAttempted: [attemptedWith(plain)],
  NumberConflictFound: [conflictWith(plain)],
  CancellationAttempted: [cancelAttemptedWith(plain)],
};

/** `data` of every invoice event of the newest version, as it is stored: personal fields sealed. */
const invoiceSchemas = {
  InvoiceAccepted: acceptedWith(newest),
  IssuanceAttempted: attemptedWith(newest),
  IssuanceNotSent: strictObject({ attempt: integerFrom1, reason: text, codes: texts, at: instant }),
  IssuanceOutcomeUnknown: strictObject({ attempt: integerFrom1, reason: text, ...refusable, at: instant }),
  IssuanceProvenAbsent: strictObject({ attempt: integerFrom1, dpsId: text, ...absence }),
  Authorized: strictObject({
    attempt: integerFrom1,
    ...note,
    evidence: answeredBy,
    attemptLost: optional(v.literal(true)),
    at: instant,
  }),
  IssuanceRejected: strictObject({ attempt: integerFrom1, ...answer, ...absences, at: instant }),
  IssuanceFailed: strictObject({
    failedAt: instant,
    reason: optional(v.picklist(['customer_name_missing', 'document_invalid'])),
    at: instant,
  }),
  NotProcessed: verdict,
  IssuanceInterrupted: verdict,
  NumberConflictFound: conflictWith(newest),
  CancellationRequested: strictObject({
    request: integerFrom1,
    reason: v.picklist(['issuance_error', 'service_not_provided', 'other']),
    description: sealed,
    requestedAt: instant,
  }),
  CancellationAttempted: cancelAttemptedWith(newest),
  CancellationNotSent: strictObject({ ...ofRequest, reason: text, codes: texts, at: instant }),
  CancellationOutcomeUnknown: strictObject({
    ...ofRequest,
    reason: text,
    namedEvent: optional(v.picklist(cancelingEvents)),
    ...refusable,
    at: instant,
  }),
  CancellationProvenAbsent: strictObject({ ...ofRequest, ...absence }),
  CancellationConfirmed: strictObject({ request: integerFrom1, ...cancelEvent, evidence: answeredBy, at: instant }),
  CancellationNotConfirmed: strictObject({
    request: integerFrom1,
    reason: v.picklist(['refused', 'timeout', 'document_invalid']),
    ...answer,
    ...absences,
    at: instant,
  }),
  CancellationSettledBySupport: strictObject({ evidence: sealed, ...cancelEvent, at: instant }),
  CancellationClosedBySupport: strictObject({ evidence: sealed, at: instant }),
  NoteCanceledElsewhere: strictObject({
    accessKey: text,
    eventType: v.picklist(cancelingEvents),
    replacedBy: optional(text),
    ...cancelEvent,
    evidence: optional(sealed),
    at: instant,
  }),
  IndeterminateResolved: v.variant('as', [
    strictObject({
      as: v.literal('failed'),
      absences: optional(v.array(strictObject({ dpsId: text, firstAskedAt: instant, secondAskedAt: instant }))),
      otherSales: optional(
        v.array(
          strictObject({
            dpsId: text,
            accessKey: text,
            by: v.picklist(['content', 'operator']),
            unseen: optional(v.literal(true)),
          }),
        ),
      ),
      evidence: sealed,
      at: instant,
    }),
    strictObject({
      as: v.literal('issued'),
      evidence: sealed,
      ...note,
      attemptLost: optional(v.literal(true)),
      at: instant,
    }),
  ]),
  ReconciliationDifferenceFound: strictObject({ kind: text, accessKey: optional(text), at: instant }),
  InvoiceImported: imported,
  ReferenceTaken: strictObject({ invoiceId: uuid, takenAt: instant }),
  TestInvoiceDeleted: strictObject({ lastHash: hash, deletedAt: instant }),
} as const satisfies Record<InvoiceEventType, v.GenericSchema>;

const atOnly = strictObject({ at: instant });

const registered = strictObject({
  registration: strictObject({
    cnpj: companyId,
    legalName: text,
    city: text,
    state: text,
    taxRegime: v.picklist(['mei', 'simples', 'normal']),
    simplesAssessment: v.picklist(['all', 'federal_only', 'none']),
    specialRegime: integerFrom0,
    approximateTaxPercent: optional(text),
    approximateTaxes: optional(v.array(approximateTaxes)),
    municipalRegistration: strictObject({ live: optional(text), test: optional(text) }),
    dps: strictObject({ live: dpsStart, test: dpsStart }),
    municipalCodes: optional(v.array(strictObject({ serviceCode: text, municipalCode: text }))),
    activities: v.array(strictObject({ cnae: text, isMain: boolean })),
    ibsCbs: optional(
      strictObject({
        declare: boolean,
        exportClassTrib: optional(text),
        services: v.array(strictObject({ serviceCode: text, ...ibsCbsChoice })),
      }),
    ),
    automaticIssuance: boolean,
    issuerConfigured: boolean,
    issuerApproved: boolean,
  }),
  at: instant,
});

/** `data` of every event that is not of an invoice, as it is stored: personal fields sealed. */
const otherSchemas = {
  CompanyRegistered: registered,
  CompanyChanged: registered,
  CompanyEnabled: atOnly,
  CompanyDisabled: atOnly,
  ApiKeyCreated: strictObject({
    keyId: text,
    companyId,
    mode,
    scopes: v.array(v.picklist(['nfse:read', 'nfse:write'])),
    keyHash: text,
    at: instant,
  }),
  ApiKeyRevoked: strictObject({ keyId: text, at: instant }),
  CertificateStored: strictObject({
    certificateId: text,
    notBefore: instant,
    notAfter: instant,
    fingerprint: text,
    at: instant,
  }),
  CertificateOpened: strictObject({
    certificateId: text,
    unusable: optional(v.picklist(['key_size', 'key_exponent', 'key_broken'])),
    at: instant,
  }),
  CertificatesRemoved: strictObject({ certificateIds: v.array(text), at: instant }),
  DpsNumberAllocated: strictObject({ number: integerFrom1, nextNumber: integerFrom1, invoiceId: uuid, at: instant }),
  DpsNumberMoved: strictObject({ nextNumber: integerFrom1, at: instant }),
  DpsSeriesBlocked: strictObject({ nextNumber: integerFrom1, number: integerFrom1, invoiceId: uuid, at: instant }),
  ApiSwitchedOff: strictObject({ reason: optional(text), at: instant }),
  ApiSwitchedOn: atOnly,
  CatalogLinesReplaced: strictObject({
    cnae: text,
    lines: v.array(
      strictObject({
        cnae: text,
        serviceCode: text,
        nbs: optional(text),
        description: text,
        isDefault: boolean,
        isBlocked: boolean,
        municipalCode: optional(text),
        ...ibsCbsChoice,
        incidence: optional(text),
      }),
    ),
    at: instant,
  }),
  MunicipalityDemandsSet: strictObject({
    ibge: text,
    requiresCustomer: optional(boolean),
    requiresRegistration: optional(boolean),
    at: instant,
  }),
  RegistryEntryPut: strictObject({ cnpj: companyId, legalName: sealed, address: optional(sealed), at: instant }),
  LogAnchored: strictObject(anchorFields),
  PersonalDataRevealed: strictObject({ command: text, subject: text, at: instant }),
  ParkedWorkRetried: strictObject({ subject: text, at: instant }),
  ProjectionRebuildOrdered: strictObject({ projection: text, at: instant }),
  ProjectionRollbackOrdered: strictObject({ projection: text, at: instant }),
  MasterKeyGivenUp: strictObject({ generation: text, reason: text, at: instant }),
  LogRecovered: strictObject({
    unknownNotes: integerFrom0,
    accessKeys: texts,
    heldCompanies: optional(texts),
    at: instant,
  }),
  ConsoleSignedIn: strictObject({ session: text, peer: text, at: instant }),
  ConsoleSignInRefused: strictObject({ operator: text, peer: text, at: instant }),
  ConsoleSignedOut: strictObject({ session: text, peer: text, at: instant }),
} as const satisfies Record<Exclude<DomainEvent['type'], keyof typeof invoiceSchemas>, v.GenericSchema>;

/** By event type: the schema of its newest version's data. */
export const dataSchemas: ReadonlyMap<string, v.GenericSchema> = new Map(
  Object.entries({ ...invoiceSchemas, ...otherSchemas }),
);

type Schemas = typeof invoiceSchemas & typeof otherSchemas;

/** The paths of the fields of a value, with a mark at an optional one: `line.cnae`, `line.nbs?`. The path of a list continues into its items. */
type Fields<Value> = Value extends string | number | boolean | undefined
  ? never
  : Value extends readonly (infer Item)[]
    ? Fields<Item>
    : {
        [Key in keyof Value & string]-?:
          | `${Key}${undefined extends Value[Key] ? '?' : ''}`
          | `${Key}.${Fields<Value[Key]>}`;
      }[keyof Value & string];

type TextFields<Form> = { [Key in keyof Form]-?: Form[Key] extends string | undefined ? Key : never }[keyof Form];

/** The data as it is stored, where a sealed field is text whatever its type in the domain. */
type Stored<Data, Form> = Data extends unknown
  ? { [Key in keyof Data]: Key extends TextFields<Form> ? string : Data[Key] }
  : never;

type Differences<Left, Right> = Exclude<Left, Right> | Exclude<Right, Left>;

/** By event type, the fields that only its data has or only its newest schema has. */
type SchemaFaults<Type extends DomainEvent['type']> = Differences<
  Fields<Stored<Extract<DomainEvent, { type: Type }>['data'], v.InferInput<Schemas[Type]>>>,
  Fields<v.InferInput<Schemas[Type]>>
>;

// Compiles while every field of every event is in its schema: `audit verify` would call the events with another field faulty.
({}) satisfies {
  [Type in DomainEvent['type'] as [SchemaFaults<Type>] extends [never] ? never : Type]: SchemaFaults<Type>;
};
