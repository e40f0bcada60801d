import { APPEND_GRACE_SECONDS } from '../../src/app/issuing/protocol.js';
import { addSeconds, isBefore } from '../../src/domain/common/time.js';
import { verdictByTime } from '../../src/domain/invoice/next-issue-step.js';
import { isFirstOfItsKind, type Move } from './explore.js';
import type { Rules } from './issuing-rules.js';
import { left, look, progressOf, stepsOf, withNote } from './issuing-steps.js';
import { idle, requestsUnderWay, type World } from './issuing-world.js';

/** All possible next moves: a process makes one step or dies, a request arrives late, time passes. */
export const movesOf =
  (rules: Rules) =>
  (world: World): readonly Move<World>[] => [
    ...world.workers.flatMap((worker, index) =>
      isFirstOfItsKind(worker, index, world.workers)
        ? [
            ...stepsOf(rules, world, worker).map(({ name, after, holds }) => ({
              name: `worker ${index}: ${name}`,
              after: { ...after, workers: after.workers.with(index, holds) },
            })),
            ...deathOf(rules, world, index),
          ]
        : [],
    ),
    ...lateArrivals(world),
    ...passing(rules, world),
  ];

/**
 * A process that dies during a send may have sent. A process that dies before that loses only a decision. A prompt authorizer makes nothing after the
 * deadline of the attempt of a request that left before.
 */
const deathOf = (rules: Rules, world: World, index: number): readonly Move<World>[] => {
  const worker = world.workers[index];
  if (world.budget.crashes === 0 || (worker?.at !== 'sending' && worker?.at !== 'answered')) return [];
  const after = {
    ...world,
    workers: world.workers.with(index, idle),
    budget: { ...world.budget, crashes: world.budget.crashes - 1 },
  };
  const death = { name: `worker ${index} dies while ${worker.at}`, after };
  if (worker.at !== 'sending') return [death];
  const deadlineAt = addSeconds(worker.attemptedAt, APPEND_GRACE_SECONDS + rules.limits.sendSeconds);
  return world.nature.isPrompt !== true || isBefore(world.now, deadlineAt)
    ? [death, { name: `worker ${index} dies, its request left`, after: left(after, worker.number) }]
    : [death];
};

/** A request that was sent can become a note at any time. That it never does is modelled by not making this move. */
const lateArrivals = (world: World): readonly Move<World>[] =>
  [...new Set(requestsUnderWay(world.authorizer))].map((number) => ({
    name: `number ${number} becomes a note late`,
    after: withNote(world, number),
  }));

const isAnyoneBusy = (rules: Rules, world: World): boolean =>
  world.workers.some(({ at }) => at !== 'idle') || look(rules, world).length > 0;

/** Time passes to the next instant at which anything can change. */
const passing = (rules: Rules, world: World): readonly Move<World>[] => {
  const { state } = world.log;
  const { limits } = rules;
  if (state.kind !== 'invoice' || state.outcome.status !== 'open') return [];
  if (world.nature.isAwake === true && isAnyoneBusy(rules, world)) return [];
  const instants: string[] = [verdictByTime(state, limits).failedAt];
  const step = rules.nextIssueStep(state, world.now, limits, progressOf(world, state));
  if (step.do === 'wait') instants.push(step.until);
  for (const worker of world.workers) {
    if (worker.at === 'sending') instants.push(addSeconds(worker.attemptedAt, APPEND_GRACE_SECONDS));
  }
  const [first, last] = [state.attempts[0], state.attempts.at(-1)];
  if (last !== undefined) instants.push(last.deadlineAt);
  if (first !== undefined) instants.push(addSeconds(first.attemptedAt, limits.processingSeconds));
  const next = instants.filter((at) => isBefore(world.now, at)).sort()[0];
  if (next === undefined) return [];
  const isOver = last !== undefined && !isBefore(next, last.deadlineAt);
  const { isPrompt, outlivesRefusals } = world.nature;
  const authorizer = {
    ...world.authorizer,
    ...(isOver && isPrompt === true ? { underWay: [] } : {}),
    ...(isOver && outlivesRefusals !== true ? { refused: [] } : {}),
  };
  return [{ name: `time passes to ${next.slice(14, 19)}`, after: { ...world, now: next, authorizer } }];
};
