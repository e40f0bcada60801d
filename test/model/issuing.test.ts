import { describe, expect, it } from 'vitest';
import { record, stale } from '../../src/domain/invoice/decision.js';
import { nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import { conclude } from '../../src/domain/invoice/record-issuance.js';
import { explore, type Model } from './explore.js';
import { movesOf } from './issuing-moves.js';
import { type Rules, rules } from './issuing-rules.js';
import { type Budget, keyOf, limits, startWorld, type World } from './issuing-world.js';

const breachOf =
  (given: Rules) =>
  ({ log, authorizer, workers, memos, now }: World, before: World | undefined): string | undefined => {
    const { state } = log;
    if (state.kind !== 'invoice') return 'the invoice is gone';
    const { ours, underWay, foreign } = authorizer;
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
      ours.some((number) => ![...before.authorizer.ours, ...before.authorizer.underWay].includes(number));
    if (isSentNow && earlier?.kind === 'invoice' && earlier.outcome.status !== 'open') return 'sent after the verdict';
    if (outcome.status === 'open' && workers.every(({ at }) => at === 'idle')) {
      const last = state.attempts.at(-1);
      const step = given.nextIssueStep(state, now, limits, memos[last?.attempt ?? 0] ?? { asked: 0 });
      if (step.do === 'nothing') return 'an open invoice that nobody will ever end';
    }
    return undefined;
  };

const model = (given: Rules, budget: Budget, workers = 2, foreign: readonly number[] = []): Model<World> => ({
  starts: [startWorld(workers, budget, foreign)],
  movesOf: movesOf(given),
  breachOf: breachOf(given),
  keyOf,
});

const none: Budget = { crashes: 0, lost: 0, notSent: 0, rejected: 0, hidden: 0 };

/** MODEL_FULL=1: more of everything, for many minutes. */
const isFull = process.env.MODEL_FULL === '1';
const MOST = isFull ? 15_000_000 : 400_000;
const PATIENCE_MS = isFull ? 3_600_000 : 120_000;

type Case = [faults: string, budget: Budget, workers?: number, foreign?: readonly number[]];

const cases: readonly Case[] = isFull
  ? [
      ['two lost answers and two crashes', { ...none, lost: 2, crashes: 2 }],
      ['a failed connection and a crash', { ...none, notSent: 2, crashes: 1 }],
      ['a lost answer, and a note that look-ups do not show', { ...none, lost: 1, hidden: 1 }],
      ['three processes, a lost answer and a crash', { ...none, lost: 1, crashes: 1 }, 3],
      ['one of each fault', { crashes: 1, lost: 1, notSent: 1, rejected: 1, hidden: 1 }],
      ['a number taken by somebody else, and one of each fault', { ...none, crashes: 1, lost: 1, notSent: 1 }, 2, [1]],
    ]
  : [
      ['a lost answer and a crash', { ...none, lost: 1, crashes: 1 }],
      ['a lost answer and a rejection', { ...none, lost: 1, rejected: 1 }],
      ['a number taken by somebody else, and a lost answer', { ...none, lost: 1 }, 2, [1]],
    ];

describe('the issuing protocol, every interleaving of its processes, the authorizer and time', () => {
  it.each(cases)(
    'never issues twice and never fails over a note: %s',
    (_faults, budget, workers, foreign) => {
      const { breach, states } = explore(model(rules, budget, workers, foreign), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(50_000);
    },
    PATIENCE_MS,
  );

  const sabotaged: readonly [what: string, broken: Partial<Rules>, budget: Budget, breach: string][] = [
    [
      'a rejection ends the invoice although an earlier send may have got through',
      {
        recordRejection: (state, attempt, answer, at) =>
          state.kind === 'invoice' && state.outcome.status === 'open'
            ? record({ type: 'IssuanceRejected', data: { attempt, ...answer, at } })
            : stale('an outcome stands'),
      },
      { ...none, lost: 1, rejected: 1 },
      'failed',
    ],
    [
      'a proven absence is followed by a new number in place of the same bytes',
      {
        nextIssueStep: (...given) => {
          const step = nextIssueStep(...given);
          return step.do === 'resend' ? { do: 'send', attempt: step.attempt } : step;
        },
      },
      { ...none, lost: 1 },
      'two notes',
    ],
    [
      'an attempt is appended whatever others have appended since',
      { appendsAtExactRevision: false },
      none,
      'two notes',
    ],
    [
      'a proven absence counts as never sent when time is up',
      {
        conclude: (state, verdict, now) =>
          state.kind === 'invoice' && state.outcome.status === 'open' && state.attempts.at(-1)?.resolution === 'absent'
            ? record({ type: 'IssuanceFailed', data: { failedAt: verdict.failedAt, at: now } })
            : conclude(state, verdict, now, limits),
      },
      { ...none, lost: 2 },
      'failed',
    ],
    [
      'a send that could not begin in time begins all the same',
      { givesUpLateSends: false },
      none,
      'sent after the verdict',
    ],
    [
      'a verdict is given on what was read before the last look-up',
      {
        conclude: (_state, verdict, now) =>
          record({ type: verdict.event, data: { failedAt: verdict.failedAt, at: now } }),
      },
      none,
      'failed',
    ],
    [
      'a process that died says that it had not sent',
      {
        nextIssueStep: (state, now, given, progress) => {
          const step = nextIssueStep(state, now, given, progress);
          return step.do === 'look_up' && step.attempt.resolution === 'open'
            ? { do: 'send', attempt: step.attempt.attempt + 1 }
            : step;
        },
        recordAttempt: (_state, data) => record({ type: 'IssuanceAttempted', data }),
      },
      { ...none, crashes: 1 },
      'two notes',
    ],
  ];

  it.each(sabotaged)('finds the harm when %s', (_what, broken, budget, breach) => {
    const { breach: found } = explore(model({ ...rules, ...broken }, budget), MOST);
    expect(found?.what).toContain(breach);
  });
});
