import { describe, expect, it } from 'vitest';
import {
  admit,
  answered,
  type Circuit,
  closedCircuit,
  learnedNothing,
  metOutage,
  paceOf,
} from '../../../src/app/issuer/circuit.js';
import { at } from '../../domain/invoice/fixtures.js';

const LEASE = 65;
const outage = (circuit: Circuit, seconds: number, { chance = 0, isProbe = false, company = 'A', pace = 1 } = {}) =>
  metOutage(circuit, { company, isProbe, now: at(seconds), chance, pace });
const ask = (circuit: Circuit, seconds: number, company = 'B', pace = 1) =>
  admit(circuit, company, at(seconds), { leaseSeconds: LEASE, pace });

/** Five outages in a row at second 0, without chance: open until second 5. */
const opened = [1, 2, 3, 4, 5].reduce((circuit: Circuit) => outage(circuit, 0), closedCircuit);

const probing = (circuit: Circuit, seconds: number): Circuit => {
  const asked = ask(circuit, seconds);
  expect(asked.admission).toEqual({ kind: 'probe' });
  return asked.circuit;
};

describe('the circuit of an environment', () => {
  it('opens at the fifth outage in a row, and not before', () => {
    const four = [1, 2, 3, 4].reduce((circuit: Circuit) => outage(circuit, 0), closedCircuit);
    expect(ask(four, 0).admission).toEqual({ kind: 'send' });
    expect(ask(opened, 0).admission).toEqual({ kind: 'paused', until: at(5) });
  });

  it('pauses for as much less as a rehearsal has shorter windows', () => {
    expect([900, 3_600, 90, 30, 1].map(paceOf)).toEqual([1, 1, 0.1, 1 / 30, 1 / 30]);
    const pace = paceOf(90);
    const open = [1, 2, 3, 4, 5].reduce((circuit: Circuit) => outage(circuit, 0, { pace }), closedCircuit);
    expect(ask(open, 0, 'B', pace).admission).toEqual({ kind: 'paused', until: at(0.5) });
    expect(ask(open, 0.5, 'A', pace).admission).toEqual({ kind: 'paused', until: at(1.5) });
    const asked = ask(open, 0.5, 'B', pace);
    expect(asked.admission).toEqual({ kind: 'probe' });
    expect(ask(asked.circuit, 0.5, 'C', pace).admission).toEqual({ kind: 'paused', until: at(1) });
  });

  it('counts anew after an answer', () => {
    const four = [1, 2, 3, 4].reduce((circuit: Circuit) => outage(circuit, 0), closedCircuit);
    expect(answered()).toEqual(closedCircuit);
    expect(four).toEqual({ state: 'closed', failures: 4 });
    expect(outage(answered(), 0)).toEqual({ state: 'closed', failures: 1 });
  });

  it('lets one through when the pause is over, and the others look again soon, but not before', () => {
    expect(ask(opened, 4.999).admission).toEqual({ kind: 'paused', until: at(5) });
    const circuit = probing(opened, 5);
    expect(circuit.state).toBe('half_open');
    expect(ask(circuit, 5).admission).toEqual({ kind: 'paused', until: at(10) });
    expect(ask(circuit, 68).admission).toEqual({ kind: 'paused', until: at(5 + LEASE) });
  });

  it('lets the next one through when the first has not come back in time', () => {
    expect(ask(probing(opened, 5), 5 + LEASE).admission).toEqual({ kind: 'probe' });
  });

  it('closes at the first answer, whichever send heard it', () => {
    expect(ask(answered(), 6).admission).toEqual({ kind: 'send' });
  });

  it('doubles its pause with each failed try, up to a minute', () => {
    let circuit = opened;
    let second = 5;
    const pauses: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      circuit = outage(probing(circuit, second), second, { isProbe: true });
      const { admission } = ask(circuit, second);
      const until = admission.kind === 'paused' ? (Date.parse(admission.until) - Date.parse(at(second))) / 1000 : 0;
      pauses.push(until);
      second += until;
    }
    expect(pauses).toEqual([10, 20, 40, 60, 60, 60]);
  });

  it('takes the pause shorter by chance, by half at most', () => {
    const after = (chance: number) => outage({ state: 'closed', failures: 4 }, 0, { chance });
    expect([0, 0.5, 1].map((chance) => after(chance))).toMatchObject([
      { until: at(5) },
      { until: at(3.75) },
      { until: at(2.5) },
    ]);
  });

  it('is not moved by outages of sends from before it opened', () => {
    expect(outage(opened, 3)).toEqual(opened);
    const circuit = probing(opened, 5);
    expect(outage(circuit, 6)).toEqual(circuit);
    expect(outage(circuit, 6, { isProbe: true })).toMatchObject({ state: 'open', until: at(16) });
  });

  it('lets another one through when the first learned nothing', () => {
    const circuit = probing(opened, 5);
    expect(learnedNothing(circuit, false)).toEqual(circuit);
    expect(ask(learnedNothing(circuit, true), 5).admission).toEqual({ kind: 'probe' });
    expect(learnedNothing(opened, true)).toEqual(opened);
    expect(learnedNothing({ state: 'closed', failures: 3 }, true)).toEqual({ state: 'closed', failures: 3 });
  });

  it('lets other companies go before the one whose send failed last', () => {
    expect(ask(opened, 5, 'A').admission).toEqual({ kind: 'paused', until: at(15) });
    expect(ask(opened, 5, 'B').admission).toEqual({ kind: 'probe' });
    expect(ask(opened, 15, 'A').admission).toEqual({ kind: 'probe' });
  });

  it('waits no longer when the clock is set back', () => {
    expect(ask(opened, -3600).admission).toEqual({ kind: 'probe' });
    expect(ask(probing(opened, 5), -3600).admission).toEqual({ kind: 'probe' });
  });
});
