import { unreachable } from '../shared/unreachable.js';
import type { InvoiceEvent, InvoiceEventData } from './events.js';
import { evolveCancellation } from './evolve-cancellation.js';
import { answered, resolved } from './evolve-send.js';
import { sentOf } from './sent-document.js';
import type { Invoice, InvoiceState, IssueAttempt } from './state.js';

/** Folds one event. It never looks inside a personal field (see `invoicePersonalFields`). */
export const evolve = (state: InvoiceState, event: InvoiceEvent): InvoiceState => {
  switch (event.type) {
    case 'InvoiceAccepted':
      return accepted(event.data);
    case 'InvoiceImported':
      return imported(event.data);
    case 'ReferenceTaken':
      return { kind: 'reference_taken', invoiceId: event.data.invoiceId };
    case 'TestInvoiceDeleted':
      return { kind: 'deleted' };
    default:
      return state.kind === 'invoice' ? evolveInvoice(state, event) : misplaced(state, event);
  }
};

type LifeEvent = Exclude<
  InvoiceEvent,
  { type: 'InvoiceAccepted' | 'InvoiceImported' | 'ReferenceTaken' | 'TestInvoiceDeleted' }
>;

const evolveInvoice = (invoice: Invoice, event: LifeEvent): Invoice => {
  switch (event.type) {
    case 'IssuanceAttempted': {
      const { attempt, series, number, dpsId, attemptedAt, deadlineAt } = event.data;
      const sent: IssueAttempt = {
        // In the order in which rows of the read model have them: a row's state is compared as text.
        ...{ attempt, series, number, dpsId, ...sentOf(event.data), attemptedAt, deadlineAt },
        resolution: 'open',
        codes: [],
      };
      return { ...invoice, attempts: [...invoice.attempts, sent] };
    }
    case 'IssuanceNotSent':
      return withAttempt(invoice, event.data.attempt, answered('not_sent', event.data));
    case 'IssuanceOutcomeUnknown':
      return withAttempt(invoice, event.data.attempt, answered('unknown', event.data));
    case 'IssuanceProvenAbsent':
      return withAttempt(invoice, event.data.attempt, resolved('absent', event.data.at));
    case 'NumberConflictFound':
      return withAttempt(invoice, event.data.attempt, (attempt) => ({
        ...resolved('foreign', event.data.at)(attempt),
        foreignSameContent: event.data.sameContent,
      }));
    case 'Authorized': {
      const { accessKey, nfseNumber, authorizedAt: issuedAt, attempt, at } = event.data;
      const resolution = resolved('authorized', at);
      return {
        ...withAttempt(invoice, attempt, resolution),
        outcome: { status: 'issued', accessKey, nfseNumber, issuedAt },
      };
    }
    case 'IssuanceRejected': {
      const { attempt, codes, at } = event.data;
      return {
        ...withAttempt(invoice, attempt, answered('rejected', { codes, at })),
        outcome: { status: 'failed', code: 'issue_failed', failedAt: at, codes },
      };
    }
    case 'IssuanceFailed': {
      const { failedAt, reason } = event.data;
      const outcome = { status: 'failed' as const, code: 'issue_failed' as const, failedAt, codes: [] };
      return { ...invoice, outcome: reason === undefined ? outcome : { ...outcome, reason } };
    }
    case 'NotProcessed':
      return failed(invoice, 'nfse.not_processed', event.data.failedAt);
    case 'IssuanceInterrupted':
      return { ...invoice, outcome: { status: 'indeterminate', failedAt: event.data.failedAt } };
    case 'IndeterminateResolved':
      return event.data.as === 'failed'
        ? failed(invoice, 'issue_failed', event.data.at)
        : {
            ...invoice,
            outcome: {
              status: 'issued',
              accessKey: event.data.accessKey,
              nfseNumber: event.data.nfseNumber,
              issuedAt: event.data.authorizedAt,
            },
          };
    case 'ReconciliationDifferenceFound':
      return invoice;
    case 'CancellationRequested':
    case 'CancellationAttempted':
    case 'CancellationNotSent':
    case 'CancellationOutcomeUnknown':
    case 'CancellationProvenAbsent':
    case 'CancellationConfirmed':
    case 'CancellationNotConfirmed':
    case 'CancellationSettledBySupport':
      return { ...invoice, cancellation: evolveCancellation(invoice.cancellation, event) };
    default:
      return unreachable(event);
  }
};

const accepted = (data: InvoiceEventData<'InvoiceAccepted'>): Invoice => {
  const { line, issuer: _issuer, fingerprint: _fingerprint, acceptedAt, ...facts } = data;
  return {
    kind: 'invoice',
    facts: { ...facts, cnae: line.cnae, serviceCode: line.serviceCode, createdAt: acceptedAt },
    origin: { kind: 'api' },
    attempts: [],
    outcome: { status: 'open' },
  };
};

const imported = (data: InvoiceEventData<'InvoiceImported'>): Invoice => {
  const { origin, state, accessKey, issuedAt, canceledAt, importedAt } = data;
  const { nfseXmlGzip: _xml, nfseSha256: _sha, replacedBy: _replacedBy, ...rest } = data;
  const { origin: _o, state: _s, accessKey: _k, issuedAt: _i, canceledAt: _c, importedAt: _at, ...facts } = rest;
  const invoice: Invoice = {
    kind: 'invoice',
    facts,
    origin: {
      ...{ kind: 'imported', from: origin, replaced: state === 'replaced' },
      ...(facts.mode === 'test' && facts.createdAt === undefined ? { importedAt } : {}),
    },
    attempts: [],
    outcome: {
      status: 'issued',
      ...(accessKey === undefined ? {} : { accessKey }),
      ...(issuedAt === undefined ? {} : { issuedAt }),
    },
  };
  if (state !== 'canceled') return invoice;
  const at = canceledAt ?? importedAt;
  return {
    ...invoice,
    cancellation: {
      request: 1,
      status: 'succeeded',
      reason: 'other',
      requestedAt: at,
      canceledAt: at,
      sends: [],
      codes: [],
    },
  };
};

const failed = (invoice: Invoice, code: 'issue_failed' | 'nfse.not_processed', failedAt: string): Invoice => ({
  ...invoice,
  outcome: { status: 'failed', code, failedAt, codes: [] },
});

const withAttempt = (invoice: Invoice, attempt: number, change: (send: IssueAttempt) => IssueAttempt): Invoice => ({
  ...invoice,
  attempts: invoice.attempts.map((send) => (send.attempt === attempt ? change(send) : send)),
});

const misplaced = (state: InvoiceState, event: InvoiceEvent): InvoiceState => {
  if (state.kind === 'deleted') return state;
  throw new Error(`${event.type} on a stream without an invoice`);
};
