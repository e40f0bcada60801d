import fc from 'fast-check';
import type { DomainEvent } from '../../src/app/event-store/event-types.js';
import type { CompanyEvent, Registration } from '../../src/domain/company/events.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import {
  companyStream,
  invoiceStream,
  type Mode,
  type StreamName,
  systemApiStream,
} from '../../src/domain/shared/ids.js';
import { addSeconds } from '../../src/domain/shared/time.js';
import { NOW } from './support.js';

export const COMPANY = '12345678000195';
export const SECRETS = ['Maria Segredo', '52998224725', 'consultoria sigilosa', 'eGdzZWNyZXQ'];
const [name, document, description, gzip] = SECRETS as [string, string, string, string];

export const at = (seconds: number): string => addSeconds(NOW, seconds);

export const streamOf = (mode: Mode, n: number): StreamName =>
  invoiceStream(mode, COMPANY, `00000000-0000-8000-a000-${String(n).padStart(12, '0')}`);

export const accepted = (mode: Mode, n: number, seconds = 0): InvoiceEvent => ({
  type: 'InvoiceAccepted',
  data: {
    mode,
    companyId: COMPANY,
    invoiceId: `00000000-0000-8000-a000-${String(n).padStart(12, '0')}`,
    amountInCents: 12_345,
    description,
    competence: '2026-11-21',
    customer: { type: 'br', document, name },
    reference: `pedido-${n}`,
    line: { cnae: '6201501', serviceCode: '010101' },
    issuer: { municipality: '3550308', taxRegime: 'normal', simplesAssessment: 'none', specialRegime: 0 },
    acceptedAt: at(seconds),
    fingerprint: 'f',
  },
});

export const attempted = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'IssuanceAttempted',
  data: {
    attempt,
    series: '1',
    number: attempt,
    dpsId: `DPS${attempt}`,
    digest: 'd',
    signedDpsGzip: gzip,
    attemptedAt: at(seconds),
    deadlineAt: at(seconds + 30),
  },
});

export const authorized = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'Authorized',
  data: {
    attempt,
    accessKey: `${attempt}`.repeat(50),
    nfseNumber: '1',
    authorizedAt: at(seconds),
    nfseXmlGzip: gzip,
    nfseSha256: 's',
    evidence: 'response',
    at: at(seconds),
  },
});

export const cancelRequested = (seconds: number): InvoiceEvent => ({
  type: 'CancellationRequested',
  data: { request: 1, reason: 'other', description, requestedAt: at(seconds) },
});

export const cancelAttempted = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'CancellationAttempted',
  data: {
    request: 1,
    attempt,
    requestId: 'PRE',
    digest: 'd',
    signedRequestGzip: gzip,
    attemptedAt: at(seconds),
    deadlineAt: at(seconds + 30),
  },
});

export const cancelEnded = (seconds: number): InvoiceEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'refused', codes: ['E0840'], texts: [description], at: at(seconds) },
});

export const unknown = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'IssuanceOutcomeUnknown',
  data: { attempt, reason: 'timeout', codes: [], texts: [description], at: at(seconds) },
});

export const notSent = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'IssuanceNotSent',
  data: { attempt, reason: 'refused', codes: [], at: at(seconds) },
});

export const deleted: InvoiceEvent = { type: 'TestInvoiceDeleted', data: { lastHash: 'h', deletedAt: at(604_800) } };

export const registration: Registration = {
  cnpj: COMPANY,
  legalName: 'Empresa',
  city: 'São Paulo',
  state: 'SP',
  taxRegime: 'normal',
  simplesAssessment: 'none',
  specialRegime: 0,
  municipalRegistration: {},
  dps: { live: { series: '1', nextNumber: 1 }, test: { series: '2', nextNumber: 1 } },
  activities: [{ cnae: '6201501', isMain: true }],
  automaticIssuance: true,
  issuerConfigured: true,
  issuerApproved: true,
};

export const keyCreated = (keyId: string): CompanyEvent => ({
  type: 'ApiKeyCreated',
  data: { keyId, companyId: COMPANY, mode: 'live', scopes: ['nfse:read'], keyHash: `hash-${keyId}`, at: NOW },
});

export const keyRevoked = (keyId: string): CompanyEvent => ({ type: 'ApiKeyRevoked', data: { keyId, at: NOW } });

export type History = { stream: StreamName; events: readonly DomainEvent[] };

const invoiceLife = (mode: Mode, n: number): fc.Arbitrary<History> =>
  fc
    .record({
      middle: fc.array(fc.constantFrom(attempted, unknown, notSent), { maxLength: 5 }),
      issued: fc.boolean(),
      canceled: fc.array(fc.constantFrom(cancelAttempted(1, 300), cancelEnded(301)), { maxLength: 3 }),
      ended: fc.boolean(),
    })
    .map(({ middle, issued, canceled, ended }) => ({
      stream: streamOf(mode, n),
      events: [
        accepted(mode, n, n),
        ...middle.map((make, index) => make(1 + Math.floor(index / 2), 10 + index)),
        ...(issued ? [authorized(1, 100), cancelRequested(200), ...canceled] : []),
        ...(ended && mode === 'test' ? [deleted] : []),
      ],
    }));

/** Lives of some invoices, a company with keys, and the kill switch: valid for the folds, in no realistic order. */
export const histories: fc.Arbitrary<readonly History[]> = fc.tuple(
  ...[1, 2, 3].map((n) => invoiceLife('live', n)),
  ...[1, 2, 3].map((n) => invoiceLife('test', n)),
  fc.subarray(['k1', 'k2', 'k3']).map((revoked) => ({
    stream: companyStream(COMPANY),
    events: [
      { type: 'CompanyRegistered' as const, data: { registration, at: NOW } },
      ...['k1', 'k2', 'k3'].map(keyCreated),
      { type: 'CompanyEnabled' as const, data: { at: NOW } },
      ...revoked.map(keyRevoked),
    ],
  })),
  fc.integer({ min: 0, max: 3 }).map((times) => ({
    stream: systemApiStream,
    events: Array.from(
      { length: times },
      (_, n): DomainEvent => ({ type: n % 2 === 0 ? 'ApiSwitchedOff' : 'ApiSwitchedOn', data: { at: NOW } }),
    ),
  })),
);
