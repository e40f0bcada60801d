import { present } from '../common/present.js';
import type { Instant } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import { type InvoiceEventType, REFUSED_AFTER_OTHERS, type ReadInvoiceEvent } from './events.js';
import type { Cancellation, Invoice, InvoiceState, IssueAttempt, Outcome, Resolution, Send } from './state.js';

/**
 * Folds one event. Personal fields are carried unread (see `invoicePersonalFields`). An event after the deletion of a test invoice changes nothing.
 * Throws for an event whose invoice or cancellation request is absent.
 */
export const evolve = (state: InvoiceState, event: ReadInvoiceEvent): InvoiceState => {
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

type ReadData<T extends InvoiceEventType> = Extract<ReadInvoiceEvent, { type: T }>['data'];

type LifeEvent = Exclude<
  ReadInvoiceEvent,
  { type: 'InvoiceAccepted' | 'InvoiceImported' | 'ReferenceTaken' | 'TestInvoiceDeleted' }
>;

const evolveInvoice = (invoice: Invoice, event: LifeEvent): Invoice => {
  switch (event.type) {
    case 'IssuanceAttempted': {
      const { attempt, series, number, dpsId, attemptedAt, deadlineAt } = event.data;
      const sent: IssueAttempt = {
        // Rows of the read model hold this as JSON text and are compared as text, so the order of the properties stays.
        attempt,
        series,
        number,
        dpsId,
        ...signatureOf(event.data),
        attemptedAt,
        deadlineAt,
        resolution: 'open',
        codes: [],
      };
      return { ...invoice, attempts: [...invoice.attempts, sent] };
    }
    case 'IssuanceNotSent':
      return withAttempt(invoice, event.data.attempt, answered('not_sent', event.data));
    case 'IssuanceOutcomeUnknown':
      return withAttempt(invoice, event.data.attempt, leftUnknown(event.data, REFUSED_AFTER_OTHERS.note));
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
      return failed(withAttempt(invoice, attempt, answered('rejected', { codes, at })), 'issue_failed', at, { codes });
    }
    case 'IssuanceFailed':
      return failed(invoice, 'issue_failed', event.data.failedAt, { reason: event.data.reason });
    case 'NotProcessed':
      return failed(invoice, 'nfse.not_processed', event.data.failedAt);
    case 'IssuanceInterrupted':
      return { ...invoice, outcome: { status: 'indeterminate', failedAt: event.data.failedAt } };
    case 'IndeterminateResolved': {
      if (event.data.as === 'failed')
        return failed(invoice, 'issue_failed', event.data.at, { codes: codesOfRefusals(invoice.attempts) });
      const { accessKey, nfseNumber, authorizedAt: issuedAt } = event.data;
      return { ...invoice, outcome: { status: 'issued', accessKey, nfseNumber, issuedAt } };
    }
    case 'ReconciliationDifferenceFound':
      return invoice;
    case 'NoteCanceledElsewhere':
      return canceledElsewhere(invoice, event.data);
    case 'CancellationRequested':
    case 'CancellationAttempted':
    case 'CancellationNotSent':
    case 'CancellationOutcomeUnknown':
    case 'CancellationProvenAbsent':
    case 'CancellationConfirmed':
    case 'CancellationNotConfirmed':
    case 'CancellationSettledBySupport':
    case 'CancellationClosedBySupport':
      return { ...invoice, cancellation: evolveCancellation(invoice.cancellation, event) };
    default:
      return unreachable(event);
  }
};

/** The note is canceled for a request of ours too, whether it was still pending or had ended without a confirmation. */
const canceledElsewhere = (invoice: Invoice, data: ReadData<'NoteCanceledElsewhere'>): Invoice => {
  const { eventType, canceledAt, replacedBy } = data;
  const { cancellation } = invoice;
  return {
    ...invoice,
    ...(cancellation === undefined ? {} : { cancellation: { ...cancellation, status: 'succeeded', canceledAt } }),
    canceledElsewhere: present({ eventType, canceledAt, replacedBy }),
  };
};

/** What tells later whose document a look-up has found. */
const signatureOf = ({ digest, signatureMark }: ReadData<'IssuanceAttempted' | 'CancellationAttempted'>) =>
  present({ digest, signatureMark });

/** Facts of a newer program pass through, so that rows of an older projector keep them (docs/projections.md). */
const accepted = (data: ReadData<'InvoiceAccepted'>): Invoice => {
  const { line, issuer: _issuer, fingerprint: _fingerprint, acceptedAt, ...facts } = data;
  return {
    kind: 'invoice',
    facts: { ...facts, cnae: line.cnae, serviceCode: line.serviceCode, createdAt: acceptedAt },
    origin: { kind: 'api' },
    attempts: [],
    outcome: { status: 'open' },
  };
};

const imported = (data: ReadData<'InvoiceImported'>): Invoice => {
  const { origin, state, accessKey, issuedAt, canceledAt, importedAt } = data;
  const { nfseXmlGzip: _xml, nfseSha256: _sha, replacedBy: _replacedBy, ...rest } = data;
  const { origin: _o, state: _s, accessKey: _k, issuedAt: _i, canceledAt: _c, importedAt: _at, ...facts } = rest;
  return {
    kind: 'invoice',
    facts,
    origin: {
      kind: 'imported',
      from: origin,
      replaced: state === 'replaced',
      ...(state === 'canceled' ? { canceled: present({ at: canceledAt }) } : {}),
      ...(facts.mode === 'test' && facts.createdAt === undefined ? { importedAt } : {}),
    },
    attempts: [],
    outcome: present({ status: 'issued' as const, accessKey, issuedAt }),
  };
};

type Failed = Extract<Outcome, { status: 'failed' }>;

const failed = (
  invoice: Invoice,
  code: Failed['code'],
  failedAt: Instant,
  { codes = [], reason }: { codes?: readonly string[]; reason?: Failed['reason'] | undefined } = {},
): Invoice => ({ ...invoice, outcome: present({ status: 'failed' as const, code, failedAt, codes, reason }) });

const withAttempt = (invoice: Invoice, attempt: number, change: (send: IssueAttempt) => IssueAttempt): Invoice => ({
  ...invoice,
  attempts: invoice.attempts.map((send) => (send.attempt === attempt ? change(send) : send)),
});

const misplaced = (state: InvoiceState, event: ReadInvoiceEvent): InvoiceState => {
  if (state.kind === 'deleted') return state;
  throw new Error(`${event.type} on a stream without an invoice`);
};

/** Applies an answer to a send: the first answer sets `answeredAt`, later ones add their codes. */
const answered =
  <Known extends Resolution>(
    resolution: Known,
    answer: { at: Instant; codes: readonly string[]; refused?: true | undefined },
  ) =>
  <S extends Send>(send: S): S & { resolution: Known } => ({
    ...send,
    resolution,
    answeredAt: send.answeredAt ?? answer.at,
    resolvedAt: answer.at,
    codes: [...send.codes, ...answer.codes.filter((code) => !send.codes.includes(code))],
    ...(answer.refused === true ? { refused: true as const } : {}),
  });

type UnknownAnswer = ReadData<'IssuanceOutcomeUnknown' | 'CancellationOutcomeUnknown'>;

/** Applies an answer that leaves the result of a send open. `finalReason`: the recorded reason of an answer with final codes. */
const leftUnknown =
  (answer: UnknownAnswer, finalReason: string) =>
  <S extends Send>(send: S): S & { resolution: 'unknown' } => ({
    ...answered('unknown', answer)(send),
    ...(answer.reason === finalReason
      ? { final: true as const }
      : leavesOpen(answer)
        ? { undecided: true as const }
        : {}),
  });

/** Codes say it, and a status of a server that had the whole request. A gateway answers 408 and 5xx when it has lost the answer of the authorizer. */
const leavesOpen = ({ refused, codes, httpStatus }: UnknownAnswer): boolean =>
  refused !== true && (codes.length > 0 || (httpStatus !== undefined && httpStatus !== 408 && httpStatus < 500));

/** What explains that nothing was issued, once it is known that no send has left a note. */
const codesOfRefusals = (attempts: readonly IssueAttempt[]): readonly string[] => [
  ...new Set(attempts.flatMap(({ refused, final, codes }) => (refused === true || final === true ? codes : []))),
];

/** Applies a result that was learnt otherwise than by an answer to the send. */
const resolved =
  <Known extends Resolution>(resolution: Known, at: Instant) =>
  <S extends Send>(send: S): S & { resolution: Known } => ({ ...send, resolution, resolvedAt: at });

type CancellationEvent = Extract<ReadInvoiceEvent, { type: `Cancellation${string}` }>;

/** Folds an event of the cancellation. A new request replaces the previous one, whatever its result. */
const evolveCancellation = (current: Cancellation | undefined, event: CancellationEvent): Cancellation => {
  if (event.type === 'CancellationRequested') {
    const { request, reason, requestedAt } = event.data;
    return { request, status: 'pending', reason, requestedAt, sends: [], codes: [] };
  }
  if (current === undefined) throw new Error(`${event.type} before CancellationRequested`);
  switch (event.type) {
    case 'CancellationAttempted': {
      const { attempt, requestId, attemptedAt, deadlineAt } = event.data;
      const about = { attempt, requestId, ...signatureOf(event.data), attemptedAt, deadlineAt };
      const send = { ...about, resolution: 'open' as const, codes: [] };
      return { ...current, sends: [...current.sends, send] };
    }
    case 'CancellationNotSent':
      return withSend(current, event.data.attempt, answered('not_sent', event.data));
    case 'CancellationOutcomeUnknown': {
      const unknown = leftUnknown(event.data, REFUSED_AFTER_OTHERS.cancellation);
      const named = present({ namedEvent: event.data.namedEvent });
      return withSend(current, event.data.attempt, (send) => ({ ...unknown(send), ...named }));
    }
    case 'CancellationProvenAbsent':
      return withSend(current, event.data.attempt, resolved('absent', event.data.at));
    case 'CancellationConfirmed':
    case 'CancellationSettledBySupport':
      return { ...current, status: 'succeeded', canceledAt: event.data.canceledAt };
    case 'CancellationClosedBySupport':
      return { ...current, closedAt: event.data.at };
    case 'CancellationNotConfirmed': {
      const last = current.sends.at(-1);
      const ended = last === undefined ? current : withSend(current, last.attempt, ifOpen(event.data.at));
      return { ...ended, status: 'failed', codes: event.data.codes };
    }
    default:
      return unreachable(event);
  }
};

const ifOpen =
  (at: Instant) =>
  <S extends Send>(send: S): S =>
    send.resolution === 'open' ? { ...send, resolution: 'unknown', resolvedAt: at } : send;

const withSend = (
  cancellation: Cancellation,
  attempt: number,
  change: (send: Cancellation['sends'][number]) => Cancellation['sends'][number],
): Cancellation => ({
  ...cancellation,
  sends: cancellation.sends.map((send) => (send.attempt === attempt ? change(send) : send)),
});
