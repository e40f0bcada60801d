import type { Decision } from '../../../src/domain/invoice/decision.js';
import type { InvoiceEvent, InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { evolve } from '../../../src/domain/invoice/evolve.js';
import type { Limits } from '../../../src/domain/invoice/limits.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../../src/domain/invoice/state.js';
import { addSeconds } from '../../../src/domain/shared/time.js';

export const T0 = '2026-11-21T12:00:00.000Z';
export const at = (seconds: number): string => addSeconds(T0, seconds);

export const limits: Limits = {
  queuedSeconds: 900,
  processingSeconds: 3600,
  cancellationSeconds: 3600,
  testRetentionSeconds: 604_800,
  sendSeconds: 30,
  lookupIntervalsSeconds: [30, 60, 120, 300, 600],
};

export const ACCESS_KEY = '33045572212345678000195000000000014826082012345670';

export const DPS_ID = 'DPS330455721234567800019500001000000000000007';

export const accepted = (overrides: Partial<InvoiceEventData<'InvoiceAccepted'>> = {}): InvoiceEvent => ({
  type: 'InvoiceAccepted',
  data: {
    mode: 'live',
    companyId: '12345678000195',
    invoiceId: '11111111-1111-4111-8111-111111111111',
    amountInCents: 150_000,
    description: 'Desenvolvimento de sistema',
    competence: '2026-11-21',
    customer: { type: 'br', document: '11111111000191', name: 'CLIENTE LTDA' },
    reference: 'pedido-1',
    line: { cnae: '6201501', serviceCode: '010101', nbs: '115021000' },
    issuer: { municipality: '3304557', taxRegime: 'simples', simplesAssessment: 'all', specialRegime: 0 },
    acceptedAt: T0,
    fingerprint: `hmac:1:m1.0123456789abcdef:${'f'.repeat(43)}`,
    ...overrides,
  },
});

export const attempted = (attempt: number, seconds: number, digest = 'digest'): InvoiceEvent => ({
  type: 'IssuanceAttempted',
  data: {
    attempt,
    series: '1',
    number: 7,
    dpsId: DPS_ID,
    digest,
    signedDpsGzip: 'H4sI',
    attemptedAt: at(seconds),
    deadlineAt: at(seconds + 35),
  },
});

export const notSent = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'IssuanceNotSent',
  data: { attempt, reason: 'ECONNREFUSED', codes: [], at: at(seconds) },
});

export const unknown = (attempt: number, seconds: number, codes: readonly string[] = []): InvoiceEvent => ({
  type: 'IssuanceOutcomeUnknown',
  data: { attempt, reason: 'timeout', codes, at: at(seconds) },
});

export const provenAbsent = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'IssuanceProvenAbsent',
  data: { attempt, dpsId: 'DPS', firstAskedAt: at(seconds - 60), secondAskedAt: at(seconds), at: at(seconds) },
});

export const rejected = (attempt: number, seconds: number, codes: readonly string[] = ['E0188']): InvoiceEvent => ({
  type: 'IssuanceRejected',
  data: { attempt, codes, at: at(seconds) },
});

/** A note of somebody else under our DPS id; `sameContent` when it may be our own from before a restore. */
export const conflictFound = (attempt: number, seconds: number, sameContent = false): InvoiceEvent => ({
  type: 'NumberConflictFound',
  data: {
    attempt,
    dpsId: DPS_ID,
    accessKey: '5'.repeat(50),
    foundDigest: 'foreign-digest',
    sameContent,
    at: at(seconds),
  },
});

export const interrupted: InvoiceEvent = {
  type: 'IssuanceInterrupted',
  data: { failedAt: at(3602), at: at(3603) },
};

export const authorizedData = (attempt: number, seconds: number): InvoiceEventData<'Authorized'> => ({
  attempt,
  accessKey: ACCESS_KEY,
  nfseNumber: '1467',
  authorizedAt: at(seconds),
  nfseXmlGzip: 'H4sI',
  nfseSha256: 'a'.repeat(64),
  evidence: 'response',
  at: at(seconds),
});

export const authorized = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'Authorized',
  data: authorizedData(attempt, seconds),
});

export const cancelRequested = (seconds: number, request = 1): InvoiceEvent => ({
  type: 'CancellationRequested',
  data: { request, reason: 'other', description: 'Cancelamento pedido pelo cliente.', requestedAt: at(seconds) },
});

export const cancelAttempted = (attempt: number, seconds: number, request = 1): InvoiceEvent => ({
  type: 'CancellationAttempted',
  data: {
    request,
    attempt,
    requestId: `PRE${ACCESS_KEY}101101`,
    digest: 'cancel-digest',
    signedRequestGzip: 'H4sI',
    attemptedAt: at(seconds),
    deadlineAt: at(seconds + 35),
  },
});

export const cancelNotSent = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'CancellationNotSent',
  data: { request: 1, attempt, reason: 'ECONNREFUSED', codes: [], at: at(seconds) },
});

export const cancelUnknown = (attempt: number, seconds: number, codes: readonly string[] = []): InvoiceEvent => ({
  type: 'CancellationOutcomeUnknown',
  data: { request: 1, attempt, reason: 'timeout', codes, at: at(seconds) },
});

export const cancelAbsent = (attempt: number, seconds: number): InvoiceEvent => ({
  type: 'CancellationProvenAbsent',
  data: { request: 1, attempt, firstAskedAt: at(seconds - 60), secondAskedAt: at(seconds), at: at(seconds) },
});

export const confirmationData = (seconds: number): InvoiceEventData<'CancellationConfirmed'> => ({
  request: 1,
  eventXmlGzip: 'H4sI',
  eventSha256: 'b'.repeat(64),
  canceledAt: at(seconds),
  evidence: 'response',
  at: at(seconds),
});

export const cancelConfirmed = (seconds: number): InvoiceEvent => ({
  type: 'CancellationConfirmed',
  data: confirmationData(seconds),
});

export const cancelNotConfirmed = (seconds: number, codes: readonly string[] = []): InvoiceEvent => ({
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: codes.length === 0 ? 'timeout' : 'refused', codes, at: at(seconds) },
});

export const imported = (overrides: Partial<InvoiceEventData<'InvoiceImported'>> = {}): InvoiceEvent => ({
  type: 'InvoiceImported',
  data: {
    mode: 'live',
    companyId: '12345678000195',
    invoiceId: '22222222-2222-4222-8222-222222222222',
    origin: 'legacy',
    state: 'issued',
    amountInCents: 90_000,
    accessKey: ACCESS_KEY,
    issuedAt: at(-3600),
    importedAt: T0,
    ...overrides,
  },
});

/** The data of an event that a test needs as the argument of a decision. */
export const dataOf = <T extends InvoiceEvent['type']>(event: InvoiceEvent, type: T): InvoiceEventData<T> => {
  if (event.type !== type) throw new Error(`a fixture of type ${event.type}`);
  return event.data as InvoiceEventData<T>;
};

/** How the tables of the tests write a decision: the event's type, `already so`, or the reason of being stale. */
export const told = (decision: Decision): string => {
  if ('stale' in decision) return decision.stale;
  return decision.events.length === 0 ? 'already so' : decision.events.map(({ type }) => type).join(' ');
};

export const given = (...events: InvoiceEvent[]): InvoiceState => events.reduce<InvoiceState>(evolve, initialInvoice);

export const givenInvoice = (...events: InvoiceEvent[]): Invoice => {
  const state = given(...events);
  if (state.kind !== 'invoice') throw new Error('not an invoice');
  return state;
};
