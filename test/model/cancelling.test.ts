import { describe, expect, it } from 'vitest';
import { EVENT_EXISTS } from '../../src/domain/common/authorizer-code.js';
import { isBefore } from '../../src/domain/common/time.js';
import { decideCancelAbsence, decideTimeout } from '../../src/domain/invoice/decide-cancellation.js';
import { decided } from '../../src/domain/invoice/decision.js';
import { confirmationAwaitedUntil } from '../../src/domain/invoice/next-cancel-step.js';
import { decideAnswer } from '../../src/domain/invoice/send-decisions.js';
import { progressAfter } from '../../src/domain/invoice/send-steps.js';
import { confirmationData } from '../support/fixture/invoice.js';
import { movesOf } from './cancelling-moves.js';
import {
  type Budget,
  cancellationOf,
  keysOf,
  limits,
  type Others,
  type Rules,
  rules,
  startWorld,
  type World,
} from './cancelling-world.js';
import { explore, type Model } from './explore.js';

const breachOf =
  (given: Rules) =>
  (world: World, before: World | undefined): string | undefined => {
    const cancellation = cancellationOf(world);
    const earlier = before === undefined ? undefined : cancellationOf(before);
    const { registered, blocked, refused, elsewhere } = world.authorizer;
    const underWay = world.authorizer.underWay || refused;
    if (cancellation === undefined) return 'the request is gone';
    const isCorrected = elsewhere && earlier?.status === 'failed' && cancellation.status === 'succeeded';
    if (
      earlier !== undefined &&
      earlier.status !== 'pending' &&
      earlier.status !== cancellation.status &&
      !isCorrected
    ) {
      return `${earlier.status} became ${cancellation.status}`;
    }
    if (cancellation.status === 'succeeded' && !registered && !elsewhere) return 'succeeded without an event';
    // A time-out says nothing about the note; a refusal does.
    if (cancellation.status === 'failed' && cancellation.codes.length > 0) {
      if (registered) return 'refused although it is registered';
      if (elsewhere) return 'refused although the note is canceled';
      if (underWay && !blocked) return 'refused while a request may be registered';
    }
    const unproven = world.events.at(-1);
    const isNew = before !== undefined && world.events.length > before.events.length;
    if (isNew && unproven?.type === 'CancellationProvenAbsent' && before.shownAt !== undefined) {
      if (isBefore(unproven.data.firstAskedAt, before.shownAt)) return 'proven absent by a look-up from before a find';
    }
    if (cancellation.status === 'failed' && isNew && isConfirmedTo(before)) {
      const due = cancellationOf(before);
      if (due !== undefined && isBefore(world.now, confirmationAwaitedUntil(due, limits)))
        return 'timed out with its confirmation in hand';
    }
    if (cancellation.status === 'pending' && world.workers.every(({ at }) => at === 'idle')) {
      const memo = world.memos[cancellation.sends.length] ?? { asked: 0 };
      if (given.nextCancelStep(world.state, world.now, limits, memo).do === 'nothing') return 'pending for ever';
    }
    return undefined;
  };

/** Both processes have heard that the note is canceled, so that neither has another reason to call the cancellation failed. */
const isConfirmedTo = ({ workers }: World): boolean =>
  workers.every(
    (worker) => worker.at === 'idle' || (worker.at === 'heard' && ['ours', 'elsewhere'].includes(worker.found)),
  ) && workers.some(({ at }) => at === 'heard');

const model = (given: Rules, budget: Budget, others: Others, workers?: number): Model<World> => ({
  starts: [startWorld(budget, others, workers)],
  movesOf: movesOf(given),
  breachOf: breachOf(given),
  keyOf: keysOf(),
});

const none: Budget = {
  crashes: 0,
  lost: 0,
  notSent: 0,
  undecided: 0,
  refused: 0,
  uncatalogued: 0,
  hidden: 0,
  doubtful: 0,
  unrecorded: 0,
};
const isFull = process.env.MODEL_FULL === '1';
const MOST = isFull ? 15_000_000 : 400_000;
const PATIENCE_MS = isFull ? 3_600_000 : 600_000;

const cases: readonly (readonly [faults: string, budget: Budget, others: Others])[] = [
  ['a lost answer and a crash', { ...none, lost: 1, crashes: 1 }, 'nothing'],
  ['a lost answer and a look-up that does not show it', { ...none, lost: 1, hidden: 1 }, 'nothing'],
  ['another event on the note, and a lost answer', { ...none, lost: 1 }, 'an event that bars ours'],
  ['a cancellation of another party, a lost answer and a crash', { ...none, lost: 1, crashes: 1 }, 'a cancellation'],
  ['a cancellation of another party that cannot be recorded', { ...none, lost: 1, unrecorded: 1 }, 'a cancellation'],
  [
    'a cancellation that the refusal names, a lost answer and look-ups that do not show it',
    { ...none, lost: 1, hidden: 3 },
    'a cancellation that is named',
  ],
  ['a refusal with an uncatalogued code', { ...none, uncatalogued: 1 }, 'nothing'],
  [
    'a lost answer, a refusal and a look-up that does not show it',
    { ...none, lost: 1, refused: 1, hidden: 1 },
    'nothing',
  ],
  ...(isFull
    ? ([
        ['one of each fault', { ...none, crashes: 1, lost: 1, notSent: 1, refused: 1, hidden: 1 }, 'nothing'],
        [
          'another event on the note, and one of each fault',
          { ...none, crashes: 1, lost: 1, notSent: 1, refused: 1, hidden: 1 },
          'an event that bars ours',
        ],
      ] as const)
    : []),
];

/** With two processes these are too many states for each run. */
const ofOneProcess: readonly (readonly [faults: string, budget: Budget])[] = [
  ['a lost answer, and a refusal with an uncatalogued code', { ...none, lost: 1, uncatalogued: 1 }],
  ['answers that decide nothing, and a failed connection', { ...none, undecided: 2, notSent: 1 }],
  [
    'such a refusal, a crash and a look-up that does not show the event',
    { ...none, uncatalogued: 1, crashes: 1, hidden: 1 },
  ],
  ['a lost answer, and confirmations that cannot be recorded', { ...none, lost: 1, unrecorded: 3 }],
  [
    'a lost answer, a look-up without its owner and one that does not show it',
    { ...none, lost: 2, hidden: 1, doubtful: 2 },
  ],
];

describe('the cancellation protocol, every interleaving of two processes, the authorizer and time', () => {
  it.each(cases)(
    'ends, and tells the truth: %s',
    (_faults, budget, others) => {
      const { breach, states } = explore(model(rules, budget, others), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(10_000);
    },
    PATIENCE_MS,
  );

  it.each(ofOneProcess)(
    'ends, and tells the truth, with one process: %s',
    (_faults, budget) => {
      const { breach, states } = explore(model(rules, budget, 'nothing', isFull ? 2 : 1), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(1_000);
    },
    PATIENCE_MS,
  );

  const sabotaged: readonly [what: string, broken: Partial<Rules>, budget: Budget, others: Others, breach: string][] = [
    [
      'a refusal ends the request although an earlier send may have got through',
      {
        decideCancelRejection: (_state, { request }, answer, at) =>
          decided({ type: 'CancellationNotConfirmed', data: { request, reason: 'refused', ...answer, at } }),
      },
      { ...none, lost: 1, refused: 1 },
      'nothing',
      'refused',
    ],
    [
      'a refusal with an uncatalogued code is final at once',
      {
        decideAnswer: (state, event) => {
          if (event.type !== 'CancellationOutcomeUnknown' || event.data.refused !== true)
            return decideAnswer(state, event);
          const { request, codes, at } = event.data;
          return decided({ type: 'CancellationNotConfirmed', data: { request, reason: 'refused', codes, at } });
        },
      },
      { ...none, uncatalogued: 1 },
      'nothing',
      'refused while',
    ],
    [
      'one "absent" after an E0840 is a refusal, whatever was sent before',
      {
        decideCancelAbsence: (state, command, given) => {
          const pending = state.kind === 'invoice' ? state.cancellation : undefined;
          const exists = pending?.sends.some(({ codes }) => codes.includes(EVENT_EXISTS)) ?? false;
          if (!exists || pending?.status !== 'pending') return decideCancelAbsence(state, command, given);
          const { request, now: at } = command;
          return decided({
            type: 'CancellationNotConfirmed',
            data: { request, reason: 'refused', codes: [EVENT_EXISTS], at },
          });
        },
      },
      { ...none, lost: 1, hidden: 1 },
      'nothing',
      'refused although',
    ],
    [
      'one "absent" makes a refusal final, whatever was sent before',
      {
        decideCancelAbsence: (state, command, given) => {
          const last = state.kind === 'invoice' ? state.cancellation?.sends.at(-1) : undefined;
          if (last?.final !== true || last.resolution !== 'unknown') return decideCancelAbsence(state, command, given);
          const { request, now: at } = command;
          return decided({
            type: 'CancellationNotConfirmed',
            data: { request, reason: 'refused', codes: last.codes, at },
          });
        },
        provesAbsence: () => true,
      },
      { ...none, lost: 1, refused: 1, hidden: 1 },
      'nothing',
      'refused while',
    ],
    [
      'an "absent" outweighs the name of a cancellation',
      {
        decideAnswer: (state, event) => {
          if (event.type !== 'CancellationOutcomeUnknown') return decideAnswer(state, event);
          const { namedEvent: _named, ...data } = event.data;
          return decideAnswer(state, { ...event, data });
        },
      },
      { ...none, hidden: 1 },
      'a cancellation that is named',
      'refused although the note is canceled',
    ],
    [
      'an E0840 counts as success',
      {
        decideAnswer: (state, event) =>
          event.data.codes.includes(EVENT_EXISTS)
            ? decided({ type: 'CancellationConfirmed', data: { ...confirmationData(0), at: event.data.at } })
            : decideAnswer(state, event),
      },
      none,
      'an event that bars ours',
      'succeeded without',
    ],
    [
      'time ends a request that has ended',
      {
        decideTimeout: (state, now, given) => {
          const decision = decideTimeout(state, now, given, false);
          return 'events' in decision && decision.events.length > 0
            ? decision
            : decided({
                type: 'CancellationNotConfirmed',
                data: { request: 1, reason: 'timeout', codes: [], at: now },
              });
        },
      },
      { ...none, lost: 1 },
      'nothing',
      'became',
    ],
    [
      'time ends a request whose confirmation was found and could not be recorded',
      { decideTimeout: (state, now, given) => decideTimeout(state, now, given, false) },
      { ...none, lost: 1, unrecorded: 1 },
      'nothing',
      'in hand',
    ],
    [
      'time ends a request although a cancellation of another party was found and could not be recorded',
      { decideTimeout: (state, now, given) => decideTimeout(state, now, given, false) },
      { ...none, lost: 1, unrecorded: 1 },
      'a cancellation',
      'in hand',
    ],
    [
      'an absence survives the find of an event',
      {
        progressAfter: (progress, answer, counts) =>
          progressAfter(progress, { ...answer, kind: answer.kind === 'found' ? 'inconclusive' : answer.kind }, counts),
      },
      { ...none, lost: 1, hidden: 1, doubtful: 1 },
      'nothing',
      'before a find',
    ],
  ];

  it.each(sabotaged)('finds the harm when %s', (_what, broken, budget, others, breach) => {
    const { breach: found } = explore(model({ ...rules, ...broken }, budget, others), MOST);
    expect(found?.what).toContain(breach);
  });
});
