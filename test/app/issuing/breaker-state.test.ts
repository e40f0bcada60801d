import { describe, expect, it } from 'vitest';
import {
  admit,
  type BreakerState,
  closedBreaker,
  onAnswer,
  onOutage,
  pauseScaleOf,
  releaseProbe,
} from '../../../src/app/issuing/breaker.js';
import { at } from '../../support/fixture/invoice.js';

const LEASE = 65;
const outage = (
  state: BreakerState,
  seconds: number,
  { chance = 0, isProbe = false, isContradicted = false, company = 'A', pauseScale = 1 } = {},
) => onOutage(state, { company, isProbe, isContradicted, now: at(seconds), chance, pauseScale });
const ask = (state: BreakerState, seconds: number, company = 'B', pauseScale = 1) =>
  admit(state, company, at(seconds), { leaseSeconds: LEASE, pauseScale });

/** Outages at second 0 in a row, of the companies named. */
const outagesOf = (companies: string, pauseScale = 1): BreakerState =>
  [...companies].reduce((state: BreakerState, company) => outage(state, 0, { company, pauseScale }), closedBreaker);

/** Five outages in a row at second 0, of several companies and without chance: open until second 5. */
const opened = outagesOf('ACACA');

const probing = (state: BreakerState, seconds: number): BreakerState => {
  const asked = ask(state, seconds);
  expect(asked.admission).toEqual({ kind: 'probe' });
  return asked.state;
};

describe('the state of the breaker of an environment', () => {
  it('opens at the fifth outage in a row, and not before', () => {
    const four = outagesOf('ACAC');
    expect(ask(four, 0).admission).toEqual({ kind: 'send' });
    expect(ask(opened, 0).admission).toEqual({ kind: 'paused', until: at(5) });
  });

  it('pauses less in a rehearsal, in proportion to its shorter windows', () => {
    expect([900, 3_600, 90, 30, 1].map(pauseScaleOf)).toEqual([1, 1, 0.1, 1 / 30, 1 / 30]);
    const pauseScale = pauseScaleOf(90);
    const open = outagesOf('ACACA', pauseScale);
    expect(ask(open, 0, 'B', pauseScale).admission).toEqual({ kind: 'paused', until: at(0.5) });
    expect(ask(open, 0.5, 'A', pauseScale).admission).toEqual({ kind: 'paused', until: at(1.5) });
    const asked = ask(open, 0.5, 'B', pauseScale);
    expect(asked.admission).toEqual({ kind: 'probe' });
    expect(ask(asked.state, 0.5, 'C', pauseScale).admission).toEqual({ kind: 'paused', until: at(1) });
  });

  it('counts again after an answer', () => {
    const four = outagesOf('ACAC');
    expect(onAnswer(four, 'A')).toEqual(closedBreaker);
    expect(four).toEqual({ state: 'closed', failures: 4, companies: ['A', 'C'] });
    expect(outage(onAnswer(four, 'A'), 0)).toEqual({ state: 'closed', failures: 1, companies: ['A'] });
  });

  it('permits one send when the pause is over; the others ask again soon, but not before', () => {
    expect(ask(opened, 4.999).admission).toEqual({ kind: 'paused', until: at(5) });
    const state = probing(opened, 5);
    expect(state.state).toBe('half_open');
    expect(ask(state, 5).admission).toEqual({ kind: 'paused', until: at(10) });
    expect(ask(state, 68).admission).toEqual({ kind: 'paused', until: at(5 + LEASE) });
  });

  it('lets the next one through when the first has not come back in time', () => {
    expect(ask(probing(opened, 5), 5 + LEASE).admission).toEqual({ kind: 'probe' });
  });

  it('closes at the first answer, of whichever send', () => {
    for (const company of ['A', 'B'])
      expect(ask(onAnswer(probing(opened, 5), company), 6).admission).toEqual({ kind: 'send' });
  });

  it('doubles its pause with each failed try, up to a minute', () => {
    let state = opened;
    let second = 5;
    const pauses: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      state = outage(probing(state, second), second, { isProbe: true });
      const { admission } = ask(state, second);
      const until = admission.kind === 'paused' ? (Date.parse(admission.until) - Date.parse(at(second))) / 1000 : 0;
      pauses.push(until);
      second += until;
    }
    expect(pauses).toEqual([10, 20, 40, 60, 60, 60]);
  });

  it('takes the pause shorter by chance, by half at most', () => {
    const after = (chance: number) => outage(outagesOf('ACAC'), 0, { chance });
    expect([0, 0.5, 1].map((chance) => after(chance))).toMatchObject([
      { until: at(5) },
      { until: at(3.75) },
      { until: at(2.5) },
    ]);
  });

  it('is not moved by outages of sends from before it opened', () => {
    expect(outage(opened, 3)).toEqual(opened);
    const state = probing(opened, 5);
    expect(outage(state, 6)).toEqual(state);
    expect(outage(state, 6, { isProbe: true })).toMatchObject({ state: 'open', until: at(16) });
  });

  it('lets another one through when the first learned nothing', () => {
    const state = probing(opened, 5);
    expect(releaseProbe(state, false)).toEqual(state);
    expect(ask(releaseProbe(state, true), 5).admission).toEqual({ kind: 'probe' });
    expect(releaseProbe(opened, true)).toEqual(opened);
    expect(releaseProbe(outagesOf('ACA'), true)).toEqual(outagesOf('ACA'));
  });

  it('lets other companies go before the one whose send failed last', () => {
    expect(ask(opened, 5, 'A').admission).toEqual({ kind: 'paused', until: at(15) });
    expect(ask(opened, 5, 'B').admission).toEqual({ kind: 'probe' });
    expect(ask(opened, 15, 'A').admission).toEqual({ kind: 'probe' });
  });

  it('does not wait longer when the clock is set back', () => {
    expect(ask(opened, -3600).admission).toEqual({ kind: 'probe' });
    expect(ask(probing(opened, 5), -3600).admission).toEqual({ kind: 'probe' });
  });

  describe('after five outages in a row of one company', () => {
    const held = outagesOf('AAAAA');

    it('holds back the sends of this company alone', () => {
      expect(ask(held, 0, 'A').admission).toEqual({ kind: 'paused', until: at(15) });
      expect(ask(held, 0, 'B')).toEqual({ state: held, admission: { kind: 'send' } });
      const half = ask(held, 15, 'A');
      expect(half.admission).toEqual({ kind: 'probe' });
      expect(ask(half.state, 15, 'A').admission.kind).toBe('paused');
      expect(ask(half.state, 15, 'B').admission).toEqual({ kind: 'send' });
    });

    it('closes at an answer to this company, and not at one to another', () => {
      const state = onAnswer(held, 'B');
      expect(ask(state, 0, 'A').admission).toEqual({ kind: 'paused', until: at(15) });
      expect(ask(state, 0, 'B').admission).toEqual({ kind: 'send' });
      expect(onAnswer(state, 'A')).toEqual(closedBreaker);
    });

    it('doubles the pause of this company with each failed try, and never holds the others', () => {
      const state = outage(ask(held, 15, 'A').state, 15, { isProbe: true });
      expect(ask(state, 15, 'A').admission).toEqual({ kind: 'paused', until: at(35) });
      expect(ask(state, 15, 'B').admission).toEqual({ kind: 'send' });
    });

    it('counts outages of others once for each company while sends are answered', () => {
      const fail = (state: BreakerState, companies: string) =>
        [...companies].reduce((of, company) => outage(of, 10, { company, isContradicted: true }), state);
      const hung = fail(held, 'BBBBBBCCCCCCDDE');
      expect(ask(hung, 10, 'B').admission).toEqual({ kind: 'send' });
      expect(ask(fail(onAnswer(hung, 'B'), 'FFF'), 10, 'B').admission).toEqual({ kind: 'send' });
      expect(ask(fail(hung, 'F'), 10, 'B').admission.kind).toBe('paused');
      const closed = fail(closedBreaker, 'ABABABAAAABBB');
      expect(ask(closed, 10, 'C').admission).toEqual({ kind: 'send' });
      expect(ask(fail(closed, 'CDE'), 10, 'C').admission.kind).toBe('paused');
      expect(fail(closedBreaker, 'AAAAA')).toMatchObject({ state: 'open', blamed: 'A', others: { failures: 0 } });
    });

    it('opens to all at the fifth outage in a row of others', () => {
      const fail = (state: BreakerState, times: number) =>
        Array.from({ length: times }).reduce((of: BreakerState) => outage(of, 10, { company: 'B' }), state);
      const answered = onAnswer(fail(held, 4), 'C');
      expect(ask(fail(answered, 4), 10, 'C').admission).toEqual({ kind: 'send' });
      const open = fail(answered, 5);
      for (const company of ['A', 'C'])
        expect(ask(open, 10, company).admission).toEqual({ kind: 'paused', until: at(15) });
      expect(ask(open, 15, 'C').admission).toEqual({ kind: 'probe' });
    });
  });
});
