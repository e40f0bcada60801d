import { noChange } from '../common/decision.js';
import { present } from '../common/present.js';
import type { Instant } from '../common/time.js';
import { type Decision, decided, stale } from './decision.js';
import type { AuthorizerAnswer, InvoiceEvent, InvoiceEventOf, ReadInvoiceEvent } from './events.js';
import type { Limits } from './limits.js';
import { isLookedUp, provesAbsence } from './send-steps.js';
import {
  allEarlierCameToNothing,
  type Cancellation,
  type CancelSend,
  type Invoice,
  type InvoiceState,
  type IssueAttempt,
  type Send,
} from './state.js';

/*
 * What is recorded on a send is decided alike for a note and for a cancellation: an event with a `request` is about a cancellation.
 * decide-issuance.ts and decide-cancellation.ts add what differs.
 */

type AttemptEvent = InvoiceEventOf<'IssuanceAttempted' | 'CancellationAttempted'>;

type AnswerEvent = InvoiceEventOf<
  'IssuanceNotSent' | 'IssuanceOutcomeUnknown' | 'CancellationNotSent' | 'CancellationOutcomeUnknown'
>;

/** The sends of a note or of a cancellation; undefined without such work, or once it has a result: `none` says so. */
type OpenSends<S extends Send> = { sends: readonly S[] | undefined; none: string };

export const OUTCOME_KNOWN = 'the invoice has its outcome';

export const NOT_PENDING = 'no such pending cancellation';

/**
 * A refusal, an unknown outcome or "not sent" of a lost attempt is not recorded: a later attempt may have the number of the lost one, and an earlier
 * one that left a document may be lost too.
 */
export const ATTEMPT_LOST = 'the log has lost the attempt';

/** The invoice while it has no outcome. */
export const openInvoice = (state: InvoiceState): Invoice | undefined =>
  state.kind === 'invoice' && state.outcome.status === 'open' ? state : undefined;

/** The cancellation while it has no result; the one of this request where a request is named. */
export const pendingCancellation = (state: InvoiceState, request?: number): Cancellation | undefined => {
  const pending = state.kind === 'invoice' && state.cancellation?.status === 'pending' ? state.cancellation : undefined;
  return request === undefined || pending?.request === request ? pending : undefined;
};

export const issueSends = (state: InvoiceState): OpenSends<IssueAttempt> => ({
  sends: openInvoice(state)?.attempts,
  none: OUTCOME_KNOWN,
});

export const cancelSends = (state: InvoiceState, request: number): OpenSends<CancelSend> => ({
  sends: pendingCancellation(state, request)?.sends,
  none: NOT_PENDING,
});

const sendsOf = (state: InvoiceState, { data }: AttemptEvent | AnswerEvent): OpenSends<Send> =>
  'request' in data ? cancelSends(state, data.request) : issueSends(state);

/** A further attempt begins only when the one before is settled without a result. */
export const decideAttempt = (state: InvoiceState, event: AttemptEvent): Decision => {
  const { sends, none } = sendsOf(state, event);
  if (sends === undefined) return stale(none);
  const last = sends.at(-1);
  const hasEnded = last === undefined || ['not_sent', 'absent', 'foreign'].includes(last.resolution);
  const isNext = event.data.attempt === (last?.attempt ?? 0) + 1;
  return hasEnded && isNext ? decided(event) : stale('another attempt is under way');
};

/** Only the process that held the socket may record that nothing was sent. */
export const decideAnswer = (state: InvoiceState, event: AnswerEvent): Decision =>
  firstAnswer(sendsOf(state, event), event.data.attempt, event);

/** The first answer to a send counts. A second one changes nothing. */
const firstAnswer = ({ sends, none }: OpenSends<Send>, attempt: number, event: InvoiceEvent): Decision => {
  if (sends === undefined) return stale(none);
  const send = sends.find((candidate) => candidate.attempt === attempt);
  if (send === undefined) return stale('there is no such attempt');
  return send.resolution === 'open' ? decided(event) : noChange;
};

/** A refusal with final codes ends the work only when no earlier send can have left a document; otherwise it is evidence, and look-ups continue. */
export const refusalOrEvidence = (
  state: InvoiceState,
  { end, evidence }: { end: InvoiceEvent; evidence: AnswerEvent },
): Decision => {
  const open = sendsOf(state, evidence);
  const { attempt } = evidence.data;
  return firstAnswer(open, attempt, allEarlierCameToNothing(open.sends ?? [], attempt) ? end : evidence);
};

/**
 * The absent look-ups of the last send, the first asked for at `firstAbsentAt` and the last at `now`. After a single look-up both are equal.
 * `answer`: what a refusal said besides its codes.
 */
export type AbsenceProof = {
  attempt: number;
  firstAbsentAt: Instant;
  now: Instant;
  answer?: Omit<AuthorizerAnswer, 'codes'>;
};

/** What the recorded answer to a send said besides its codes, which a later refusal repeats. A text whose key is gone is missing. */
export const saidTo = (
  events: readonly ReadInvoiceEvent[],
  key: { attempt: number; request?: number },
): NonNullable<AbsenceProof['answer']> => {
  const said = events
    .filter((event) => event.type === 'IssuanceOutcomeUnknown' || event.type === 'CancellationOutcomeUnknown')
    .find(({ data }) => data.attempt === key.attempt && ('request' in data ? data.request : undefined) === key.request);
  return present({ httpStatus: said?.data.httpStatus, texts: said?.data.texts });
};

/** What the event of a refusal records that became final by two absences. */
export const provenRefusal = ({ codes }: Send, { firstAbsentAt, now, answer = {} }: AbsenceProof) => ({
  codes,
  ...answer,
  firstAskedAt: firstAbsentAt,
  secondAskedAt: now,
  at: now,
});

/** A refusal with an uncatalogued code becomes final only when no earlier send may still leave a document. */
export const isRefusedAfterOthers = (sends: readonly Send[], { refused, attempt }: Send): boolean =>
  refused === true && !allEarlierCameToNothing(sends, attempt);

export const MAY_HAVE_ARRIVED = 'it was refused, and an earlier send may have arrived';

/** What absent look-ups of a send can settle. */
export type AbsenceMeaning = 'two prove it' | 'one may settle it' | 'proves nothing';

/** Asks `decide` what the absence means, where it is of the last send and that send is not settled. */
export const onAbsence = <S extends Send>(
  { sends }: OpenSends<S>,
  { attempt, firstAbsentAt, now }: AbsenceProof,
  limits: Limits,
  decide: (send: S, isProven: boolean) => Decision,
): Decision => {
  const last = sends?.at(-1);
  if (last === undefined || last.attempt !== attempt) return stale('not the last attempt');
  if (last.resolution === 'absent') return noChange;
  if (!isLookedUp(last)) return stale('the attempt is settled');
  return decide(last, provesAbsence(last, firstAbsentAt, now, limits));
};

export const NOT_PROVEN: Decision = stale('the proof is not complete');
