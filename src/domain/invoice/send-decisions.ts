import type { Instant } from '../shared/time.js';
import { alreadySo, type Decision, decided, stale } from './decision.js';
import type { InvoiceEvent } from './events.js';
import type { Limits } from './limits.js';
import { provesAbsence } from './send-steps.js';
import { allNotSent, type Resolution, type Send } from './state.js';

/**
 * The sends of a note or of a cancellation: undefined before there is such work, and once its result stands, which `ended` says. The decisions of
 * this file are the same for both; decide-issuance.ts and decide-cancellation.ts name the events and add what differs.
 */
export type OpenSends<S extends Send> = { sends: readonly S[] | undefined; ended: string };

/** A further attempt begins only when the one before is settled without a result: its resolution is one of `settled`. */
export const afterSettled = (
  { sends, ended }: OpenSends<Send>,
  settled: readonly Resolution[],
  event: Extract<InvoiceEvent, { type: 'IssuanceAttempted' | 'CancellationAttempted' }>,
): Decision => {
  if (sends === undefined) return stale(ended);
  const last = sends.at(-1);
  const isSettled = last === undefined || settled.includes(last.resolution);
  const isNext = event.data.attempt === (last?.attempt ?? 0) + 1;
  return isSettled && isNext ? decided(event) : stale('another attempt is under way');
};

/** The first answer to a send counts. A second one changes nothing. */
export const firstAnswer = ({ sends, ended }: OpenSends<Send>, attempt: number, event: InvoiceEvent): Decision => {
  const send = sends?.find((candidate) => candidate.attempt === attempt);
  if (send === undefined) return stale(ended);
  return send.resolution === 'open' ? decided(event) : alreadySo;
};

/** A refusal with final codes ends the work only when no earlier send may have arrived; otherwise it is evidence, and look-ups continue. */
export const refusalOrEvidence = (
  open: OpenSends<Send>,
  attempt: number,
  { end, evidence }: { end: InvoiceEvent; evidence: InvoiceEvent },
): Decision => {
  const earlier = open.sends?.filter((other) => other.attempt < attempt) ?? [];
  return firstAnswer(open, attempt, allNotSent(earlier) ? end : evidence);
};

/** Two absent look-ups of the last send, of which the second was asked for at `now`. */
export type AbsenceProof = { attempt: number; firstAbsentAt: Instant; now: Instant };

/** What an absence of the last send means is decided by `decide`, while that send is not settled. */
export const onAbsence = <S extends Send>(
  { sends }: OpenSends<S>,
  { attempt, firstAbsentAt, now }: AbsenceProof,
  limits: Limits,
  decide: (send: S, isProven: boolean) => Decision,
): Decision => {
  const last = sends?.at(-1);
  if (last === undefined || last.attempt !== attempt) return stale('not the last attempt');
  if (last.resolution === 'absent') return alreadySo;
  if (last.resolution !== 'open' && last.resolution !== 'unknown') return stale('the attempt is settled');
  return decide(last, provesAbsence(last, firstAbsentAt, now, limits));
};

export const NOT_PROVEN: Decision = stale('the proof is not complete');
