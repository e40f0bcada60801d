import { addSeconds, isBefore } from '../../src/domain/common/time.js';
import type { Invoice } from '../../src/domain/invoice/state.js';
import type { Model } from './explore.js';
import { movesOf } from './issuing-moves.js';
import type { Rules } from './issuing-rules.js';
import { type Budget, keysOf, type Nature, requestsUnderWay, startWorld, type World } from './issuing-world.js';

/** A small world to be explored: two processes unless said otherwise. */
export type Instance = { budget: Budget; workers?: number; foreign?: readonly number[]; nature?: Nature };

export const model = (given: Rules, { budget, workers = 2, foreign, nature }: Instance): Model<World> => ({
  starts: [startWorld(workers, budget, foreign, nature)],
  movesOf: movesOf(given),
  breachOf: breachOf(given),
  keyOf: keysOf(),
});

const breachOf =
  (given: Rules) =>
  (world: World, before: World | undefined): string | undefined => {
    const { log, authorizer, workers, memos, now } = world;
    const { state } = log;
    if (state.kind !== 'invoice') return 'the invoice is gone';
    const { ours, foreign } = authorizer;
    const underWay = requestsUnderWay(authorizer);
    if (ours.length > 1) return 'two notes for one invoice';
    const { outcome } = state;
    const earlier = before?.log.state;
    if (earlier?.kind === 'invoice' && earlier.outcome.status !== 'open' && earlier.outcome.status !== outcome.status) {
      return `the outcome ${earlier.outcome.status} became ${outcome.status}`;
    }
    if (outcome.status === 'issued' && ours.length === 0) return 'issued without a note';
    if (outcome.status === 'failed') {
      if (ours.length > 0) return 'failed over an existing note';
      if (underWay.some((number) => !foreign.includes(number))) return 'failed while a request may become a note';
    }
    const isSentNow =
      before !== undefined &&
      ours.some((number) => ![...before.authorizer.ours, ...requestsUnderWay(before.authorizer)].includes(number));
    if (isSentNow && earlier?.kind === 'invoice' && earlier.outcome.status !== 'open') return 'sent after the verdict';
    const proof = log.events.at(-1);
    const isNew = before !== undefined && log.events.length > before.log.events.length;
    if (isNew && proof?.type === 'IssuanceProvenAbsent' && before.shownAt !== undefined) {
      if (isBefore(proof.data.firstAskedAt, before.shownAt)) return 'proven absent by a look-up from before a find';
    }
    if (outcome.status === 'open' && workers.every(({ at }) => at === 'idle')) {
      const last = state.attempts.at(-1);
      const step = given.nextIssueStep(state, now, given.limits, memos[last?.attempt ?? 0] ?? { asked: 0 });
      if (step.do === 'nothing') return 'an open invoice that nobody will ever end';
    }
    return breachOfPatience(given, world, state);
  };

/** What may be asked of the protocol only where a note, once known or shown, is not lost again, and processes are awake. */
const breachOfPatience = (given: Rules, world: World, { outcome, attempts }: Invoice): string | undefined => {
  const { nature, authorizer, isNoteBrought, now } = world;
  if (outcome.status === 'indeterminate') {
    if (isNoteBrought) return 'indeterminate although a process brought the note';
    if (nature.isPrompt === true && authorizer.ours.length > 0) return 'indeterminate over a note that look-ups show';
  }
  const first = attempts[0];
  if (nature.isAwake !== true || first === undefined || outcome.status !== 'open') return undefined;
  const end = addSeconds(first.attemptedAt, 2 * given.limits.processingSeconds);
  return isBefore(end, now) ? 'open for more than two limits after the first attempt' : undefined;
};
