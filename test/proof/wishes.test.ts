import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../../src/simulator/state/faults.js';
import { planMishaps } from './mishaps.js';
import { faultDeck, WISH_KINDS, wishOf } from './wishes.js';

const wishesOf = (seed: number, count: number) => {
  const deck = faultDeck(seed);
  return Array.from({ length: count }, (_, number) => wishOf(seed, number + 1, deck));
};

describe('what is drawn for a run', () => {
  it('is the same for the same seed', () => {
    expect(wishesOf(3, 200)).toEqual(wishesOf(3, 200));
    expect(planMishaps(3, 20, ['database_kill'], { stepsClock: true })).toEqual(
      planMishaps(3, 20, ['database_kill'], { stepsClock: true }),
    );
  });

  it('is something else for another seed', () => {
    expect(wishesOf(3, 50)).not.toEqual(wishesOf(4, 50));
    expect(planMishaps(3, 20, [], { stepsClock: false })).not.toEqual(planMishaps(4, 20, [], { stepsClock: false }));
  });

  it('makes the same mishaps in the same order beside other kinds, and with fewer kills', () => {
    const withoutTimes = (kills: number, kinds: readonly string[], stepsClock: boolean) =>
      planMishaps(3, kills, kinds, { stepsClock }).map(({ after: _after, ...mishap }) => mishap);
    const long = withoutTimes(60, ['database_kill', 'queue_kill'], true);
    const withoutKinds = long.filter(({ kind }) => kind !== 'queue_kill' && kind !== 'clock_step');
    expect(withoutTimes(60, ['database_kill'], false)).toEqual(withoutKinds);
    const short = withoutTimes(6, ['database_kill', 'queue_kill'], false);
    expect(short).toEqual(long.filter((mishap) => short.some((one) => isDeepStrictEqual(one, mishap))));
    expect(short).toHaveLength(13);
  });

  it('holds every kind of wish and every kind of fault, once a run is long enough', () => {
    const wishes = wishesOf(1, 1_000);
    expect(new Set(wishes.map(({ kind }) => kind))).toEqual(new Set(WISH_KINDS));
    expect(new Set(wishes.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(FAULT_KINDS));
  });

  it('gives each wish amounts of its own, by which its notes are told from all others', () => {
    const amounts = wishesOf(1, 500).flatMap(({ requests }) => [
      ...new Set(requests.map(({ body }) => body.amount_in_cents)),
    ]);
    expect(new Set(amounts).size).toBe(amounts.length);
  });

  it('kills as often as asked for, and makes each other mishap too', () => {
    const kinds = planMishaps(1, 30, ['database_kill', 'disk_full'], { stepsClock: true }).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'kill')).toHaveLength(30);
    expect(new Set(kinds)).toContain('disk_full');
    expect(new Set(kinds)).toContain('network_cut');
    expect(kinds.filter((kind) => kind === 'clock_step')).toHaveLength(1);
  });
});
