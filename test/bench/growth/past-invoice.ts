import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import {
  type AccessKey,
  accessKeyCheckDigit,
  cancellationRequestId,
  dpsId,
} from '../../../src/domain/common/access-key.js';
import { type InvoiceId, invoiceStream, type StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { Owner } from './companies.js';

/** How the invoice ended. `indeterminate` and `unconfirmed` wait for support. */
type Ending = 'issued' | 'rejected' | 'canceled' | 'indeterminate' | 'unconfirmed';

type PastInvoice = { invoiceId: InvoiceId; stream: StreamName; events: readonly InvoiceEvent[] };

/** How many invoices wait for support, at any size of the history: support settles them, so they do not grow with it. */
const INDETERMINATE = 40;
const UNCONFIRMED = 20;

const endingOf = (number: number, mode: Owner['mode']): Ending => {
  if (mode === 'live' && number <= INDETERMINATE) return 'indeterminate';
  if (mode === 'live' && number <= INDETERMINATE + UNCONFIRMED) return 'unconfirmed';
  if (number % 50 === 0) return 'rejected';
  return number % 100 === 1 ? 'canceled' : 'issued';
};

export const SERIES = '1';
const MUNICIPALITY = '3304557';

export const referenceOf = (number: number): string => `pedido-${number}`;

/** As every generated invoice of this number has it. */
export const accessKeyOf = ({ companyId }: Owner, number: number): AccessKey => {
  const first49 = `${MUNICIPALITY}22${companyId}${String(number).padStart(13, '0')}2611${String(number).padStart(9, '0')}`;
  return `${first49}${accessKeyCheckDigit(first49)}`;
};

/** The whole life of one invoice, with the DPS number `number` of its owner. Documents are as large as real ones, compressed. */
export const pastInvoice = (owner: Owner, number: number, at: Instant): PastInvoice => {
  const { mode, companyId } = owner;
  const reference = referenceOf(number);
  const invoiceId = invoiceIdOfReference(mode, companyId, reference);
  const accepted: InvoiceEvent = {
    type: 'InvoiceAccepted',
    data: {
      mode,
      companyId,
      invoiceId,
      reference,
      acceptedAt: at,
      competence: at.slice(0, 10),
      amountInCents: 8_000 + number,
      description: `Desenvolvimento de sistema, parcela de novembro de 2026, pedido ${invoiceId}`,
      customer: { type: 'br', document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115021000' },
      issuer: {
        municipality: MUNICIPALITY,
        taxRegime: 'simples',
        simplesAssessment: 'all',
        specialRegime: 0,
        approximateTaxPercent: '6.00',
      },
      idempotency: { keyHash: hexText(), bodyHash: hmacText() },
      fingerprint: hmacText(),
    },
  };
  const ending = endingOf(number, mode);
  return {
    invoiceId,
    stream: invoiceStream(mode, companyId, invoiceId),
    events: [accepted, attempted(owner, number, at), ...ended(ending, owner, number, at)],
  };
};

const hmacText = (): string => `hmac:1:m1.0123456789abcdef:${slice(32).toString('base64url')}`;

const hexText = (): string => slice(32).toString('hex');

const attempted = ({ companyId: cnpj }: Owner, number: number, at: Instant): InvoiceEvent => ({
  type: 'IssuanceAttempted',
  data: {
    attempt: 1,
    series: SERIES,
    number,
    digest: digestText(),
    dpsId: dpsId({ municipality: MUNICIPALITY, cnpj, series: SERIES, number }),
    signatureMark: hexText(),
    signedDpsGzip: gzipOf(1_700),
    attemptedAt: addSeconds(at, 1),
    deadlineAt: addSeconds(at, 36),
  },
});

const authorized = (owner: Owner, number: number, at: Instant): InvoiceEvent => ({
  type: 'Authorized',
  data: {
    attempt: 1,
    accessKey: accessKeyOf(owner, number),
    nfseNumber: String(number),
    evidence: 'response',
    authorizedAt: addSeconds(at, 2),
    at: addSeconds(at, 2),
    nfseXmlGzip: gzipOf(3_000),
    nfseSha256: hexText(),
  },
});

const canceling = (owner: Owner, number: number, at: Instant): readonly InvoiceEvent[] => {
  const requestedAt = addSeconds(at, 3_600);
  return [
    {
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Cancelamento pedido pelo cliente.', requestedAt },
    },
    {
      type: 'CancellationAttempted',
      data: {
        request: 1,
        attempt: 1,
        requestId: cancellationRequestId(accessKeyOf(owner, number)),
        digest: digestText(),
        signatureMark: hexText(),
        signedRequestGzip: gzipOf(1_200),
        attemptedAt: addSeconds(requestedAt, 1),
        deadlineAt: addSeconds(requestedAt, 36),
      },
    },
  ];
};

const ended = (ending: Ending, owner: Owner, number: number, at: Instant): readonly InvoiceEvent[] => {
  switch (ending) {
    case 'issued':
      return [authorized(owner, number, at)];
    case 'rejected':
      return [
        { type: 'IssuanceRejected', data: { attempt: 1, codes: ['E0188'], httpStatus: 400, at: addSeconds(at, 2) } },
      ];
    case 'canceled':
      return [authorized(owner, number, at), ...canceling(owner, number, at), confirmed(addSeconds(at, 3_602))];
    case 'indeterminate':
      return [
        { type: 'IssuanceOutcomeUnknown', data: { attempt: 1, reason: 'timeout', codes: [], at: addSeconds(at, 31) } },
        { type: 'IssuanceInterrupted', data: { failedAt: addSeconds(at, 3_631), at: addSeconds(at, 3_633) } },
      ];
    default:
      return [authorized(owner, number, at), ...canceling(owner, number, at), unconfirmed(addSeconds(at, 7_201))];
  }
};

const confirmed = (at: Instant): InvoiceEvent => ({
  type: 'CancellationConfirmed',
  data: {
    request: 1,
    eventXmlGzip: gzipOf(1_600),
    eventSha256: hexText(),
    canceledAt: at,
    evidence: 'response',
    at,
  },
});

const unconfirmed = (at: Instant): InvoiceEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'timeout', codes: [], at },
});

/** Random bytes, because what is compressed or hashed does not compress; taken from one pool, because making them costs more than sealing them. */
const POOL = randomBytes(1_048_576);
let taken = 0;
const slice = (bytes: number): Buffer => {
  taken = (taken + 7_919) % (POOL.length - bytes);
  return POOL.subarray(taken, taken + bytes);
};

const digestText = (): string => slice(32).toString('base64');

/** A gzip file that holds no certificate, because a service with the simulator reads the newest live note when it starts. Random bytes are stored as they are. */
const gzipOf = (bytes: number): string => gzipSync(slice(bytes), { level: 0 }).toString('base64');
