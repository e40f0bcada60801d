import { describe, expect, it } from 'vitest';
import { explore, type Model } from './explore.js';
import { breachOf, movesOf } from './waking-moves.js';
import { type Budget, invoiceOf, keyOf, type Rules, rules, startWorld, type World } from './waking-world.js';

const MOST = 100_000;

const model = (given: Partial<Rules>, budget: Budget, isPoisonous = false): Model<World> => ({
  starts: [startWorld(budget, isPoisonous)],
  movesOf: movesOf({ ...rules, ...given }),
  breachOf,
  keyOf,
});

/** Breaks no invariant of docs/architecture.md#invariants: the outcome is true and in time, but no attempt was ever made. */
const untried = (world: World): string | undefined => {
  const { outcome, attempts } = invoiceOf(world);
  return outcome.status === 'failed' && attempts.length === 0 ? 'failed without an attempt' : undefined;
};

const forgetful: Budget = { forgotten: 2, lost: 1 };
const poisonous: Budget = { forgotten: 0, lost: 0 };

describe('the queue is a hint, the log is the truth', () => {
  it('an invoice ends in time, and is tried, whatever work items the queue loses', () => {
    const { breach, states } = explore(model({}, forgetful), MOST);
    expect(breach).toBeUndefined();
    expect(states).toBeGreaterThan(500);
    expect(explore({ ...model({}, forgetful), breachOf: untried }, MOST).breach).toBeUndefined();
  });

  it('a poison job is parked and strands no invoice', () => {
    expect(explore(model({}, poisonous, true), MOST).breach).toBeUndefined();
  });

  it('finds the harm when only the queue keeps the time of a verdict, and a poison job is parked', () => {
    const timersOfTheQueue = { concludesWhatIsDue: false };
    expect(explore(model(timersOfTheQueue, poisonous, true), MOST).breach?.what).toContain('open for longer');
  });

  it('finds the harm when neither half of the sweeper works, and the queue loses a work item', () => {
    const noSweeper = { concludesWhatIsDue: false, reputsQuietWork: false };
    expect(explore(model(noSweeper, forgetful), MOST).breach?.what).toContain('open for longer');
  });

  /**
   * No invariant of docs/architecture.md#invariants needs the sweeper to put work back, as long as the timers are in the database. The service
   * needs it: without it, one lost work item fails an invoice without an attempt.
   */
  it('finds an invoice that nobody tried, and no other breach, when nothing is put back', () => {
    const noReput = { reputsQuietWork: false };
    expect(explore(model(noReput, forgetful), MOST).breach).toBeUndefined();
    expect(explore({ ...model(noReput, forgetful), breachOf: untried }, MOST).breach?.what).toContain(
      'without an attempt',
    );
  });
});
