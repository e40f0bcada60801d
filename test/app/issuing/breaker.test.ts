import { describe, expect, it } from 'vitest';
import { type BreakerChange, createBreaker, type Probe, type Resource } from '../../../src/app/issuing/breaker.js';
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
    const request = async (mode: 'live' | 'test' = 'live', resource: Resource = 'notes') =>
      breaker.requestPermit({ ...caller, mode }, resource);
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
    const failAs = async (companyId: string, about: Probe = question, resource: Resource = 'notes') => {
      const permit = await breaker.requestPermit({ mode: 'live', companyId }, resource);
      if (permit.kind !== 'permit') throw new Error('paused');
      permit.report(outage, about);
      permit.release();
    };
    const fail = (about?: Probe, resource?: Resource) => failAs(DEMO_CNPJ, about, resource);
    return {
      breaker,
      failAs,
      outage,
      question,
      request,
      fail,
      changes,
      isAnswering: breaker.isAnswering,
      probe: () => breaker.probeWithoutSend('live'),
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
    const { fail, request, isAnswering } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    expect([isAnswering('live'), isAnswering('test')]).toEqual([false, true]);
    expect(await request('live')).toMatchObject({ kind: 'paused' });
    expect(await request('test')).toMatchObject({ kind: 'permit' });
  });

  describe('given that only the paths of events are out, to sends and look-ups', () => {
    it('when five cancellations in a row meet that, then notes are sent and the environment counts as answering', async () => {
      const { fail, request, pass, probe, isAnswering, changes } = breakerOf();
      for (let sends = 0; sends < 5; sends += 1) await fail(undefined, 'events');
      for (let minutes = 0; minutes < 120; minutes += 1) {
        pass(60);
        await probe();
        expect(await request('live', 'notes')).toMatchObject({ kind: 'permit' });
        expect(isAnswering('live')).toBe(true);
      }
      expect(changes).toMatchObject([{ resource: 'events', to: 'open' }]);
    });

    it('when cancellations wait, then they make one look-up at a time and are sent once one is answered', async () => {
      const { fail, request, pass, recover, asked } = breakerOf();
      for (let sends = 0; sends < 5; sends += 1) await fail(undefined, 'events');
      pass(15);
      const both = await Promise.all([request('live', 'events'), request('live', 'events')]);
      expect([both.map(({ kind }) => kind), asked()]).toEqual([['paused', 'paused'], 1]);
      recover();
      pass(20);
      await request('live', 'events');
      expect(await request('live', 'events')).toMatchObject({ kind: 'permit' });
    });
  });

  it('counts outages of notes and of events apart, and an answer to one kind ends no outage of the other', async () => {
    const { fail, request, isAnswering } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) {
      await fail();
      const permit = await request('live', 'events');
      if (permit.kind === 'permit') permit.report({ kind: 'done', result: {} }, async () => ({ kind: 'absent' }));
    }
    expect([(await request()).kind, (await request('live', 'events')).kind]).toEqual(['paused', 'permit']);
    expect(isAnswering('live')).toBe(false);
  });

  it('holds back one company alone whose sends and look-ups never get through, whatever the others are answered', async () => {
    const { breaker, failAs, changes, pass } = breakerOf();
    const other = { mode: 'live', companyId: '98765432000198' } as const;
    for (let sends = 0; sends < 5; sends += 1) await failAs(DEMO_CNPJ);
    expect(breaker.isAnswering('live')).toBe(false);
    for (let minutes = 0; minutes < 60; minutes += 1) {
      pass(60);
      expect(await breaker.requestPermit({ mode: 'live', companyId: DEMO_CNPJ }, 'notes')).toMatchObject({
        kind: 'paused',
      });
      const permit = await breaker.requestPermit(other, 'notes');
      if (permit.kind !== 'permit') throw new Error('paused');
      permit.report({ kind: 'done', result: {} }, async () => ({ kind: 'absent' }));
      permit.release();
      await breaker.probeWithoutSend('live');
    }
    expect(breaker.isAnswering('live')).toBe(true);
    expect(changes[0]).toMatchObject({ to: 'open', company: DEMO_CNPJ });
    for (let sends = 0; sends < 5; sends += 1) await failAs('98765432000198');
    expect([await breaker.requestPermit(other, 'notes'), breaker.isAnswering('live')]).toMatchObject([
      { kind: 'paused' },
      false,
    ]);
    expect(changes.at(-1)).not.toHaveProperty('company');
  });

  it('goes on holding one company back when the send of another one, whose answer got lost, would be found', async () => {
    const { breaker, fail, failAs, outage, changes, pass } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    await failAs('98765432000198', async () => ({ kind: 'found', found: 'the note of another company' }));
    pass(15);
    await breaker.probeWithoutSend('live');
    const permit = await breaker.requestPermit({ mode: 'live', companyId: DEMO_CNPJ }, 'notes');
    expect([permit.kind, changes.map(({ to }) => to)]).toEqual(['paused', ['open', 'half_open', 'open']]);
    // Once the breaker opens to all, the sends of the others are looked up too.
    for (let sends = 0; sends < 4; sends += 1) {
      const other = await breaker.requestPermit({ mode: 'live', companyId: '98765432000198' }, 'notes');
      if (other.kind !== 'permit') throw new Error('paused');
      other.report(outage, async () => ({ kind: 'found', found: 'the note of another company' }));
    }
    expect(changes.at(-1)).not.toHaveProperty('company');
    pass(60);
    await breaker.probeWithoutSend('live');
    expect(changes.at(-1)).toMatchObject({ to: 'closed' });
  });

  it('forgets a company that was held back alone and has asked for nothing for a day, once another one is answered', async () => {
    const { breaker, fail, changes, pass, request, probe } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    const answerOther = async () => {
      const permit = await breaker.requestPermit({ mode: 'live', companyId: '98765432000198' }, 'notes');
      if (permit.kind !== 'permit') throw new Error('paused');
      permit.report({ kind: 'done', result: {} }, async () => ({ kind: 'absent' }));
    };
    for (let hours = 0; hours < 24; hours += 1) {
      await answerOther();
      pass(3_600);
      await probe();
    }
    await answerOther();
    expect(await request()).toMatchObject({ kind: 'paused' });
    expect(changes.at(-1)).toMatchObject({ to: 'open', company: DEMO_CNPJ });
    pass(86_500);
    await answerOther();
    expect([changes.at(-1)?.to, (await request()).kind]).toEqual(['closed', 'permit']);
  });

  it('holds back no others for the sends of two companies that hang while the others are answered', async () => {
    const { breaker, request, changes, outage, question, pass, recover } = breakerOf();
    const permitOf = async (companyId: string) => {
      const permit = await breaker.requestPermit({ mode: 'live', companyId }, 'notes');
      if (permit.kind !== 'permit') throw new Error('paused');
      return permit;
    };
    const hung = [DEMO_CNPJ, '11222333000181'];
    const sends = [];
    for (const company of hung) for (let index = 0; index < 16; index += 1) sends.push(await permitOf(company));
    const answered = await permitOf('98765432000198');
    answered.report({ kind: 'done', result: {} }, question);
    for (const send of sends) send.report(outage, question);
    await permitOf('98765432000198');
    expect(await request()).toMatchObject({ kind: 'paused' });
    expect(changes).toMatchObject([{ to: 'open', company: DEMO_CNPJ }]);
    // The probe asks about a send of the company that is held back, whose sends end the pause.
    pass(15);
    recover('found');
    await request();
    expect((await request()).kind).toBe('permit');
  });

  it('opens to all when sends of several companies meet an outage and none was answered since', async () => {
    const { failAs, isAnswering, changes } = breakerOf();
    for (const company of ['a', 'b', 'c', 'd', 'e']) await failAs(company);
    expect(isAnswering('live')).toBe(false);
    expect(changes[0]).not.toHaveProperty('company');
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
    const { fail, request, pass, recover, isAnswering, changes } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover('found');
    pass(15);
    expect(await request()).toEqual({ kind: 'paused', until: at(15) });
    expect(isAnswering('live')).toBe(true);
    expect([await request(), await request()]).toMatchObject([{ kind: 'permit' }, { kind: 'permit' }]);
    expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'closed']);
  });

  it('closes when the probe is answered by a refused certificate', async () => {
    const { fail, request, pass, recover, changes } = breakerOf();
    for (let sends = 0; sends < 5; sends += 1) await fail();
    recover();
    pass(15);
    await request();
    const probe = await request();
    if (probe.kind !== 'permit') throw new Error('paused');
    const refused = {
      kind: 'not_sent',
      reason: 'certificate_refused',
      codes: ['E1203'],
      certificateRefused: true,
    } as const;
    probe.report(refused, async () => ({ kind: 'absent' }));
    expect(changes.at(-1)).toMatchObject({ to: 'closed' });
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

    it('looks up the last send once the sends that wait could come, then once a minute, and stays open meanwhile', async () => {
      const { probe, pass, asked, changes, isAnswering } = await openOf();
      for (const [seconds, made] of [
        [0, 0],
        [14, 0],
        [1, 1],
        [59, 1],
        [1, 2],
      ] as const) {
        pass(seconds);
        await probe();
        expect(asked()).toBe(made);
      }
      expect(changes.map(({ to }) => to)).toEqual(['open']);
      expect(isAnswering('live')).toBe(false);
    });

    it('makes one look-up at a time', async () => {
      const { probe, pass, asked } = await openOf();
      pass(15);
      await Promise.all([probe(), probe()]);
      expect(asked()).toBe(1);
    });

    it('closes when the last send is found', async () => {
      const { probe, pass, recover, changes } = await openOf();
      recover('found');
      pass(15);
      await probe();
      expect(changes.map(({ to }) => to)).toEqual(['open', 'closed']);
    });

    it('counts as answering after an answered look-up, and lets one send through, because look-ups do not show that sends are taken', async () => {
      const { probe, pass, recover, asked, isAnswering, request, changes } = await openOf();
      recover();
      pass(15);
      await probe();
      expect([asked(), isAnswering('live')]).toEqual([1, true]);
      pass(3_600);
      await probe();
      expect(asked()).toBe(1);
      const [sent, other] = [await request(), await request()];
      expect([sent.kind, other.kind]).toEqual(['permit', 'paused']);
      if (sent.kind === 'permit')
        sent.report({ kind: 'unknown', reason: 'no_json', codes: [], outage: true }, async () => ({ kind: 'absent' }));
      expect(isAnswering('live')).toBe(false);
      expect(changes.map(({ to }) => to)).toEqual(['open', 'half_open', 'open']);
    });

    it('looks up notes and events apart', async () => {
      const { fail, probe, pass, asked, recover, changes } = await openOf();
      for (let sends = 0; sends < 5; sends += 1) await fail(undefined, 'events');
      recover('found');
      pass(15);
      await probe();
      expect(asked()).toBe(2);
      expect(changes.slice(-2)).toMatchObject([
        { resource: 'notes', to: 'closed' },
        { resource: 'events', to: 'closed' },
      ]);
    });

    it('a look-up that is not answered holds back no send, which probes by itself', async () => {
      const { probe, pass, recover, request, asked } = await openOf();
      pass(15);
      await probe();
      recover();
      expect(await request()).toMatchObject({ kind: 'paused', until: at(15) });
      expect(asked()).toBe(2);
      expect(await request()).toMatchObject({ kind: 'permit' });
    });

    it('takes no look-up for an answer that this machine gave itself', async () => {
      const { fail, probe, pass, isAnswering } = breakerOf();
      for (let sends = 0; sends < 5; sends += 1)
        await fail(async () => ({ kind: 'inconclusive', reason: 'certificate_missing' }));
      pass(15);
      await probe();
      expect(isAnswering('live')).toBe(false);
    });
  });

  it.each([
    ['a missing certificate', { kind: 'not_sent', reason: 'certificate_missing', codes: [] }],
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
