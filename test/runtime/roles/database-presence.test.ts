import { describe, expect, it } from 'vitest';
import { createDatabasePresence } from '../../../src/runtime/roles/database-presence.js';

const watched = ({ beginsAway = false } = {}) => {
  const clock = { ms: 0 };
  const presence = createDatabasePresence(beginsAway, () => clock.ms);
  /** Whether the database counts as away at this moment and a millisecond before it. */
  const around = (ms: number): [boolean, boolean] => {
    clock.ms = ms - 1;
    const before = presence.wasAway();
    clock.ms = ms;
    return [before, presence.wasAway()];
  };
  const answeredAt = (ms: number, server?: string): boolean => {
    clock.ms = ms;
    return presence.answered(server);
  };
  return { clock, presence, around, answeredAt };
};

describe('the database', () => {
  it('was not away while looks end well', () => {
    const { presence, answeredAt } = watched();
    for (let ms = 0; ms < 10_000; ms += 2_500) {
      answeredAt(ms, 'one');
      expect(presence.wasAway()).toBe(false);
    }
  });

  it('was away from a look that failed until five seconds after the next look that ended well, however late that is', () => {
    const { clock, presence, around, answeredAt } = watched();
    answeredAt(0, 'one');
    presence.failed();
    expect(presence.wasAway()).toBe(true);
    clock.ms = 2_500;
    expect(presence.wasAway()).toBe(true);
    // Operators know of a failover from the look that failed.
    expect(answeredAt(5_000, 'other')).toBe(false);
    expect(presence.wasAway()).toBe(true);
    answeredAt(7_500, 'other');
    expect(around(10_000)).toEqual([true, false]);
  });

  it('was away until five seconds after the first look of a process that begins so', () => {
    const { clock, presence, around, answeredAt } = watched({ beginsAway: true });
    clock.ms = 100;
    expect(presence.wasAway()).toBe(true);
    answeredAt(1_000, 'one');
    answeredAt(4_000, 'one');
    expect(around(6_000)).toEqual([true, false]);
  });

  it('was away for five seconds after another server has answered', () => {
    const { presence, around, answeredAt } = watched();
    expect([answeredAt(0, 'one'), answeredAt(250, 'other')]).toEqual([false, true]);
    expect(presence.wasAway()).toBe(true);
    expect(answeredAt(3_000, 'other')).toBe(false);
    expect(around(5_250)).toEqual([true, false]);
  });

  it('is known by the last server that was asked for, and a look that asks for none changes nothing', () => {
    const { presence, answeredAt } = watched();
    answeredAt(0);
    answeredAt(250, 'one');
    answeredAt(500);
    expect(presence.wasAway()).toBe(false);
    answeredAt(750, 'other');
    expect(presence.wasAway()).toBe(true);
  });

  it('is away while no look has ended for three seconds', () => {
    const { presence, around, answeredAt } = watched();
    answeredAt(1_000, 'one');
    expect(around(4_001)).toEqual([false, true]);
    answeredAt(4_500, 'one');
    expect(presence.wasAway()).toBe(false);
  });
});
