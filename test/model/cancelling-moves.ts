import { APPEND_GRACE_SECONDS } from '../../src/app/issuing/protocol.js';
import { EVENT_EXISTS } from '../../src/domain/common/authorizer-code.js';
import { addSeconds, isBefore, laterOf } from '../../src/domain/common/time.js';
import type { Decision } from '../../src/domain/invoice/decision.js';
import { confirmationAwaitedUntil, timeoutAt } from '../../src/domain/invoice/next-cancel-step.js';
import { UNSENT } from '../../src/domain/invoice/send-steps.js';
import type { CancelSend } from '../../src/domain/invoice/state.js';
import { ACCESS_KEY, confirmationData } from '../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import {
  type Answer,
  appended,
  cancellationOf,
  idle,
  isKnownToExist,
  limits,
  type Rules,
  type Worker,
  type World,
} from './cancelling-world.js';
import { isFirstOfItsKind, type Move } from './explore.js';

type Step = { name: string; after: World; holds: Worker };

/** All possible next moves: a process makes one step or dies, a request arrives late, time passes. */
export const movesOf =
  (rules: Rules) =>
  (world: World): readonly Move<World>[] => [
    ...world.workers.flatMap((worker, index) =>
      (isFirstOfItsKind(worker, index, world.workers)
        ? [...stepsOf(rules, world, worker), ...deathsOf(world, worker)]
        : []
      ).map(({ name, after, holds }) => ({
        name: `worker ${index}: ${name}`,
        after: { ...after, workers: after.workers.with(index, holds) },
      })),
    ),
    ...lateArrival(world),
    ...passing(rules, world),
  ];

const stepsOf = (rules: Rules, world: World, worker: Worker): readonly Step[] => {
  switch (worker.at) {
    case 'idle':
      return look(rules, world);
    case 'decided':
      return act(rules, world, worker);
    case 'sending':
      return send(world, worker);
    case 'answered':
      return [{ name: `records "${worker.answer}"`, after: recordAnswer(rules, world, worker), holds: idle }];
    case 'heard':
      return [
        { name: 'records what it heard', after: recordHeard(rules, world, worker), holds: idle },
        ...failToRecord(rules, world, worker),
      ];
  }
};

const progressOf = (world: World) => {
  const last = cancellationOf(world)?.sends.at(-1);
  const isOpen = last?.resolution === 'open' || last?.resolution === 'unknown';
  return (isOpen ? world.memos[last.attempt] : undefined) ?? { asked: 0 };
};

const look = (rules: Rules, world: World): readonly Step[] => {
  const step = rules.nextCancelStep(world.state, world.now, limits, progressOf(world));
  if (step.do === 'wait' || step.do === 'nothing') return [];
  const holds: Worker = { at: 'decided', revision: world.events.length, step, decidedAt: world.now };
  return [{ name: `decides to ${step.do}`, after: world, holds }];
};

const act = (rules: Rules, world: World, worker: Extract<Worker, { at: 'decided' }>): readonly Step[] => {
  const { step } = worker;
  if (step.do === 'send' || step.do === 'resend') return [attempt(rules, world, worker.revision, step.attempt)];
  const asked = step.do === 'look_up' ? step.send : step.lookUpFirst;
  if (asked === undefined) {
    return [
      {
        name: 'concludes',
        after: recorded(world, rules.decideTimeout(world.state, worker.decidedAt, limits, false)),
        holds: idle,
      },
    ];
  }
  const heard = {
    at: 'heard' as const,
    send: asked,
    isLast: step.do === 'conclude',
    askedAt: worker.decidedAt,
    existed: isKnownToExist(cancellationOf(world)),
  };
  const { registered, elsewhere } = world.authorizer;
  if (!registered && !elsewhere) return [{ name: 'hears absent', after: world, holds: { ...heard, found: 'absent' } }];
  const owner = registered ? 'ours' : 'elsewhere';
  const found: Step = { name: `hears ${owner}`, after: world, holds: { ...heard, found: owner } };
  const { budget } = world;
  const spent = (fault: 'hidden' | 'doubtful'): World => ({
    ...world,
    budget: { ...budget, [fault]: budget[fault] - 1 },
  });
  const steps = [found];
  if (budget.hidden > 0)
    steps.push({
      name: 'hears absent of what is there',
      after: spent('hidden'),
      holds: { ...heard, found: 'absent' },
    });
  if (budget.doubtful > 0)
    steps.push({
      name: 'hears of an event whose owner is unknown',
      after: spent('doubtful'),
      holds: { ...heard, found: 'doubtful' },
    });
  return steps;
};

const attempt = (rules: Rules, world: World, revision: number, number: number): Step => {
  const data = {
    request: 1,
    attempt: number,
    requestId: 'PRE',
    digest: 'ours',
    signedRequestGzip: '',
    attemptedAt: world.now,
    deadlineAt: addSeconds(world.now, APPEND_GRACE_SECONDS + limits.sendSeconds),
  };
  const decision = rules.decideAttempt(world.state, { type: 'CancellationAttempted', data });
  if ('refused' in decision || revision !== world.events.length)
    return { name: 'loses the append', after: world, holds: idle };
  const holds: Worker = { at: 'sending', attempt: number, attemptedAt: world.now };
  return { name: `records attempt ${number}`, after: appended(world, decision.events), holds };
};

const send = (world: World, { attempt: of, attemptedAt }: Extract<Worker, { at: 'sending' }>): readonly Step[] => {
  const { authorizer, budget } = world;
  const answered = (answer: Answer): Worker => ({
    at: 'answered',
    attempt: of,
    answer,
  });
  if (!isBefore(world.now, addSeconds(attemptedAt, APPEND_GRACE_SECONDS))) {
    return [{ name: 'gives a late send up', after: world, holds: answered('not sent') }];
  }
  const isTaken = authorizer.registered || authorizer.blocked;
  const steps: Step[] = [
    isTaken
      ? { name: 'hears that an event stands', after: world, holds: answered(authorizer.names ? 'canceled' : 'exists') }
      : { name: 'is registered', after: withEvent(world), holds: answered('done') },
  ];
  const spending = (
    fault: 'notSent' | 'undecided' | 'refused' | 'uncatalogued' | 'lost',
    name: string,
    holds: Worker,
    after: World = world,
  ): void => {
    if (budget[fault] > 0)
      steps.push({ name, after: { ...after, budget: { ...budget, [fault]: budget[fault] - 1 } }, holds });
  };
  spending('notSent', 'cannot connect', answered('not sent'));
  // Every send has the same content. What the authorizer makes of an earlier one after this refusal, it makes by the deadline (ADR 8).
  const refused = authorizer.refused || authorizer.underWay;
  const judged: World = { ...world, authorizer: { ...authorizer, underWay: false, refused, refuses: true } };
  spending('refused', 'is refused', answered('refused'), judged);
  spending('uncatalogued', 'is refused with an uncatalogued code', answered('uncatalogued'));
  if (!isTaken) {
    const underWay: World = { ...world, authorizer: { ...authorizer, refused: true } };
    spending('uncatalogued', 'is so refused while its request goes on', answered('uncatalogued'), underWay);
  }
  spending('undecided', 'is answered without a decision', answered('undecided'));
  spending('undecided', 'is so answered while its request goes on', answered('undecided'), left(world));
  spending('lost', 'hears nothing', answered('unknown'), left(world));
  return steps;
};

const recordAnswer = (
  rules: Rules,
  world: World,
  { attempt: of, answer }: Extract<Worker, { at: 'answered' }>,
): World => {
  const { state, now: at } = world;
  const sent = { request: 1, attempt: of };
  const decide = (): Decision => {
    switch (answer) {
      case 'done':
        return rules.decideConfirmed(state, { ...confirmationData(0), at });
      case 'not sent':
        return rules.decideAnswer(state, {
          type: 'CancellationNotSent',
          data: { ...sent, reason: 'refused', codes: [], at },
        });
      case 'refused':
        return rules.decideCancelRejection(state, sent, { codes: ['E0822'] }, at);
      case 'unknown':
        return rules.decideAnswer(state, {
          type: 'CancellationOutcomeUnknown',
          data: { ...sent, reason: 'timeout', codes: [], at },
        });
      case 'undecided':
        return rules.decideAnswer(state, {
          type: 'CancellationOutcomeUnknown',
          data: { ...sent, reason: 'code_not_final', codes: ['E1831'], at },
        });
      case 'uncatalogued':
        return rules.decideAnswer(state, {
          type: 'CancellationOutcomeUnknown',
          data: { ...sent, reason: 'uncatalogued_refusal', refused: true, codes: [UNCATALOGUED_CODE], at },
        });
      case 'exists':
        return rules.decideAnswer(state, {
          type: 'CancellationOutcomeUnknown',
          data: { ...sent, reason: 'exists', codes: [EVENT_EXISTS], at },
        });
      case 'canceled':
        return rules.decideAnswer(state, {
          type: 'CancellationOutcomeUnknown',
          data: { ...sent, reason: 'exists', namedEvent: '305101', codes: [EVENT_EXISTS], at },
        });
    }
  };
  return recorded(world, decide());
};

/** As `src/app/issuing/record-look-up.ts` does with the answer of a look-up. */
const recordHeard = (rules: Rules, world: World, worker: Extract<Worker, { at: 'heard' }>): World => {
  const { send: of, askedAt, found, existed } = worker;
  if (found === 'ours')
    return recorded(world, rules.decideConfirmed(world.state, { ...confirmationData(0), at: world.now }));
  if (found === 'elsewhere') {
    const { request: _request, evidence: _evidence, ...event } = confirmationData(0);
    const data = { ...event, accessKey: ACCESS_KEY, eventType: '305101' as const, at: world.now };
    return recorded(world, rules.decideCanceledElsewhere(world.state, data, world.state));
  }
  const noted =
    of === UNSENT
      ? world
      : found === 'doubtful'
        ? noteDocument(rules, world, of, askedAt)
        : noteAbsence(rules, world, of, askedAt, existed);
  return worker.isLast ? recorded(noted, rules.decideTimeout(noted.state, askedAt, limits, false)) : noted;
};

/** The last look-up found our event, and the append of its confirmation fails. */
const failToRecord = (rules: Rules, world: World, worker: Extract<Worker, { at: 'heard' }>): readonly Step[] => {
  const isEvent = worker.found === 'ours' || worker.found === 'elsewhere';
  if (!isEvent || world.budget.unrecorded === 0) return [];
  const failing: World = {
    ...world,
    hasFailedToRecord: true,
    budget: { ...world.budget, unrecorded: world.budget.unrecorded - 1 },
  };
  const after = worker.isLast
    ? recorded(failing, rules.decideTimeout(failing.state, worker.askedAt, limits, true))
    : failing;
  return [{ name: 'cannot record what it heard', after, holds: idle }];
};

const noteDocument = (rules: Rules, world: World, of: CancelSend, askedAt: string): World => {
  const memo = rules.progressAfter(world.memos[of.attempt] ?? { asked: 0 }, { askedAt, kind: 'found' }, false);
  const shownAt = laterOf(world.shownAt ?? askedAt, askedAt);
  return { ...world, shownAt, memos: { ...world.memos, [of.attempt]: memo } };
};

const noteAbsence = (rules: Rules, world: World, of: CancelSend, askedAt: string, existed: boolean): World => {
  const memo = world.memos[of.attempt] ?? { asked: 0 };
  const { firstAbsentAt } = memo;
  if (existed || rules.provesAbsence(of, firstAbsentAt, askedAt, limits)) {
    const proof = { request: 1, attempt: of.attempt, now: askedAt, firstAbsentAt: firstAbsentAt ?? askedAt };
    const decision = rules.decideCancelAbsence(world.state, proof, limits);
    if (!('refused' in decision)) return recorded(world, decision);
  }
  const counts = !isBefore(askedAt, of.deadlineAt);
  const noted = rules.progressAfter(memo, { askedAt, kind: 'absent' }, counts);
  return { ...world, memos: { ...world.memos, [of.attempt]: noted } };
};

/** A decision on the newest state and its append are one step: an append that loses decides again. */
const recorded = (world: World, decision: Decision): World =>
  'refused' in decision || decision.events.length === 0 ? world : appended(world, decision.events);

const withEvent = (world: World): World => ({
  ...world,
  authorizer: { ...world.authorizer, registered: true, underWay: false, refused: false },
});

const left = (world: World): World =>
  world.authorizer.registered || world.authorizer.blocked || world.authorizer.refuses
    ? world
    : { ...world, authorizer: { ...world.authorizer, underWay: true } };

const deathsOf = (world: World, worker: Worker): readonly Step[] => {
  if (world.budget.crashes === 0 || (worker.at !== 'sending' && worker.at !== 'answered')) return [];
  const after = { ...world, budget: { ...world.budget, crashes: world.budget.crashes - 1 } };
  const death = { name: `dies while ${worker.at}`, after, holds: idle };
  return worker.at === 'sending'
    ? [death, { name: 'dies, its request left', after: left(after), holds: idle }]
    : [death];
};

const lateArrival = (world: World): readonly Move<World>[] =>
  world.authorizer.underWay || world.authorizer.refused
    ? [{ name: 'the event is registered late', after: withEvent(world) }]
    : [];

/** Time passes to the next instant at which anything can change. */
const passing = (rules: Rules, world: World): readonly Move<World>[] => {
  const cancellation = cancellationOf(world);
  if (cancellation?.status !== 'pending') return [];
  const step = rules.nextCancelStep(world.state, world.now, limits, progressOf(world));
  const [first, last] = [cancellation.sends[0], cancellation.sends.at(-1)];
  const next = [
    timeoutAt(cancellation, limits),
    ...(world.hasFailedToRecord === true ? [confirmationAwaitedUntil(cancellation, limits)] : []),
    ...(step.do === 'wait' ? [step.until] : []),
    ...world.workers.flatMap((worker) =>
      worker.at === 'sending' ? [addSeconds(worker.attemptedAt, APPEND_GRACE_SECONDS)] : [],
    ),
    ...(last === undefined ? [] : [last.deadlineAt]),
    ...(first === undefined ? [] : [addSeconds(first.attemptedAt, limits.cancellationSeconds)]),
  ]
    .filter((at) => isBefore(world.now, at))
    .sort()[0];
  if (next === undefined) return [];
  const isOver = last !== undefined && !isBefore(next, last.deadlineAt);
  const authorizer = isOver ? { ...world.authorizer, refused: false } : world.authorizer;
  return [{ name: `time passes to ${next.slice(17, 19)} s`, after: { ...world, now: next, authorizer } }];
};
