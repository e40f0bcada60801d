import { describe, expect, it } from 'vitest';
import { isBefore } from '../../src/domain/common/time.js';
import { decideVerdict } from '../../src/domain/invoice/decide-issuance.js';
import { decided, stale } from '../../src/domain/invoice/decision.js';
import { nextIssueStep } from '../../src/domain/invoice/next-issue-step.js';
import { decideAnswer } from '../../src/domain/invoice/send-decisions.js';
import { progressAfter } from '../../src/domain/invoice/send-steps.js';
import { explore } from './explore.js';
import { type Instance, model } from './issuing-model.js';
import { type Rules, rules } from './issuing-rules.js';
import { refusalAsSaid } from './issuing-variants.js';
import { type Budget, limits, noFaults } from './issuing-world.js';

/** MODEL_FULL=1: more of everything, for many minutes. */
const isFull = process.env.MODEL_FULL === '1';
const MOST = isFull ? 15_000_000 : 400_000;
const PATIENCE_MS = isFull ? 3_600_000 : 600_000;

const cases: readonly (readonly [faults: string, instance: Instance])[] = isFull
  ? [
      ['two lost answers and two crashes', { budget: { ...noFaults, lost: 2, crashes: 2 } }],
      ['a failed connection and a crash', { budget: { ...noFaults, notSent: 2, crashes: 1 } }],
      ['a lost answer, and a note that look-ups do not show', { budget: { ...noFaults, lost: 1, hidden: 1 } }],
      ['two refusals with uncatalogued codes, and two crashes', { budget: { ...noFaults, refused: 2, crashes: 2 } }],
      [
        'such a refusal, one of each fault, and look-ups that do not show a note',
        {
          budget: { ...noFaults, crashes: 1, lost: 1, notSent: 1, refused: 1, hidden: 2 },
          nature: { isPrompt: true },
        },
      ],
      ['three processes, a lost answer and a crash', { budget: { ...noFaults, lost: 1, crashes: 1 }, workers: 3 }],
      ['one of each fault', { budget: { ...noFaults, crashes: 1, lost: 1, notSent: 1, rejected: 1, hidden: 1 } }],
      [
        'a number taken by somebody else, and one of each fault',
        { budget: { ...noFaults, crashes: 1, lost: 1, notSent: 1 }, foreign: [1] },
      ],
    ]
  : [
      ['a lost answer and a crash', { budget: { ...noFaults, lost: 1, crashes: 1 } }],
      ['a lost answer and a rejection', { budget: { ...noFaults, lost: 1, rejected: 1 } }],
      [
        'a number taken by somebody else, a lost answer and a rejection',
        { budget: { ...noFaults, lost: 1, rejected: 1 }, foreign: [1] },
      ],
      [
        'a number taken by somebody else, a failed connection and a rejection',
        { budget: { ...noFaults, notSent: 1, rejected: 1 }, foreign: [1] },
      ],
      ['an answer that decides nothing, and a crash', { budget: { ...noFaults, undecided: 1, crashes: 1 } }],
      ['a refusal with an uncatalogued code, and a crash', { budget: { ...noFaults, refused: 1, crashes: 1 } }],
      [
        'a failed connection, such a refusal, and look-ups that do not show a note',
        { budget: { ...noFaults, notSent: 1, refused: 1, hidden: 2 }, nature: { isPrompt: true } },
      ],
    ];

describe('the issuing protocol, every interleaving of its processes, the authorizer and time', () => {
  it.each(cases)(
    'never issues twice and never fails over a note: %s',
    (_faults, instance) => {
      const { breach, states } = explore(model(rules, instance), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(50_000);
    },
    PATIENCE_MS,
  );

  it(
    'never fails by absences over what an earlier send may leave: a lost answer, and a refusal with an uncatalogued code',
    () => {
      const budget = { ...noFaults, lost: 1, refused: 1 };
      const { breach, states } = explore(model(rules, { budget, workers: isFull ? 2 : 1 }), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(1_000);
    },
    PATIENCE_MS,
  );

  it(
    'proves no absence over a note that a look-up has shown without its owner',
    () => {
      const budget = { ...noFaults, lost: 1, hidden: 1, doubtful: 1 };
      const { breach, states } = explore(model(rules, { budget, workers: isFull ? 2 : 1 }), MOST);
      expect(breach).toBeUndefined();
      expect(states).toBeGreaterThan(5_000);
    },
    PATIENCE_MS,
  );

  const sabotaged: readonly [what: string, broken: Partial<Rules>, budget: Budget, breach: string][] = [
    [
      'a rejection ends the invoice although an earlier send may have got through',
      {
        decideRejection: (state, { attempt }, answer, at) =>
          state.kind === 'invoice' && state.outcome.status === 'open'
            ? decided({ type: 'IssuanceRejected', data: { attempt, ...answer, at } })
            : stale('the invoice has its outcome'),
      },
      { ...noFaults, lost: 1, rejected: 1 },
      'failed',
    ],
    [
      'a refusal with an uncatalogued code is final at once',
      {
        decideAnswer: (state, event) => {
          const decision = decideAnswer(state, event);
          const isTaken = 'events' in decision && decision.events.length > 0;
          if (!isTaken || event.type !== 'IssuanceOutcomeUnknown' || event.data.refused !== true) return decision;
          return decided({ type: 'IssuanceRejected', data: event.data });
        },
      },
      { ...noFaults, refused: 1 },
      'failed while a request may become a note',
    ],
    [
      'such a refusal becomes final by absences although an earlier send may have got through',
      {
        countsAsAbsence: (_seen, asked, askedAt) => !isBefore(askedAt, asked.deadlineAt),
        decideAbsence: refusalAsSaid,
      },
      { ...noFaults, lost: 1, refused: 1 },
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
      { ...noFaults, lost: 1 },
      'two notes',
    ],
    [
      'an attempt is appended whatever others have appended since',
      { appendsAtExactRevision: false },
      noFaults,
      'two notes',
    ],
    [
      'a proven absence counts as never sent when time is up',
      {
        decideVerdict: (state, verdict, now) =>
          state.kind === 'invoice' && state.outcome.status === 'open' && state.attempts.at(-1)?.resolution === 'absent'
            ? decided({ type: 'IssuanceFailed', data: { failedAt: verdict.failedAt, at: now } })
            : decideVerdict(state, verdict, now, limits, false),
      },
      { ...noFaults, lost: 2 },
      'failed',
    ],
    [
      'a send that could not begin in time begins all the same',
      { givesUpLateSends: false },
      noFaults,
      'sent after the verdict',
    ],
    [
      'a verdict is given on what was read before the last look-up',
      {
        decideVerdict: (_state, verdict, now) =>
          decided({ type: verdict.event, data: { failedAt: verdict.failedAt, at: now } }),
      },
      noFaults,
      'failed',
    ],
    [
      'a process that died says that it had not sent',
      {
        nextIssueStep: (state, now, given, progress) => {
          const step = nextIssueStep(state, now, given, progress);
          return step.do === 'look_up' && step.send.resolution === 'open'
            ? { do: 'send', attempt: step.send.attempt + 1 }
            : step;
        },
        decideAttempt: (_state, event) => decided(event),
      },
      { ...noFaults, crashes: 1 },
      'two notes',
    ],
    [
      'an absence survives the find of a note whose owner is unknown',
      {
        progressAfter: (progress, answer, counts) =>
          progressAfter(progress, { ...answer, kind: answer.kind === 'found' ? 'inconclusive' : answer.kind }, counts),
      },
      { ...noFaults, lost: 1, hidden: 1, doubtful: 1 },
      'before a find',
    ],
  ];

  it.each(sabotaged)('finds the harm when %s', (_what, broken, budget, breach) => {
    const { breach: found } = explore(model({ ...rules, ...broken }, { budget }), MOST);
    expect(found?.what).toContain(breach);
  });
});
