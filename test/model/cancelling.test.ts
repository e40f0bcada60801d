import { describe, expect, it } from 'vitest';
import { record } from '../../src/domain/invoice/decision.js';
import {
  concludeCancellation,
  EVENT_EXISTS,
  recordCancelAbsence,
  recordCancelUnknown,
} from '../../src/domain/invoice/record-cancellation.js';
import { confirmationData } from '../domain/invoice/fixtures.js';
import { movesOf } from './cancelling-moves.js';
import {
  type Budget,
  cancellationOf,
  keyOf,
  limits,
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
    const { registered, blocked, underWay } = world.authorizer;
    if (cancellation === undefined) return 'the request is gone';
    if (earlier !== undefined && earlier.status !== 'pending' && earlier.status !== cancellation.status) {
      return `${earlier.status} became ${cancellation.status}`;
    }
    if (cancellation.status === 'succeeded' && !registered) return 'succeeded without an event';
    // A time-out says nothing about the note; a refusal does.
    if (cancellation.status === 'failed' && cancellation.codes.length > 0) {
      if (registered) return 'refused although it is registered';
      if (underWay && !blocked) return 'refused while a request may be registered';
    }
    if (cancellation.status === 'pending' && world.workers.every(({ at }) => at === 'idle')) {
      const memo = world.memos[cancellation.sends.length] ?? { asked: 0 };
      if (given.nextCancelStep(world.state, world.now, limits, memo).do === 'nothing') return 'pending for ever';
    }
    return undefined;
  };

const model = (given: Rules, budget: Budget, blocked: boolean): Model<World> => ({
  starts: [startWorld(budget, blocked)],
  movesOf: movesOf(given),
  breachOf: breachOf(given),
  keyOf,
});

const none: Budget = { crashes: 0, lost: 0, notSent: 0, refused: 0, hidden: 0 };
const isFull = process.env.MODEL_FULL === '1';
const MOST = isFull ? 15_000_000 : 400_000;
const PATIENCE_MS = isFull ? 3_600_000 : 600_000;

const cases: readonly (readonly [faults: string, budget: Budget, blocked: boolean])[] = [
  ['a lost answer and a crash', { ...none, lost: 1, crashes: 1 }, false],
  ['a lost answer and a look-up that does not show it', { ...none, lost: 1, hidden: 1 }, false],
  ['another event on the note, and a lost answer', { ...none, lost: 1 }, true],
  ...(isFull
    ? ([
        ['one of each fault', { crashes: 1, lost: 1, notSent: 1, refused: 1, hidden: 1 }, false],
        [
          'another event on the note, and one of each fault',
          { crashes: 1, lost: 1, notSent: 1, refused: 1, hidden: 1 },
          true,
        ],
      ] as const)
    : []),
];

describe('the cancellation protocol, every interleaving of two processes, the authorizer and time', () => {
  it.each(cases)(
    'ends, and tells the truth: %s',
    (_faults, budget, blocked) => {
      const { breach, states } = explore(model(rules, budget, blocked), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(10_000);
    },
    PATIENCE_MS,
  );

  const sabotaged: readonly [what: string, broken: Partial<Rules>, budget: Budget, blocked: boolean, breach: string][] =
    [
      [
        'a refusal ends the request although an earlier send may have got through',
        {
          recordCancelRefusal: (_state, { request }, answer, at) =>
            record({ type: 'CancellationNotConfirmed', data: { request, reason: 'refused', ...answer, at } }),
        },
        { ...none, lost: 1, refused: 1 },
        false,
        'refused',
      ],
      [
        'one "absent" after an E0840 is a refusal, whatever was sent before',
        {
          recordCancelAbsence: (state, command, given) => {
            const pending = state.kind === 'invoice' ? state.cancellation : undefined;
            const exists = pending?.sends.some(({ codes }) => codes.includes(EVENT_EXISTS)) ?? false;
            if (!exists || pending?.status !== 'pending') return recordCancelAbsence(state, command, given);
            const { request, now: at } = command;
            return record({
              type: 'CancellationNotConfirmed',
              data: { request, reason: 'refused', codes: [EVENT_EXISTS], at },
            });
          },
        },
        { ...none, lost: 1, hidden: 1 },
        false,
        'refused although',
      ],
      [
        'an E0840 counts as success',
        {
          recordCancelUnknown: (state, data) =>
            data.codes.includes(EVENT_EXISTS)
              ? record({ type: 'CancellationConfirmed', data: { ...confirmationData(0), at: data.at } })
              : recordCancelUnknown(state, data),
        },
        none,
        true,
        'succeeded without',
      ],
      [
        'time ends a request that has ended',
        {
          concludeCancellation: (state, now, given) => {
            const decision = concludeCancellation(state, now, given);
            return 'events' in decision && decision.events.length > 0
              ? decision
              : record({
                  type: 'CancellationNotConfirmed',
                  data: { request: 1, reason: 'timeout', codes: [], at: now },
                });
          },
        },
        { ...none, lost: 1 },
        false,
        'became',
      ],
    ];

  it.each(sabotaged)('finds the harm when %s', (_what, broken, budget, blocked, breach) => {
    const { breach: found } = explore(model({ ...rules, ...broken }, budget, blocked), MOST);
    expect(found?.what).toContain(breach);
  });
});
