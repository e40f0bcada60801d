import { describe, expect, it } from 'vitest';
import { MAX_SENDS } from '../../src/domain/invoice/limits.js';
import { sentCount } from '../../src/domain/invoice/state.js';
import { explore, type Model } from './explore.js';
import { type Instance, model } from './issuing-model.js';
import { type Rules, rules } from './issuing-rules.js';
import {
  absentAfterExists,
  absentBeforeDeadline,
  absentTwiceAtOnce,
  absentWhenAskedOnce,
  earlyLookups,
  manyAttempts,
  noteOfSettledAttemptDropped,
  refusalAsSaid,
  startsAnyNumber,
  startsAtAnyTime,
  verdictAfterOldLookup,
  verdictWithoutLookup,
} from './issuing-variants.js';
import { noFaults, type World } from './issuing-world.js';

const MOST = 400_000;
const PATIENCE_MS = 600_000;
const { POSITIVE_INFINITY: anyNumber } = Number;

type Sentence = readonly [
  without: string,
  variant: { broken: Partial<Rules>; given?: Partial<Rules> },
  instance: Instance,
  breach: string,
];

/**
 * Two locks prevent a second note: the proofs of absence, and the authorizer's uniqueness of the DPS id. In these worlds the second lock fails
 * once. As long as it holds, a wrong proof costs only a send (the last tests of this file).
 */
const proofs: readonly Sentence[] = [
  [
    'after an E0014 absence may not be recorded for that DPS id',
    { broken: absentAfterExists },
    { budget: { ...noFaults, echoed: 1, hidden: 3, unlocked: 1 }, workers: 1 },
    'two notes',
  ],
  [
    'absence is asked for at least twice',
    { broken: absentWhenAskedOnce },
    { budget: { ...noFaults, lost: 1, hidden: 1, unlocked: 1 }, workers: 1, nature: { isPrompt: true } },
    'two notes',
  ],
  [
    'the two answers are a pause apart',
    { broken: absentTwiceAtOnce },
    { budget: { ...noFaults, lost: 1, hidden: 2, unlocked: 1 }, nature: { isPrompt: true, isAwake: true } },
    'two notes',
  ],
  [
    'absence is asked for after the deadline of the attempt',
    { broken: absentBeforeDeadline, given: { limits: earlyLookups } },
    { budget: { ...noFaults, lost: 1, unlocked: 1 }, workers: 1, nature: { isPrompt: true } },
    'two notes',
  ],
];

/** A refusal with an uncatalogued code becomes final by absences alone, without a second lock behind them. */
const refusals: readonly Sentence[] = [
  [
    'such a refusal needs two absences',
    { broken: { ...absentWhenAskedOnce, decideAbsence: refusalAsSaid } },
    { budget: { ...noFaults, refused: 1, hidden: 1 }, workers: 1, nature: { isPrompt: true } },
    'failed over an existing note',
  ],
  [
    'the two are a pause apart',
    { broken: { ...absentTwiceAtOnce, decideAbsence: refusalAsSaid } },
    { budget: { ...noFaults, refused: 1, hidden: 2 }, nature: { isPrompt: true, isAwake: true } },
    'failed over an existing note',
  ],
  [
    'both are asked for after the deadline of the attempt',
    { broken: { ...absentBeforeDeadline, decideAbsence: refusalAsSaid }, given: { limits: earlyLookups } },
    { budget: { ...noFaults, refused: 1 }, workers: 1 },
    'failed while a request may become a note',
  ],
];

const endings: readonly Sentence[] = [
  [
    'one last look-up precedes every verdict by time',
    { broken: verdictWithoutLookup },
    { budget: { ...noFaults, lost: 1 }, workers: 1, nature: { isPrompt: true } },
    'indeterminate over a note that look-ups show',
  ],
  [
    'the last look-up is no older than the time that is up',
    { broken: verdictAfterOldLookup },
    { budget: { ...noFaults, lost: 1 }, nature: { isPrompt: true } },
    'indeterminate over a note that look-ups show',
  ],
  [
    'who holds a note records it as long as no outcome stands',
    { broken: noteOfSettledAttemptDropped },
    { budget: { ...noFaults, hidden: 3 } },
    'indeterminate although a process brought the note',
  ],
  [
    'no attempt starts later than one limit after the first',
    { broken: startsAtAnyTime },
    { budget: { ...noFaults, lost: 1, notSent: anyNumber }, workers: 1, nature: { isAwake: true } },
    'open for more than two limits',
  ],
];

describe('each sentence of the protocol on proofs and endings', () => {
  it.each([...proofs, ...refusals, ...endings])(
    'is kept by the product, and its absence does harm: %s',
    (_without, { broken, given }, instance, breach) => {
      const asBuilt = { ...rules, ...given };
      expect(explore(model(asBuilt, instance), MOST).breach).toBeUndefined();
      expect(explore(model({ ...asBuilt, ...broken }, instance), MOST).breach?.what).toContain(breach);
    },
    PATIENCE_MS,
  );
});

describe('what no rule prevents', () => {
  it(
    'is the note of an authorizer that makes it of a refused document after the deadline of the send (ADR 41)',
    () => {
      const instance: Instance = {
        budget: { ...noFaults, refused: 1 },
        workers: 1,
        nature: { outlivesRefusals: true },
      };
      expect(explore(model(rules, instance), MOST).breach?.what).toBe('failed while a request may become a note');
    },
    PATIENCE_MS,
  );
});

describe('what no invariant shows', () => {
  it.each(proofs)(
    'is a wrong proof of absence, as long as the authorizer lets no number be used twice: %s',
    (_without, { broken, given }, instance) => {
      const budget = { ...instance.budget, unlocked: 0 };
      expect(explore(model({ ...rules, ...given, ...broken }, { ...instance, budget }), MOST).breach).toBeUndefined();
    },
    PATIENCE_MS,
  );

  const manySends: readonly (readonly [sends: string, instance: Instance])[] = [
    ['no answer to any send', { budget: { ...noFaults, lost: anyNumber } }],
    ['every number taken by somebody else', { budget: noFaults, foreign: Array.from({ length: 20 }, (_, n) => n + 1) }],
  ];

  /**
   * Because no attempt starts later than one limit after the first, the bound of 5 sends is not needed for a true outcome or an outcome in
   * time. It limits the load on the authorizer and the use of the second lock.
   */
  it.each(manySends)(
    'is a sixth send: %s',
    (_sends, given) => {
      const long = { ...rules, limits: manyAttempts };
      const unbounded = { ...long, ...startsAnyNumber };
      const instance: Instance = { ...given, workers: 1, nature: { isPrompt: true, isAwake: true } };
      const breachOf = ({ log }: World) =>
        log.state.kind === 'invoice' && sentCount(log.state.attempts) > MAX_SENDS ? 'a sixth send' : undefined;
      const counted = (counting: Rules): Model<World> => ({ ...model(counting, instance), breachOf });
      expect(explore(counted(long), MOST).breach).toBeUndefined();
      expect(explore(counted(unbounded), MOST).breach?.what).toBe('a sixth send');
      expect(explore(model(unbounded, instance), MOST).breach).toBeUndefined();
    },
    PATIENCE_MS,
  );
});
