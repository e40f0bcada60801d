import { CANCELLATION_EVENT } from '../common/access-key.js';
import { EVENT_EXISTS } from '../common/authorizer-code.js';
import { noChange } from '../common/decision.js';
import { type Instant, isBefore } from '../common/time.js';
import { type Decision, decided, stale } from './decision.js';
import { type AuthorizerAnswer, type InvoiceEventData, REFUSED_AFTER_OTHERS } from './events.js';
import type { Limits } from './limits.js';
import { confirmationAwaitedUntil, timeoutAt } from './next-cancel-step.js';
import {
  type AbsenceMeaning,
  type AbsenceProof,
  cancelSends,
  isRefusedAfterOthers,
  MAY_HAVE_ARRIVED,
  NOT_PENDING,
  NOT_PROVEN,
  onAbsence,
  pendingCancellation,
  provenRefusal,
  refusalOrEvidence,
} from './send-decisions.js';
import { provesAbsence } from './send-steps.js';
import { allCameToNothing, type Cancellation, type CancelSend, type InvoiceState } from './state.js';
import { isCanceled } from './status.js';

/** Names a send of a cancellation. */
export type CancelSendKey = { request: number; attempt: number };

/**
 * A refusal with final codes fails the cancellation when no earlier send may have arrived; otherwise it is evidence until a proven absence makes it
 * final. No change for a send that has its answer. Refused when the request is not pending or has no such send.
 */
export const decideCancelRejection = (
  state: InvoiceState,
  { request, attempt }: CancelSendKey,
  answer: AuthorizerAnswer,
  at: Instant,
): Decision =>
  refusalOrEvidence(state, {
    end: { type: 'CancellationNotConfirmed', data: { request, reason: 'refused', ...answer, at } },
    evidence: {
      type: 'CancellationOutcomeUnknown',
      data: { request, attempt, reason: REFUSED_AFTER_OTHERS.cancellation, ...answer, at },
    },
  });

/**
 * The event that confirms our request is recorded while that request is pending. No change when a request of ours has succeeded; refused for any
 * other request that is not pending.
 */
export const decideConfirmed = (state: InvoiceState, data: InvoiceEventData<'CancellationConfirmed'>): Decision => {
  if (pendingCancellation(state, data.request) !== undefined) return decided({ type: 'CancellationConfirmed', data });
  const canceled = state.kind === 'invoice' && state.cancellation?.status === 'succeeded';
  return canceled ? noChange : stale(NOT_PENDING);
};

/**
 * Records that an event of another party canceled or replaced the note. A request of ours that is pending, or that ended without a confirmation, ends
 * with it. An imported invoice that was replaced before keeps its state (CANCEL-3). `judged`: the state whose sends said that an event of the emitter is
 * not ours. Refused when the cancellation has another request or another send since, because the event may be of that one.
 */
export const decideCanceledElsewhere = (
  state: InvoiceState,
  data: InvoiceEventData<'NoteCanceledElsewhere'>,
  judged: InvoiceState,
): Decision => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'issued') return stale(NOT_ISSUED);
  const { outcome, origin } = state;
  if (outcome.accessKey !== data.accessKey) return stale('the event is on another note');
  if (isCanceled(state)) return noChange;
  if (origin.kind === 'imported' && origin.replaced) return stale('it is known as replaced');
  if (data.eventType === CANCELLATION_EVENT && !isSameCancellation(state, judged)) return stale(SENT_SINCE);
  return decided({ type: 'NoteCanceledElsewhere', data });
};

const NOT_ISSUED = 'only an issued note can be canceled';

const SENT_SINCE = 'a cancellation was requested or sent since the look-up, and the event may be its own';

const isSameCancellation = (state: InvoiceState, judged: InvoiceState): boolean => {
  const [now, before] = [cancellationOf(state), cancellationOf(judged)];
  return now?.request === before?.request && now?.sends.length === before?.sends.length;
};

const cancellationOf = (state: InvoiceState): Cancellation | undefined =>
  state.kind === 'invoice' ? state.cancellation : undefined;

/**
 * Decides on an absent cancellation event, ours and of others. After an E0840 the absence means that an event that cancels nothing blocks the note,
 * such as a customer's confirmation, and that counts as a refusal with the codes of that answer. Where the E0840 named an event that cancels the
 * note, an absence shows only that the look-up is behind, so look-ups continue until they find that event or the time is over (ADR 8). A proven
 * absence makes a refusal with an uncatalogued code final, and one with final codes also after other sends, which had the same content (ADR 8).
 * Otherwise it allows the same content to be sent again.
 */
export const decideCancelAbsence = (
  state: InvoiceState,
  proof: AbsenceProof & { request: number },
  limits: Limits,
): Decision => {
  const open = cancelSends(state, proof.request);
  return onAbsence(open, proof, limits, (send, isProven) => {
    const { attempt } = send;
    const { request, firstAbsentAt, now: at } = proof;
    const sends = open.sends ?? [];
    if (sends.some(isNamedCanceled)) return stale(NAMED_CANCELED);
    // The answer may name more reasons against the cancellation, such as its deadline (E0822), which no waiting changes.
    const codes = sends.find(isToldOfEvent)?.codes;
    const blocked =
      codes && decided({ type: 'CancellationNotConfirmed', data: { request, reason: 'refused', codes, at } });
    // Where an earlier send may have arrived, a delayed look-up could miss our event: one absence is not enough. All requests have one event id.
    const isOnlySend = request === 1 && allCameToNothing(sends.filter((other) => other.attempt !== attempt));
    // When the clock was set back after the answer, the look-up may come at once after the answer: too early to settle anything alone.
    const isAfterAnswer = !isBefore(at, send.resolvedAt ?? at);
    if (blocked !== undefined && isOnlySend && isAfterAnswer) return blocked;
    if (!isProven) return NOT_PROVEN;
    if (blocked !== undefined) return blocked;
    if (whatAbsenceShows(sends, send) === 'proves nothing') return stale(MAY_HAVE_ARRIVED);
    // As after an uncatalogued refusal nothing is sent again, so the absences must be as far apart.
    const isFinal = send.final === true;
    if (isFinal && !provesAbsence({ ...send, refused: true }, firstAbsentAt, at, limits)) return NOT_PROVEN;
    if (send.refused === true || isFinal) {
      const refusal = { request, reason: 'refused' as const, ...provenRefusal(send, proof) };
      return decided({ type: 'CancellationNotConfirmed', data: refusal });
    }
    return decided({
      type: 'CancellationProvenAbsent',
      data: { request, attempt, firstAskedAt: firstAbsentAt, secondAskedAt: at, at },
    });
  });
};

/** What absent look-ups of a cancellation's event can settle by the answers to its sends. `decideCancelAbsence` has the reasons. */
export const whatAbsenceShows = (sends: readonly CancelSend[], send: CancelSend): AbsenceMeaning => {
  if (sends.some(isNamedCanceled)) return 'proves nothing';
  if (sends.some(isToldOfEvent)) return 'one may settle it';
  return isRefusedAfterOthers(sends, send) ? 'proves nothing' : 'two prove it';
};

/** Whether the authorizer said that the note has an event already, which may be ours. */
const isToldOfEvent = ({ codes }: CancelSend): boolean => codes.includes(EVENT_EXISTS);

/** Whether the authorizer said that the note is canceled already. No absence outweighs that. */
const isNamedCanceled = ({ namedEvent }: CancelSend): boolean => namedEvent !== undefined;

const NAMED_CANCELED = 'the authorizer named an event that cancels the note';

/** The request cannot be written and none was sent: the cancellation has failed, and the note is as it was. */
export const decideCancelUnsendable = (state: InvoiceState, request: number, at: Instant): Decision => {
  const pending = pendingCancellation(state, request);
  if (pending === undefined) return noChange;
  if (pending.sends.length > 0) return stale('an attempt was made');
  return decided({
    type: 'CancellationNotConfirmed',
    data: { request, reason: 'document_invalid', codes: [], at },
  });
};

/**
 * Records the time-out once it is due. `confirmationSeen`: the last look-up found the event that canceled the note and could not record it. The
 * time-out then waits for a bounded time, in which each sweep tries the recording again: recorded now, the client would read "failed" of a canceled
 * note.
 */
export const decideTimeout = (
  state: InvoiceState,
  now: Instant,
  limits: Limits,
  confirmationSeen: boolean,
): Decision => {
  const pending = pendingCancellation(state);
  if (pending === undefined) return noChange;
  if (isBefore(now, timeoutAt(pending, limits))) return stale('not due');
  if (confirmationSeen && isBefore(now, confirmationAwaitedUntil(pending, limits)))
    return stale('its confirmation is still to be recorded');
  return decided({
    type: 'CancellationNotConfirmed',
    data: { request: pending.request, reason: 'timeout', codes: [], at: now },
  });
};
