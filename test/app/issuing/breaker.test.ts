import { describe, expect, it } from 'vitest';
import { type BreakerChange, createBreaker, type Probe } from '../../../src/app/issuing/breaker.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { at } from '../../support/fixture/invoice.js';

describe('the breaker of an environment', () => {
  const breakerOf = () => {
    const changes: BreakerChange[] = [];
    let now: Instant = at(0);
    const breaker = createBreaker({
      clock: { now: () => now },
      leaseSeconds: 65,
      shortestWindowSeconds: 900,
      chance: () => 0,
      onChange: (change) => changes.push(change),
    });
    const caller = { mode: 'live', companyId: DEMO_CNPJ } as const;
    const request = async (mode: 'live' | 'test' = 'live') => breaker.requestPermit({ ...caller, mode });
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
    const fail = async (about: Probe = question) => {
      const permit = await request();
      if (permit.kind !== 'permit') throw new Error('paused');
      permit.report(outage, about);
      permit.release();
    };
    return {
      ...{ request, fail, changes, isClosed: breaker.isClosed, probe: () => breaker.probeWithoutSend('live') },
      pass: (seconds: number) => {
        now = addSeconds(now, seconds);
      },
      recover: (heard: 'out' | 'absent' | 'found' = 'absent') => {
        answer = heard;
      },
      asked: () => asked,
    };
  };

  it('is one for each environment', async () => {
    const { fail, request, isClosed } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    expect([isClosed('live'), isClosed('test')]).toEqual([false, true]);
    expect(await request('live')).toMatchObject({ kind: 'paused' });
    expect(await request('test')).toMatchObject({ kind: 'permit' });
  });

  it('asks about the last send before it lets one through, and waits on while that is not answered', async () => {
    const { fail, request, pass, recover, asked, changes } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    pass(15);
    expect(await request()).toEqual({ kind: 'paused', until: at(25) });
    expect(asked()).toBe(1);
    recover();
    pass(20);
    expect(await request()).toEqual({ kind: 'paused', until: at(35) });
    expect(asked()).toBe(2);
    const probe = await request();
    expect(probe.kind).toBe('permit');
    expect(asked()).toBe(2);
    expect(await request()).toMatchObject({ kind: 'paused' });
    if (probe.kind === 'permit') probe.report({ kind: 'rejected', codes: ['E0316'] }, async () => ({ kind: 'absent' }));
    expect(await request()).toMatchObject({ kind: 'permit' });
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'open', 'half_open', 'closed']);
  });

  it('opens to all when the last send is found: it was taken, and only its answer got lost', async () => {
    const { fail, request, pass, recover, isClosed, changes } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover('found');
    pass(15);
    expect(await request()).toEqual({ kind: 'paused', until: at(15) });
    expect(isClosed('live')).toBe(true);
    expect([await request(), await request()]).toMatchObject([{ kind: 'permit' }, { kind: 'permit' }]);
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
  });

  it('is not held shut by one send that can never be looked up', async () => {
    const { fail, request, pass, recover } = breakerOf();
    const never: Probe = async () => ({ kind: 'inconclusive', reason: 'no_json_503', outage: true });
    for (let sends = 0; sends < 4; sends += 1) await fail();
    await fail(never);
    recover();
    pass(15);
    expect(await request()).toEqual({ kind: 'paused', until: at(25) });
    pass(20);
    expect(await request()).toEqual({ kind: 'paused', until: at(35) });
    // The permitted send is such a send itself, so the probe looks up a send that was answered before.
    await fail(never);
    pass(30);
    expect(await request()).toEqual({ kind: 'paused', until: at(105) });
    pass(50);
    expect(await request()).toEqual({ kind: 'paused', until: at(115) });
    expect(await request()).toMatchObject({ kind: 'permit' });
  });

  it('lets the next one try when the one that was let through sends nothing', async () => {
    const { fail, request, pass, recover } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover();
    pass(15);
    await request();
    const probe = await request();
    expect(probe.kind).toBe('permit');
    if (probe.kind === 'permit') probe.release();
    expect(await request()).toMatchObject({ kind: 'permit' });
  });

  describe('while nothing is sent', () => {
    const openOf = async () => {
      const harness = breakerOf();
      for (let sends = 0; sends < 5; sends += 1) await harness.fail();
      return harness;
    };

    it('looks up the last send after each pause, and stays open while that is not answered', async () => {
      const { probe, pass, asked, changes } = await openOf();
      await probe();
      expect(asked()).toBe(0);
      for (const [seconds, made] of [
        [14, 0],
        [1, 1],
        [19, 1],
        [1, 2],
      ] as const) {
        pass(seconds);
        await probe();
        expect(asked()).toBe(made);
      }
      expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'open', 'half_open', 'open']);
    });

    it('closes when the last send is found', async () => {
      const { probe, pass, recover, isClosed } = await openOf();
      recover('found');
      pass(15);
      await probe();
      expect(isClosed('live')).toBe(true);
    });

    it('closes after two answered look-ups, between which every held-back send could come', async () => {
      const { probe, pass, recover, asked, isClosed, changes } = await openOf();
      recover();
      pass(15);
      await probe();
      expect([asked(), isClosed('live')]).toEqual([1, false]);
      pass(74);
      await probe();
      expect([asked(), isClosed('live')]).toEqual([1, false]);
      pass(1);
      await probe();
      expect([asked(), isClosed('live')]).toEqual([2, true]);
      expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
    });

    it('opens again at the first send that meets an outage, because look-ups do not show that sends are taken', async () => {
      const { probe, pass, recover, fail, request, isClosed } = await openOf();
      recover();
      for (const seconds of [15, 75]) {
        pass(seconds);
        await probe();
      }
      expect(isClosed('live')).toBe(true);
      await fail();
      expect(await request()).toMatchObject({ kind: 'paused' });
    });

    it('lets a send be the next probe once a look-up was answered, and makes none beside it', async () => {
      const { probe, pass, recover, request, asked } = await openOf();
      recover();
      pass(15);
      await probe();
      const sent = await request();
      expect([sent.kind, asked()]).toEqual(['permit', 1]);
      pass(60);
      await probe();
      expect(asked()).toBe(1);
      if (sent.kind === 'permit')
        sent.report({ kind: 'unknown', reason: 'no_json', codes: [], outage: true }, async () => ({ kind: 'absent' }));
      expect(await request()).toMatchObject({ kind: 'paused' });
    });

    it('pauses again when the second look-up is not answered', async () => {
      const { probe, pass, recover, isClosed, changes } = await openOf();
      recover();
      pass(15);
      await probe();
      recover('out');
      pass(75);
      await probe();
      expect(isClosed('live')).toBe(false);
      expect(changes.at(-1)).toMatchObject({ to: 'open' });
    });
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
    const { request } = breakerOf();
    for (let sends = 0; sends < 20; sends += 1) {
      const permit = await request();
      expect(permit.kind).toBe('permit');
      if (permit.kind === 'permit') permit.report(result, async () => ({ kind: 'absent' }));
    }
  });
});
