import type { DomainEvent } from '../../src/app/event-store/event-types.js';
import { anchorStream, consoleStream, revealsStream, supportStream } from '../../src/domain/audit/events.js';
import { catalogStream } from '../../src/domain/catalog/events.js';
import {
  companyStream,
  dpsStream,
  invoiceStream,
  type StreamName,
  systemApiStream,
} from '../../src/domain/common/ids.js';
import type { Registration } from '../../src/domain/company/events.js';
import { municipalityStream } from '../../src/domain/municipality/events.js';
import { registryStream } from '../../src/domain/registry/events.js';
import type { SealingKeys } from '../../src/ports/sealing-keys.js';

/** The key under which every golden event was sealed; it protects nothing. */
export const goldenKeys: SealingKeys = {
  forSealing: async () => ({ generation: 'golden', key: GOLDEN_KEY }),
  forOpening: async (generation) => (generation === 'golden' ? GOLDEN_KEY : undefined),
};

const GOLDEN_KEY = Buffer.alloc(32, 'golden');

type DataOf<T extends DomainEvent['type']> = Extract<DomainEvent, { type: T }>['data'];

const AT = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-21T12:00:35.000Z';
const COMPANY = '12345678000195';
const INVOICE = '11111111-1111-4111-8111-111111111111';
const SESSION = '22222222-2222-4222-8222-222222222222';
const ACCESS_KEY = '33045572212345678000195000000000014826082012345670';
const DPS_ID = 'DPS330455721234567800019500001000000000000007';
const XML = 'H4sIAAAAAAAAA7PxS/NLK7YDAEHDuG4GAAAA';
const HASH = 'ab'.repeat(32);
const KEYED = `hmac:1:m1.0123456789abcdef:${'Ab-_'.repeat(10)}ABC`;

const address = {
  street: 'Hauptstraße',
  number: '1',
  district: 'Mitte',
  city: 'Köln',
  state: 'NRW',
  postalCode: '50667',
  country: 'DE',
};

const registration: Registration = {
  cnpj: COMPANY,
  legalName: 'ESTÚDIO EXEMPLO LTDA',
  city: 'Rio de Janeiro',
  state: 'RJ',
  taxRegime: 'simples',
  simplesAssessment: 'all',
  specialRegime: 0,
  approximateTaxPercent: '6.00',
  municipalRegistration: { live: '12345678' },
  dps: { live: { series: '1', nextNumber: 1 }, test: { series: '900', nextNumber: 1 } },
  activities: [
    { cnae: '6201501', isMain: true },
    { cnae: '6202300', isMain: false },
  ],
  automaticIssuance: true,
  issuerConfigured: true,
  issuerApproved: false,
};

const answer = { codes: ['E0120', 'E0004'], httpStatus: 400, texts: ['Texto do autorizador'] };
const send = { attemptedAt: AT, deadlineAt: LATER };

/**
 * A further instance of an event: for optional fields that exclude those of the full one, and for fields that are newer than its file, because
 * the file is never written again.
 */
export const goldenVariants = {
  'InvoiceAccepted.v1.declared': {
    type: 'InvoiceAccepted',
    data: {
      mode: 'live',
      companyId: COMPANY,
      invoiceId: INVOICE,
      amountInCents: 150_000,
      description: 'Serviço de programação',
      competence: '2026-11-21',
      customer: {
        type: 'br',
        document: '11111111000191',
        name: 'CLIENTE LTDA',
        address: {
          street: 'Rua das Flores',
          number: '100',
          complement: 'Sala 4',
          district: 'Centro',
          municipality: '3550308',
          postalCode: '01310100',
        },
      },
      line: {
        cnae: '6201501',
        serviceCode: '010101',
        nbs: '115022000',
        issqnDue: 'where_performed',
        ibsCbs: { cIndOp: '100301', cClassTrib: '000001' },
      },
      issuer: { municipality: '3304557', taxRegime: 'normal', simplesAssessment: 'all', specialRegime: 0 },
      acceptedAt: AT,
      fingerprint: HASH,
    },
  },
  'InvoiceAccepted.v2.ibs-cbs': {
    type: 'InvoiceAccepted',
    data: {
      mode: 'live',
      companyId: COMPANY,
      invoiceId: INVOICE,
      amountInCents: 150_000,
      description: 'Serviço de programação',
      competence: '2027-01-01',
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
      issuer: { municipality: '3304557', taxRegime: 'simples', simplesAssessment: 'none', specialRegime: 0 },
      ibsCbs: { cIndOp: '050101', cClassTrib: '550016', cClassTribReg: '000001' },
      acceptedAt: AT,
      fingerprint: KEYED,
    },
  },
  'InvoiceAccepted.v2.taxes': {
    type: 'InvoiceAccepted',
    data: {
      mode: 'live',
      companyId: COMPANY,
      invoiceId: INVOICE,
      amountInCents: 150_000,
      description: 'Serviço de programação',
      competence: '2027-01-01',
      line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
      issuer: {
        municipality: '3304557',
        taxRegime: 'simples',
        simplesAssessment: 'none',
        specialRegime: 0,
        approximateTaxes: { federal: '13.45', state: '0.00', municipal: '2.90' },
      },
      acceptedAt: AT,
      fingerprint: KEYED,
    },
  },
  'CompanyChanged.v1.ibs-cbs': {
    type: 'CompanyChanged',
    data: {
      registration: {
        ...registration,
        ibsCbs: {
          declare: true,
          exportClassTrib: '410027',
          services: [
            { serviceCode: '010101', indOp: '100301', classTrib: '550016', classTribRegular: '000001' },
            { serviceCode: '010201', classTrib: '200044' },
          ],
        },
      },
      at: AT,
    },
  },
  'CatalogLinesReplaced.v1.ibs-cbs': {
    type: 'CatalogLinesReplaced',
    data: {
      cnae: '6201501',
      lines: [
        {
          cnae: '6201501',
          serviceCode: '010101',
          nbs: '115022000',
          description: 'Desenvolvimento de programas',
          isDefault: true,
          isBlocked: false,
          indOp: '100301',
          classTrib: '550016',
          classTribRegular: '000001',
        },
      ],
      at: AT,
    },
  },
  'IssuanceOutcomeUnknown.v1.refused': {
    type: 'IssuanceOutcomeUnknown',
    data: { attempt: 1, reason: 'uncatalogued_refusal', refused: true, ...answer, at: AT },
  },
  'IssuanceRejected.v1.proven': {
    type: 'IssuanceRejected',
    data: { attempt: 1, ...answer, firstAskedAt: AT, secondAskedAt: LATER, at: LATER },
  },
  'CancellationOutcomeUnknown.v1.refused': {
    type: 'CancellationOutcomeUnknown',
    data: { request: 1, attempt: 1, reason: 'uncatalogued_refusal', refused: true, ...answer, at: AT },
  },
  'CancellationOutcomeUnknown.v1.named': {
    type: 'CancellationOutcomeUnknown',
    data: { request: 1, attempt: 1, reason: 'already_there', namedEvent: '305101', ...answer, at: AT },
  },
  'CancellationNotConfirmed.v1.proven': {
    type: 'CancellationNotConfirmed',
    data: { request: 1, reason: 'refused', ...answer, firstAskedAt: AT, secondAskedAt: LATER, at: LATER },
  },
  'IssuanceFailed.v1.invalid': {
    type: 'IssuanceFailed',
    data: { failedAt: AT, reason: 'document_invalid', at: LATER },
  },
  'CancellationNotConfirmed.v1.invalid': {
    type: 'CancellationNotConfirmed',
    data: { request: 1, reason: 'document_invalid', codes: [], at: LATER },
  },
  'Authorized.v1.without-xml': {
    type: 'Authorized',
    data: {
      attempt: 1,
      accessKey: ACCESS_KEY,
      nfseNumber: '1467',
      authorizedAt: AT,
      evidence: 'lookup',
      at: LATER,
    },
  },
  'CancellationConfirmed.v1.without-xml': {
    type: 'CancellationConfirmed',
    data: { request: 1, eventSha256: HASH, canceledAt: AT, evidence: 'lookup', at: LATER },
  },
  'CompanyChanged.v1.taxes': {
    type: 'CompanyChanged',
    data: {
      registration: {
        ...registration,
        approximateTaxes: [
          {
            from: '2027-01-01',
            until: '2027-06-30',
            serviceCode: '010401',
            federal: '13.45',
            state: '0.00',
            municipal: '2.90',
          },
        ],
      },
      at: AT,
    },
  },
  'CertificateOpened.v1.unusable': {
    type: 'CertificateOpened',
    data: { certificateId: 'certificate-1', unusable: 'key_size', at: AT },
  },
  'CompanyChanged.v1.codes': {
    type: 'CompanyChanged',
    data: {
      registration: { ...registration, municipalCodes: [{ serviceCode: '010401', municipalCode: '003' }] },
      at: AT,
    },
  },
  'LogAnchored.v1.order': {
    type: 'LogAnchored',
    data: {
      day: '2026-11-21',
      after: '7',
      upTo: '1234',
      live: { root: HASH, streams: 3, events: 9 },
      test: { root: HASH, streams: 1, events: 2 },
      order: HASH,
      at: AT,
    },
  },
  'Authorized.v1.lost': {
    type: 'Authorized',
    data: {
      attempt: 2,
      attemptLost: true,
      accessKey: ACCESS_KEY,
      nfseNumber: '1467',
      authorizedAt: AT,
      nfseXmlGzip: XML,
      nfseSha256: HASH,
      evidence: 'response',
      at: LATER,
    },
  },
  'InvoiceImported.v1.key': {
    type: 'InvoiceImported',
    data: {
      mode: 'live',
      companyId: COMPANY,
      invoiceId: INVOICE,
      origin: 'legacy',
      state: 'issued',
      amountInCents: 150_000,
      competence: '2026-11-21',
      accessKey: ACCESS_KEY,
      issuedAt: AT,
      keyHash: HASH,
      importedAt: LATER,
    },
  },
  'IndeterminateResolved.v1.failed': {
    type: 'IndeterminateResolved',
    data: {
      evidence: 'Consulta ao portal',
      as: 'failed',
      at: LATER,
      absences: [{ dpsId: DPS_ID, firstAskedAt: AT, secondAskedAt: LATER }],
    },
  },
  'IndeterminateResolved.v1.other-sales': {
    type: 'IndeterminateResolved',
    data: {
      evidence: 'Consulta ao portal',
      as: 'failed',
      at: LATER,
      absences: [],
      otherSales: [
        { dpsId: DPS_ID, accessKey: ACCESS_KEY, by: 'content' },
        { dpsId: DPS_ID, accessKey: ACCESS_KEY, by: 'operator', unseen: true },
      ],
    },
  },
  'IndeterminateResolved.v1.attempt-lost': {
    type: 'IndeterminateResolved',
    data: {
      evidence: 'Consulta ao portal',
      as: 'issued',
      accessKey: ACCESS_KEY,
      nfseNumber: '1467',
      authorizedAt: AT,
      attemptLost: true,
      at: LATER,
    },
  },
  'CompanyChanged.v1.test-registration': {
    type: 'CompanyChanged',
    data: { registration: { ...registration, municipalRegistration: { test: '87654321' } }, at: AT },
  },
  'LogRecovered.v1.held': {
    type: 'LogRecovered',
    data: { unknownNotes: 0, accessKeys: [], heldCompanies: [COMPANY], at: AT },
  },
} as const satisfies Record<string, DomainEvent>;

/** A full instance of every event, with most of the optional fields that were known when its file was written. `goldenVariants` has the others. */
export const goldenSamples: { readonly [T in DomainEvent['type']]: DataOf<T> } = {
  InvoiceAccepted: {
    mode: 'live',
    companyId: COMPANY,
    invoiceId: INVOICE,
    amountInCents: 150_000,
    description: 'Serviço de “programação” 😀\n2ª parcela',
    competence: '2026-11-21',
    customer: { type: 'foreign', name: 'Käufer GmbH', taxId: 'DE123', address },
    foreignAmount: { currency: 'EUR', amountInCents: 25_000 },
    reference: 'pedido-1',
    line: { cnae: '6201501', serviceCode: '010101', nbs: '115021000', municipalCode: '001' },
    issuer: {
      municipality: '3304557',
      taxRegime: 'simples',
      simplesAssessment: 'all',
      specialRegime: 0,
      approximateTaxPercent: '6.00',
      municipalRegistration: '12345678',
    },
    acceptedAt: AT,
    idempotency: { keyHash: HASH, bodyHash: KEYED },
    fingerprint: KEYED,
  },
  IssuanceAttempted: {
    attempt: 1,
    series: '1',
    number: 7,
    dpsId: DPS_ID,
    digest: 'ZGlnZXN0',
    signatureMark: HASH,
    signedDpsGzip: XML,
    ...send,
  },
  IssuanceNotSent: { attempt: 1, reason: 'ECONNREFUSED', codes: ['E1203'], at: AT },
  IssuanceOutcomeUnknown: { attempt: 1, reason: 'timeout', ...answer, at: AT },
  IssuanceProvenAbsent: { attempt: 1, dpsId: DPS_ID, firstAskedAt: AT, secondAskedAt: LATER, at: LATER },
  Authorized: {
    attempt: 1,
    accessKey: ACCESS_KEY,
    nfseNumber: '1467',
    authorizedAt: AT,
    nfseXmlGzip: XML,
    nfseSha256: HASH,
    evidence: 'lookup',
    at: LATER,
  },
  IssuanceRejected: { attempt: 1, ...answer, at: AT },
  IssuanceFailed: { failedAt: AT, reason: 'customer_name_missing', at: LATER },
  NotProcessed: { failedAt: AT, at: LATER },
  IssuanceInterrupted: { failedAt: AT, at: LATER },
  NumberConflictFound: {
    attempt: 1,
    dpsId: DPS_ID,
    accessKey: ACCESS_KEY,
    foundDigest: 'Zm9yZWlnbg==',
    sameContent: false,
    at: AT,
  },
  CancellationRequested: { request: 1, reason: 'other', description: 'Pedido do cliente.', requestedAt: AT },
  CancellationAttempted: {
    request: 1,
    attempt: 1,
    requestId: `PRE${ACCESS_KEY}101101`,
    digest: 'ZGlnZXN0',
    signatureMark: HASH,
    signedRequestGzip: XML,
    ...send,
  },
  CancellationNotSent: { request: 1, attempt: 1, reason: 'ECONNREFUSED', codes: [], at: AT },
  CancellationOutcomeUnknown: { request: 1, attempt: 1, reason: 'timeout', ...answer, at: AT },
  CancellationProvenAbsent: { request: 1, attempt: 1, firstAskedAt: AT, secondAskedAt: LATER, at: LATER },
  CancellationConfirmed: {
    request: 1,
    eventXmlGzip: XML,
    eventSha256: HASH,
    canceledAt: AT,
    evidence: 'response',
    at: LATER,
  },
  CancellationNotConfirmed: { request: 1, reason: 'refused', ...answer, at: AT },
  CancellationSettledBySupport: {
    evidence: 'Consulta ao portal',
    eventXmlGzip: XML,
    eventSha256: HASH,
    canceledAt: AT,
    at: LATER,
  },
  CancellationClosedBySupport: { evidence: 'Consulta ao portal', at: LATER },
  NoteCanceledElsewhere: {
    accessKey: ACCESS_KEY,
    eventType: '105102',
    replacedBy: ACCESS_KEY,
    eventXmlGzip: XML,
    eventSha256: HASH,
    canceledAt: AT,
    evidence: 'Consulta ao portal',
    at: LATER,
  },
  IndeterminateResolved: {
    evidence: 'Consulta ao portal',
    as: 'issued',
    accessKey: ACCESS_KEY,
    nfseNumber: '1467',
    authorizedAt: AT,
    nfseXmlGzip: XML,
    nfseSha256: HASH,
    at: LATER,
  },
  ReconciliationDifferenceFound: { kind: 'unknown_note', accessKey: ACCESS_KEY, at: AT },
  InvoiceImported: {
    mode: 'live',
    companyId: COMPANY,
    invoiceId: INVOICE,
    origin: 'legacy',
    state: 'replaced',
    amountInCents: 9_007_199_254_740_991,
    description: 'Importada',
    competence: '2025-01-31',
    customer: { type: 'br', document: '11111111000191', name: 'CLIENTE LTDA' },
    foreignAmount: { currency: 'USD', amountInCents: 1 },
    reference: 'antiga-1',
    serviceCode: '010101',
    cnae: '6201501',
    accessKey: ACCESS_KEY,
    createdAt: AT,
    issuedAt: AT,
    canceledAt: LATER,
    replacedBy: ACCESS_KEY,
    nfseXmlGzip: XML,
    nfseSha256: HASH,
    importedAt: LATER,
  },
  ReferenceTaken: { invoiceId: INVOICE, takenAt: AT },
  TestInvoiceDeleted: { lastHash: HASH, deletedAt: AT },
  CompanyRegistered: { registration, at: AT },
  CompanyChanged: { registration: { ...registration, issuerApproved: true }, at: AT },
  CompanyEnabled: { at: AT },
  CompanyDisabled: { at: AT },
  ApiKeyCreated: {
    keyId: 'key_1',
    companyId: COMPANY,
    mode: 'test',
    scopes: ['nfse:read', 'nfse:write'],
    keyHash: HASH,
    at: AT,
  },
  ApiKeyRevoked: { keyId: 'key_1', at: AT },
  CertificateStored: { certificateId: 'certificate-1', notBefore: AT, notAfter: LATER, fingerprint: HASH, at: AT },
  CertificateOpened: { certificateId: 'certificate-1', at: AT },
  CertificatesRemoved: { certificateIds: ['certificate-1'], at: AT },
  DpsNumberAllocated: { number: 7, nextNumber: 8, invoiceId: INVOICE, at: AT },
  DpsNumberMoved: { nextNumber: 100, at: AT },
  DpsSeriesBlocked: { nextNumber: 8, number: 7, invoiceId: INVOICE, at: AT },
  ApiSwitchedOff: { reason: 'manutenção', at: AT },
  ApiSwitchedOn: { at: AT },
  CatalogLinesReplaced: {
    cnae: '6201501',
    lines: [
      {
        cnae: '6201501',
        serviceCode: '010101',
        nbs: '115021000',
        description: 'Análise de sistemas',
        isDefault: true,
        isBlocked: false,
        municipalCode: '001',
        incidence: 'prestador',
      },
      { cnae: '6201501', serviceCode: '010201', description: 'Programação', isDefault: false, isBlocked: true },
    ],
    at: AT,
  },
  LogAnchored: {
    day: '2026-11-21',
    after: '7',
    upTo: '1234',
    live: { root: HASH, streams: 3, events: 9 },
    test: { root: HASH, streams: 1, events: 2 },
    at: AT,
  },
  PersonalDataRevealed: { command: 'events show', subject: companyStream(COMPANY), at: AT },
  ParkedWorkRetried: { subject: invoiceStream('live', COMPANY, INVOICE), at: AT },
  ProjectionRebuildOrdered: { projection: 'invoices', at: AT },
  ProjectionRollbackOrdered: { projection: 'invoices', at: AT },
  MasterKeyGivenUp: { generation: 'm1', reason: 'the machine with the key and its copy burnt', at: AT },
  LogRecovered: { unknownNotes: 1, accessKeys: [ACCESS_KEY], at: AT },
  ConsoleSignedIn: { session: SESSION, peer: '10.0.0.7', at: AT },
  ConsoleSignInRefused: { operator: 'eve', peer: '10.0.0.8', at: AT },
  ConsoleSignedOut: { session: SESSION, peer: '10.0.0.7', at: AT },
  MunicipalityDemandsSet: { ibge: '3304557', requiresCustomer: true, requiresRegistration: false, at: AT },
  RegistryEntryPut: {
    cnpj: '11222333000181',
    legalName: 'MARIA DE SOUZA 52998224725',
    address: {
      street: 'Rua do Ouvidor',
      number: '50',
      complement: 'sala 2',
      district: 'Centro',
      city: 'Rio de Janeiro',
      state: 'RJ',
      postalCode: '20040030',
    },
    at: AT,
  },
};

/** The kind of stream that the event is written to. */
export const goldenStream = (type: string): StreamName => {
  if (type.startsWith('Dps')) return dpsStream('live', COMPANY, '1');
  if (type.startsWith('Api') && type.includes('Switched')) return systemApiStream;
  if (type === 'LogAnchored') return anchorStream('2026-11-21');
  if (type === 'PersonalDataRevealed') return revealsStream;
  if (type.startsWith('Projection')) return supportStream;
  if (['ParkedWorkRetried', 'MasterKeyGivenUp', 'LogRecovered'].includes(type)) return supportStream;
  if (type.startsWith('Console')) return consoleStream;
  if (type.startsWith('Catalog')) return catalogStream('6201501');
  if (type.startsWith('Municipality')) return municipalityStream('3304557');
  if (type.startsWith('Registry')) return registryStream('11222333000181');
  if (/^(?:Company|ApiKey|Certificate)/.test(type)) return companyStream(COMPANY);
  return invoiceStream(type === 'TestInvoiceDeleted' ? 'test' : 'live', COMPANY, INVOICE);
};
