import { describe, expect, it } from 'vitest';
import { type CircuitChange, createSendGate, type Question } from '../../../src/app/issuer/send-gate.js';
import { addSeconds, type Instant } from '../../../src/domain/shared/time.js';
import { at } from '../../domain/invoice/fixtures.js';
import { DEMO_CNPJ } from '../../http/demo.js';

describe('the gate before the sends of an environment', () => {
  const gateOf = () => {
    const changes: CircuitChange[] = [];
    let now: Instant = at(0);
    const gate = createSendGate({
      clock: { now: () => now },
      leaseSeconds: 65,
      shortestWindowSeconds: 900,
      chance: () => 0,
      onChange: (change) => changes.push(change),
    });
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const enter = async (mode: 'live' | 'test' = 'live') => gate.enter({ ...caller, mode });
    const outage = { kind: 'unknown', reason: 'no_json', codes: [], outage: true } as const;
    let answer: 'out' | 'absent' | 'found' = 'out';
    let asked = 0;
    const question = async () => {
      asked += 1;
      if (answer === 'found') return { kind: 'found', found: 'the note of that send' } as const;
      return answer === 'out'
        ? ({ kind: 'inconclusive', reason: 'no_json_503', outage: true } as const)
        : ({ kind: 'absent' } as const);
    };
    const fail = async (about: Question = question) => {
      const pass = await enter();
      if (pass.kind !== 'pass') throw new Error('paused');
      pass.saw(outage, about);
      pass.leave();
    };
    return {
      ...{ enter, fail, changes, isClosed: gate.isClosed },
      pass: (seconds: number) => {
        now = addSeconds(now, seconds);
      },
      recover: (heard: 'absent' | 'found' = 'absent') => {
        answer = heard;
      },
      asked: () => asked,
    };
  };

  it('is one for each environment', async () => {
    const { fail, enter, isClosed } = gateOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    expect([isClosed('live'), isClosed('test')]).toEqual([false, true]);
    expect(await enter('live')).toMatchObject({ kind: 'paused' });
    expect(await enter('test')).toMatchObject({ kind: 'pass' });
  });

  it('asks about the last send before it lets one through, and waits on while that is not answered', async () => {
    const { fail, enter, pass, recover, asked, changes } = gateOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    pass(15);
    expect(await enter()).toEqual({ kind: 'paused', until: at(25) });
    expect(asked()).toBe(1);
    recover();
    pass(20);
    expect(await enter()).toEqual({ kind: 'paused', until: at(35) });
    expect(asked()).toBe(2);
    const probe = await enter();
    expect(probe.kind).toBe('pass');
    expect(asked()).toBe(2);
    expect(await enter()).toMatchObject({ kind: 'paused' });
    if (probe.kind === 'pass') probe.saw({ kind: 'rejected', codes: ['E0316'] }, async () => ({ kind: 'absent' }));
    expect(await enter()).toMatchObject({ kind: 'pass' });
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
  });

  it('opens to all when the last send is found: it was taken, and only its answer got lost', async () => {
    const { fail, enter, pass, recover, isClosed, changes } = gateOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover('found');
    pass(15);
    expect(await enter()).toEqual({ kind: 'paused', until: at(15) });
    expect(isClosed('live')).toBe(true);
    expect([await enter(), await enter()]).toMatchObject([{ kind: 'pass' }, { kind: 'pass' }]);
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
  });

  it('is not held shut by one send that can never be looked up', async () => {
    const { fail, enter, pass, recover } = gateOf();
    const never: Question = async () => ({ kind: 'inconclusive', reason: 'no_json_503', outage: true });
    for (let sends = 0; sends < 4; sends += 1) await fail();
    await fail(never);
    recover();
    pass(15);
    expect(await enter()).toEqual({ kind: 'paused', until: at(25) });
    pass(20);
    expect(await enter()).toEqual({ kind: 'paused', until: at(35) });
    // The one that may go is such a send itself: what was answered before is asked again.
    await fail(never);
    pass(30);
    expect(await enter()).toEqual({ kind: 'paused', until: at(105) });
    pass(50);
    expect(await enter()).toEqual({ kind: 'paused', until: at(115) });
    expect(await enter()).toMatchObject({ kind: 'pass' });
  });

  it('lets the next one try when the one that was let through sends nothing', async () => {
    const { fail, enter, pass, recover } = gateOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover();
    pass(15);
    await enter();
    const probe = await enter();
    expect(probe.kind).toBe('pass');
    if (probe.kind === 'pass') probe.leave();
    expect(await enter()).toMatchObject({ kind: 'pass' });
  });

  it.each([
    [
      'a missing certificate',
      { kind: 'not_sent', reason: 'certificate_missing', codes: [], certificateRefused: false },
    ],
    [
      'a refused certificate',
      { kind: 'not_sent', reason: 'certificate_refused', codes: ['E1203'], certificateRefused: true },
    ],
    ['a code about the document', { kind: 'unknown', reason: 'already_there', codes: ['E0014'], httpStatus: 400 }],
    ['too many requests', { kind: 'unknown', reason: 'too_many_requests', codes: [], httpStatus: 429 }],
  ] as const)('is never closed to others by %s', async (_what, result) => {
    const { enter } = gateOf();
    for (let sends = 0; sends < 20; sends += 1) {
      const pass = await enter();
      expect(pass.kind).toBe('pass');
      if (pass.kind === 'pass') pass.saw(result, async () => ({ kind: 'absent' }));
    }
  });
});
