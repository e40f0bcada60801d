import { type AccessKey, municipalityOfKey } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import { buildCancellation } from '../../domain/dps/build-cancellation.js';
import {
  type CancelSendKey,
  decideCancelAbsence,
  decideCanceledElsewhere,
  decideCancelRejection,
  decideCancelUnsendable,
  decideConfirmed,
  decideTimeout,
  whatAbsenceShows,
} from '../../domain/invoice/decide-cancellation.js';
import { stale } from '../../domain/invoice/decision.js';
import { nextCancelStep } from '../../domain/invoice/next-cancel-step.js';
import { ATTEMPT_LOST, decideAnswer, decideAttempt } from '../../domain/invoice/send-decisions.js';
import type { Unsent } from '../../domain/invoice/send-steps.js';
import { isDoubtful } from '../../domain/invoice/sent-document.js';
import type { Cancellation, CancelSend, Invoice } from '../../domain/invoice/state.js';
import type { RegisteredEvent } from '../../ports/authorizer.js';
import type { LoadedInvoice } from '../read/read-invoice.js';
import { probeCertificate } from './certificate-breaker.js';
import { decideAndAppend } from './decide-and-append.js';
import type { IssuerDeps, Next } from './deps.js';
import { compareRequest, confirmationFrom, elsewhereFrom, type SentRequest, sentRequests } from './found-documents.js';
import { lastLookUpUntil } from './look-up-limit.js';
import { concludeIfDue, haltedBy, workOn } from './protocol.js';
import type { OpenWork, Prepared, SendDefinition } from './send-definition.js';
import { bytesOf, resignedIfRenewed, type StoredSignature, storedOf, unlessUnfit } from './stored-documents.js';

/** A request for a cancellation event. */
type CancellationSending = {
  work: PendingCancellation;
  send: CancelSend;
  unsent: Unsent;
  key: CancelSendKey;
  document: StoredSignature & { requestId: string };
  found: RegisteredEvent;
  verdict: 'timeout';
};

type PendingCancellation = {
  invoice: Invoice;
  cancellation: Cancellation;
  accessKey: AccessKey;
  sent: readonly SentRequest[];
};

/** Takes a pending cancellation as far as possible now. See `workOn`. */
export const workOnCancellation = (stream: StreamName, deps: IssuerDeps): Promise<Next> =>
  workOn(cancellation, stream, deps);

/** Records the time-out of a cancellation. See `concludeIfDue`. */
export const concludeCancellationIfDue = (
  stream: StreamName,
  deps: IssuerDeps,
  lookUpUntil = lastLookUpUntil(deps.clock.now()),
): Promise<void> => concludeIfDue(cancellation, stream, deps, lookUpUntil);

/** Names the look-ups of a send in the database. */
export const cancelLookupKey = ({ request, attempt }: CancelSendKey): string => `cancel/${request}/${attempt}`;

const cancellation: SendDefinition<CancellationSending> = {
  resource: 'events',
  sites: {
    attempt: 'record_cancel_attempt',
    outcome: 'record_cancel_outcome',
    lookup: 'record_cancel_lookup',
    conclude: 'conclude_cancellation',
  },
  nextStep: nextCancelStep,
  workOf: (loaded) => pendingOf(loaded),
  callerOf: ({ invoice }) => invoice.facts,
  sendsOf: (work) => work.cancellation.sends,
  keyOf: (work, attempt) => ({ request: work.cancellation.request, attempt }),
  lookupKey: cancelLookupKey,

  newDocument: (open, deps) => newRequest(open, deps),
  storedDocument: (open, of, deps) => storedRequest(open, of, deps),
  send: ({ invoice, accessKey }, bytes, deadlineAt, { authorizer }) =>
    authorizer.sendCancellation(invoice.facts, accessKey, bytes, deadlineAt),
  find: (caller, { accessKey }, _of, { authorizer }, until) => authorizer.findCancellation(caller, accessKey, until),
  probe: ({ work: { invoice, accessKey } }, deps) =>
    probeCertificate(invoice.facts, municipalityOfKey(accessKey), deps),
  ownerOf: ({ sent }, found) => compareRequest(found, sent),
  recordOther: (open, _of, found, deps) => recordElsewhere(open, found, deps),
  absenceOf: ({ cancellation: { sends } }, send) => whatAbsenceShows(sends, send),

  decideUnsendable: (state, { request }, at) => decideCancelUnsendable(state, request, at),
  decideAttempt: (state, key, { signedGzip: signedRequestGzip, ...document }, times) =>
    decideAttempt(state, { type: 'CancellationAttempted', data: { ...key, ...document, signedRequestGzip, ...times } }),
  decideNotSent: (state, data) => decideAnswer(state, { type: 'CancellationNotSent', data }),
  decideUnknown: (state, data) => decideAnswer(state, { type: 'CancellationOutcomeUnknown', data }),
  decideRejected: decideCancelRejection,
  decideDone: (state, key, found, document, at, lost) => {
    // Another request may be under way now. Its own look-ups find the event.
    if (lost.some(({ type }) => type === 'CancellationRequested')) return stale(ATTEMPT_LOST);
    if (compareRequest(found, [document]) === 'ours')
      return decideConfirmed(state, confirmationFrom(found, key.request, 'response', at));
    // The note may have been canceled by another party under the same event id.
    const reason = 'the answer holds another event';
    return lost.length > 0 ? stale(ATTEMPT_LOST) : cancellation.decideUnknown(state, { ...key, reason, codes: [], at });
  },
  decideFound: (state, { request }, found, at) =>
    decideConfirmed(state, confirmationFrom(found, request, 'lookup', at)),
  decideAbsence: decideCancelAbsence,
  decideVerdict: (state, _timeout, now, limits, seen) =>
    decideTimeout(state, now, limits, seen === 'ours' || seen === 'other'),
};

/** The note is canceled, though not by our request, which ends with it; unless the event holds that very request, whose send the log has lost. */
const recordElsewhere = async (
  open: OpenWork<CancellationSending>,
  found: RegisteredEvent,
  deps: IssuerDeps,
): Promise<void> => {
  const { stream, loaded, work } = open;
  const isOwn = await isOfLostSend(open, found, deps);
  const at = deps.clock.now();
  const confirmation = confirmationFrom(found, work.cancellation.request, 'lookup', at);
  const data = elsewhereFrom(found, work.accessKey, at);
  await decideAndAppend(stream, cancellation.sites.lookup, deps, (state) =>
    isOwn ? decideConfirmed(state, confirmation) : decideCanceledElsewhere(state, data, loaded.state),
  );
};

/**
 * Whether the event holds the pending request, of which the log has no send: a restored log may have lost the send. The content is a pure function of the
 * request, so no other request has the same digest.
 */
const isOfLostSend = async (
  open: OpenWork<CancellationSending>,
  found: RegisteredEvent,
  deps: IssuerDeps,
): Promise<boolean> => {
  if (open.work.cancellation.sends.length > 0 || isDoubtful(found)) return false;
  const built = unsignedRequest(open);
  const identity = await deps.identityOf(open.work.invoice.facts);
  if (built === undefined || identity === undefined || built.id !== found.requestId) return false;
  const signed = await deps.signer.signPedRegEvento(built.xml, identity).catch(unlessUnfit);
  return signed?.digest === found.digest;
};

const pendingOf = ({ state, events }: LoadedInvoice): PendingCancellation | undefined => {
  if (state.kind !== 'invoice' || state.cancellation?.status !== 'pending' || state.outcome.status !== 'issued')
    return undefined;
  const { accessKey } = state.outcome;
  if (accessKey === undefined) return undefined;
  return { invoice: state, cancellation: state.cancellation, accessKey, sent: sentRequests(events) };
};

/** The request of an earlier send, with the same content under the same event id. */
const storedRequest = async (
  { stream, loaded: { events }, work }: OpenWork<CancellationSending>,
  of: CancelSend,
  deps: IssuerDeps,
): Promise<Prepared<CancellationSending['document']>> => {
  const { request } = work.cancellation;
  const sent = events.find(
    ({ type, data }) => type === 'CancellationAttempted' && data.request === request && data.attempt === of.attempt,
  );
  if (sent?.type !== 'CancellationAttempted')
    throw new Error('a cancellation attempt is known of whose event is not in the stream');
  const { requestId, signedRequestGzip: signedGzip, digest, signatureMark } = sent.data;
  const signature = await resignedIfRenewed({ signedGzip, digest, signatureMark }, work.invoice.facts, deps);
  return typeof signature === 'string'
    ? haltedBy(signature, stream, deps)
    : { kind: 'document', document: { requestId, ...signature }, bytes: bytesOf(signature) };
};

/** Undefined without a description, whose key is gone: the request would say something else. */
const unsignedRequest = ({
  loaded: { events },
  work: { invoice, accessKey, cancellation: pending },
}: OpenWork<CancellationSending>): { id: string; xml: string } | undefined => {
  const { request, reason, requestedAt } = pending;
  const { mode, companyId } = invoice.facts;
  const requested = events.find(({ type, data }) => type === 'CancellationRequested' && data.request === request);
  const description = requested?.type === 'CancellationRequested' ? requested.data.description : undefined;
  return description === undefined
    ? undefined
    : buildCancellation({ mode, companyId, accessKey, reason, description, requestedAt });
};

const newRequest = async (
  open: OpenWork<CancellationSending>,
  deps: IssuerDeps,
): Promise<Prepared<CancellationSending['document']>> => {
  const { stream, work } = open;
  const { mode, companyId } = work.invoice.facts;
  const identity = await deps.identityOf({ mode, companyId });
  if (identity === undefined) return haltedBy('certificate_missing', stream, deps);
  const built = unsignedRequest(open);
  if (built === undefined) return haltedBy('content_lost', stream, deps);
  const signed = await deps.signer.signPedRegEvento(built.xml, identity);
  return { kind: 'document', document: { requestId: built.id, ...storedOf(signed) }, bytes: signed.bytes };
};
