import * as v from 'valibot';
import type { InvoiceEventType } from '../../domain/invoice/events.js';
import {
  base64,
  companyId,
  counted,
  date,
  flag,
  hash,
  instant,
  keyedHash,
  maybe,
  mode,
  sealed,
  shape,
  text,
  texts,
  uuid,
  whole,
} from './schema-parts.js';

const answer = { codes: texts, httpStatus: maybe(whole), texts: maybe(sealed) };
const send = { attemptedAt: instant, deadlineAt: instant };
const absence = { firstAskedAt: instant, secondAskedAt: instant, at: instant };
const ofRequest = { request: counted, attempt: counted };
const verdict = shape({ failedAt: instant, at: instant });
const evidence = v.picklist(['response', 'lookup'], 'must be response or lookup');
const foreignAmount = maybe(shape({ currency: text, amountInCents: whole }));
const note = { accessKey: text, nfseNumber: text, authorizedAt: instant, nfseXmlGzip: sealed, nfseSha256: hash };
const cancelEvent = { eventXmlGzip: sealed, eventSha256: hash, canceledAt: instant };

/** What a version holds of a request and of a document: as hash under a key and sealed, or plain as version 1 did (ADR 32). */
type Kept = { guardHash: typeof keyedHash | typeof hash; digest: typeof sealed | typeof base64 };

const newest: Kept = { guardHash: keyedHash, digest: sealed };
const plain: Kept = { guardHash: hash, digest: base64 };

const acceptedWith = ({ guardHash }: Kept) =>
  shape({
    mode,
    companyId,
    invoiceId: uuid,
    amountInCents: whole,
    description: sealed,
    competence: date,
    customer: maybe(sealed),
    foreignAmount,
    reference: maybe(text),
    line: shape({
      ...{ cnae: text, serviceCode: text, nbs: maybe(text), municipalCode: maybe(text) },
      issqnDue: maybe(v.literal('where_performed')),
      ibsCbs: maybe(shape({ cIndOp: text, cClassTrib: text })),
    }),
    issuer: shape({
      municipality: text,
      taxRegime: v.picklist(['mei', 'simples', 'normal']),
      simplesAssessment: v.picklist(['all', 'federal_only', 'none']),
      specialRegime: whole,
      approximateTaxPercent: maybe(text),
      municipalRegistration: maybe(text),
    }),
    acceptedAt: instant,
    idempotency: maybe(shape({ keyHash: text, bodyHash: guardHash })),
    fingerprint: guardHash,
  });

const imported = shape({
  mode,
  companyId,
  invoiceId: uuid,
  origin: v.picklist(['legacy', 'web', 'manual']),
  state: v.picklist(['issued', 'canceled', 'replaced']),
  amountInCents: whole,
  description: maybe(sealed),
  competence: maybe(date),
  customer: maybe(sealed),
  foreignAmount,
  reference: maybe(text),
  serviceCode: maybe(text),
  cnae: maybe(text),
  accessKey: maybe(text),
  createdAt: maybe(instant),
  issuedAt: maybe(instant),
  canceledAt: maybe(instant),
  replacedBy: maybe(text),
  nfseXmlGzip: maybe(sealed),
  nfseSha256: maybe(hash),
  importedAt: instant,
});

const attemptedWith = ({ digest }: Kept) =>
  shape({
    ...{ attempt: counted, series: text, number: counted, dpsId: text, digest, signatureMark: maybe(hash) },
    ...{ signedDpsGzip: sealed, ...send },
  });

const conflictWith = ({ digest }: Kept) =>
  shape({
    ...{ attempt: counted, dpsId: text, accessKey: text, foundDigest: digest, sameContent: flag },
    at: instant,
  });

const cancelAttemptedWith = ({ digest }: Kept) =>
  shape({
    ...{ ...ofRequest, requestId: text, digest, signatureMark: maybe(hash) },
    ...{ signedRequestGzip: sealed, ...send },
  });

/** Of the versions before, from 1 on, for the types that have any; lifted, as the newest are. */
export const earlierInvoiceSchemas: Partial<Record<InvoiceEventType, readonly v.GenericSchema[]>> = {
  InvoiceAccepted: [acceptedWith(plain)],
  IssuanceAttempted: [attemptedWith(plain)],
  NumberConflictFound: [conflictWith(plain)],
  CancellationAttempted: [cancelAttemptedWith(plain)],
};

/** `data` of every invoice event of the newest version, as it is stored: personal fields sealed. */
export const invoiceSchemas = {
  InvoiceAccepted: acceptedWith(newest),
  IssuanceAttempted: attemptedWith(newest),
  IssuanceNotSent: shape({ attempt: counted, reason: text, codes: texts, at: instant }),
  IssuanceOutcomeUnknown: shape({ attempt: counted, reason: text, ...answer, at: instant }),
  IssuanceProvenAbsent: shape({ attempt: counted, dpsId: text, ...absence }),
  Authorized: shape({ attempt: counted, ...note, evidence, attemptLost: maybe(flag), at: instant }),
  IssuanceRejected: shape({ attempt: counted, ...answer, at: instant }),
  IssuanceFailed: shape({ failedAt: instant, reason: maybe(v.literal('customer_name_missing')), at: instant }),
  NotProcessed: verdict,
  IssuanceInterrupted: verdict,
  NumberConflictFound: conflictWith(newest),
  CancellationRequested: shape({
    request: counted,
    reason: v.picklist(['issuance_error', 'service_not_provided', 'other']),
    description: sealed,
    requestedAt: instant,
  }),
  CancellationAttempted: cancelAttemptedWith(newest),
  CancellationNotSent: shape({ ...ofRequest, reason: text, codes: texts, at: instant }),
  CancellationOutcomeUnknown: shape({ ...ofRequest, reason: text, ...answer, at: instant }),
  CancellationProvenAbsent: shape({ ...ofRequest, ...absence }),
  CancellationConfirmed: shape({ request: counted, ...cancelEvent, evidence, at: instant }),
  CancellationNotConfirmed: shape({
    request: counted,
    reason: v.picklist(['refused', 'timeout']),
    ...answer,
    at: instant,
  }),
  CancellationSettledBySupport: shape({ evidence: sealed, ...cancelEvent, at: instant }),
  IndeterminateResolved: v.variant('as', [
    shape({
      as: v.literal('failed'),
      absences: maybe(v.array(shape({ dpsId: text, firstAskedAt: instant, secondAskedAt: instant }))),
      ...{ evidence: sealed, at: instant },
    }),
    shape({ as: v.literal('issued'), evidence: sealed, ...note, at: instant }),
  ]),
  ReconciliationDifferenceFound: shape({ kind: text, accessKey: maybe(text), at: instant }),
  InvoiceImported: imported,
  ReferenceTaken: shape({ invoiceId: uuid, takenAt: instant }),
  TestInvoiceDeleted: shape({ lastHash: hash, deletedAt: instant }),
} as const satisfies Record<InvoiceEventType, v.GenericSchema>;
