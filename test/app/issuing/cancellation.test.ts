import { describe, expect, it } from 'vitest';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import type { Mode } from '../../../src/domain/shared/ids.js';
import { addSeconds } from '../../../src/domain/shared/time.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { at, cancelAbsent, cancelAttempted, cancelUnknown } from '../../support/fixture/invoice.js';
import { ProcessDied, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const requested = async (script: Turn[], mode: Mode = 'live'): Promise<IssuingHarness> => {
  const world = await issuingHarness(mode);
  await world.issueToTheEnd();
  await request(world, 1);
  world.authorizer.script = script;
  world.authorizer.calls = [];
  world.authorizer.sends = [];
  return world;
};

const request = (world: IssuingHarness, number: number): Promise<void> =>
  world.record({
    type: 'CancellationRequested',
    data: {
      request: number,
      reason: 'other',
      description: 'Cancelamento pedido pelo cliente.',
      requestedAt: world.clock.now(),
    },
  });

const cancellation = async (world: IssuingHarness) => (await world.invoice()).cancellation;

describe('canceling', () => {
  it('sends the request once and records the event', async () => {
    const world = await requested([]);
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.events).toHaveLength(1);
  });

  it('finds the event whose answer was lost', async () => {
    const world = await requested(['lost_answer']);
    await world.cancelToTheEnd();
    expect((await world.events()).at(-1)).toMatchObject({
      type: 'CancellationConfirmed',
      data: { evidence: 'lookup' },
    });
    expect(world.authorizer.sends).toHaveLength(1);
    expect(world.authorizer.events).toHaveLength(1);
  });

  it('sends the same bytes again after two proofs of absence', async () => {
    const world = await requested(['lost_request']);
    await world.cancelToTheEnd();
    expect(await world.types()).toContain('CancellationProvenAbsent');
    expect(world.authorizer.sends).toHaveLength(2);
    expect(world.authorizer.sends[1]).toEqual(world.authorizer.sends[0]);
    expect(world.authorizer.events).toHaveLength(1);
    expect(await world.status()).toBe('canceled');
  });

  it('backs off when no byte left', async () => {
    const world = await requested(['not_sent', 'not_sent']);
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('confirms when E0840 turns out to be our own event', async () => {
    const world = await requested(['late', 'answer']);
    await world.cancelToTheEnd();
    const unknown = (await world.events()).filter(({ type }) => type === 'CancellationOutcomeUnknown');
    expect(unknown.at(-1)?.data).toMatchObject({ attempt: 2, codes: ['E0840'] });
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.events).toHaveLength(1);
  });

  it('is refused when E0840 is another event that blocks the note', async () => {
    const world = await requested([{ unknown: ['E0840'] }]);
    await world.cancelToTheEnd();
    expect((await world.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: ['E0840'] },
    });
    expect(await world.status()).toBe('issued');
    expect(world.authorizer.calls).toEqual(['sendCancellation', 'findCancellation']);
    expect(world.authorizer.events).toHaveLength(0);
  });

  it('takes an event that is not its own for no confirmation', async () => {
    const world = await requested([]);
    const { accessKey } = world.authorizer.notes[0] ?? { accessKey: '' };
    world.authorizer.events.push({
      xml: Buffer.from('<evento/>'),
      registeredAt: world.clock.now(),
      requestId: `PRE${accessKey}101101`,
      digest: 'of somebody else',
    });
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ status: 'failed' });
    expect(await world.types()).not.toContain('CancellationConfirmed');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it.each([
    ['document_altered', { digest: '', contradiction: { claimed: 'x', computed: 'y' } }],
    ['signature_unverified', { digest: 'of somebody else', signatureFault: 'missing' }],
  ])('tells of an event under its id that nobody vouches for: %s', async (notice, doubt) => {
    const world = await requested([]);
    const { accessKey } = world.authorizer.notes[0] ?? { accessKey: '' };
    world.authorizer.events.push({
      ...{ xml: Buffer.from('<evento/>'), registeredAt: world.clock.now(), requestId: `PRE${accessKey}101101` },
      ...doubt,
    });
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ status: 'failed' });
    expect(world.notices.map((told) => told.notice)).toContain(notice);
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('tells no alarm of an unsigned request of the authorizer’s own pages, signed by the authorizer around it', async () => {
    const world = await requested([]);
    const { accessKey } = world.authorizer.notes[0] ?? { accessKey: '' };
    world.authorizer.events.push({
      ...{ xml: Buffer.from('<evento/>'), registeredAt: world.clock.now(), requestId: `PRE${accessKey}101101` },
      ...{ digest: '', contradiction: { claimed: '', computed: 'of somebody else' } },
    });
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ status: 'failed' });
    expect(world.notices).toEqual([]);
  });

  it('is refused at once by a final refusal of the first send', async () => {
    const world = await requested([{ rejected: ['E0822'] }]);
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ status: 'failed', codes: ['E0822'] });
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('looks up after a refusal that follows an unknown send', async () => {
    const world = await requested(['late', { rejected: ['E0822'] }]);
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.events).toHaveLength(1);
  });

  it('leaves the send of a dead process alone until its deadline', async () => {
    const world = await requested(['die_after_arrival']);
    const start = world.clock.now();
    await expect(world.cancel()).rejects.toBeInstanceOf(ProcessDied);
    const calls = world.authorizer.calls.length;
    expect(await world.cancel()).toEqual({ kind: 'later', at: addSeconds(start, 35) });
    expect(world.authorizer.calls).toHaveLength(calls);
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.sends).toHaveLength(1);
  });

  it('lets one of two workers send', async () => {
    const world = await requested([]);
    await Promise.all([world.cancel(), world.cancel()]);
    await world.cancelToTheEnd();
    expect(world.authorizer.sends).toHaveLength(1);
    expect(await world.status()).toBe('canceled');
  });

  it('does not end on a look-up that is older than the send whose time is up', async () => {
    const world = await requested([]);
    await world.record(cancelAttempted(1, 0), cancelUnknown(1, 30), cancelAbsent(1, 600));
    world.clock.moveTo(at(3700));
    const findCancellation: Authorizer['findCancellation'] = async () => {
      await world.record(cancelAttempted(2, 3700));
      world.clock.moveTo(at(3700 + 3600));
      return { kind: 'absent' };
    };
    const authorizer = { ...world.authorizer, findCancellation };
    await concludeCancellationIfDue(world.stream, { ...world.deps, authorizer });
    expect((await cancellation(world))?.status).toBe('pending');
    await concludeCancellationIfDue(world.stream, world.deps);
    expect((await cancellation(world))?.status).toBe('failed');
  });

  it('ends by its time-out when nothing is proven, after a last look-up', async () => {
    const world = await requested(['lost_request']);
    world.authorizer.mute = true;
    await world.cancel();
    world.clock.pass(3600);
    const calls = world.authorizer.calls.length;
    await concludeCancellationIfDue(world.stream, world.deps);
    expect(world.authorizer.calls.slice(calls)).toEqual(['findCancellation']);
    expect((await world.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'timeout' },
    });
    expect(await world.status()).toBe('issued');
  });

  it('may be asked for again in test after a time-out, with the same request id', async () => {
    const world = await requested(['lost_request'], 'test');
    world.authorizer.mute = true;
    await world.cancel();
    world.clock.pass(3600);
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ status: 'failed' });
    world.authorizer.mute = false;
    await request(world, 2);
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(world.authorizer.sends).toHaveLength(2);
    expect(world.authorizer.events).toHaveLength(1);
    const ids = (await world.events()).flatMap((event) =>
      event.type === 'CancellationAttempted' ? [event.data.requestId] : [],
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('is confirmed in test by the late event of an earlier request of ours', async () => {
    const world = await requested(['lost_answer'], 'test');
    world.authorizer.mute = true;
    await world.cancel();
    world.clock.pass(3600);
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ request: 1, status: 'failed' });
    world.authorizer.mute = false;
    await request(world, 2);
    await world.cancelToTheEnd();
    expect(await cancellation(world)).toMatchObject({ request: 2, status: 'succeeded' });
    expect(world.authorizer.events).toHaveLength(1);
  });

  it('ends as refused, not by the time-out, when another event blocks a note that an earlier send may have reached', async () => {
    const world = await requested([{ unknown: [] }, { unknown: ['E0840'] }]);
    await world.cancelToTheEnd();
    expect((await world.events()).at(-1)).toMatchObject({
      type: 'CancellationNotConfirmed',
      data: { reason: 'refused', codes: ['E0840'] },
    });
  });
});
