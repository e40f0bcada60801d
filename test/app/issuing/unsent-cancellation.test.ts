import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import { eventFor, type Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const HOUR = 3_600;

const request = (harness: IssuingHarness, number: number): Promise<void> =>
  harness.record({
    type: 'CancellationRequested',
    data: { request: number, reason: 'other', description: `Pedido ${number}`, requestedAt: harness.clock.now() },
  });

/** A cancellation was requested, and the log has no send of it. */
const requested = async (mode: Mode = 'live'): Promise<IssuingHarness> => {
  const harness = await issuingHarness(mode);
  await harness.issueToTheEnd();
  await request(harness, 1);
  harness.authorizer.calls = [];
  return harness;
};

/** The log goes back to the backup, and an hour passes before the service runs again. */
const restoreAfterAnHour = async (harness: IssuingHarness, backup: readonly InvoiceEvent[]): Promise<void> => {
  harness.deps.store = createEventStore(memoryEventLog(), fixedKeys());
  await appendTo(harness.deps.store, harness.stream, backup, harness.clock.now());
  harness.clock.pass(HOUR);
  harness.authorizer.calls = [];
};

const typesIn = async ({ deps, stream }: IssuingHarness): Promise<readonly string[]> =>
  (await deps.store.load(stream)).events.map(({ type }) => type);

const byAnotherParty = (signatureFault?: 'missing') => ({
  ...eventFor(Buffer.from('<infPedReg Id="PRE1"/>')),
  digest: 'another',
  ...(signatureFault === undefined ? {} : { signatureFault }),
});

describe.each<Mode>(['live', 'test'])(
  'given a %s cancellation without a send in the log, when its hour is over',
  (mode) => {
    it.each<[string, (harness: IssuingHarness) => Promise<unknown>]>([
      ['a worker', (harness) => harness.cancel()],
      ['the sweep', (harness) => concludeCancellationIfDue(harness.stream, harness.deps)],
    ])('then %s looks up first, and ends it as not confirmed where no event shows', async (_who, end) => {
      const harness = await requested(mode);
      harness.clock.pass(HOUR);
      await end(harness);
      expect(harness.authorizer.calls).toEqual(['findCancellation']);
      expect((await harness.events()).at(-1)).toMatchObject({
        type: 'CancellationNotConfirmed',
        data: { request: 1, reason: 'timeout', codes: [] },
      });
    });

    it.each([
      ['is confirmed by the event of its own request, whose send a restored log has lost', {}, 'CancellationConfirmed'],
      ['is canceled elsewhere by a request with other content', { digest: 'another' }, 'NoteCanceledElsewhere'],
    ])('then it %s', async (_what, change, recorded) => {
      const harness = await requested(mode);
      const backup = (await harness.events()).map(({ type, data }) => ({ type, data }) as InvoiceEvent);
      await harness.cancelToTheEnd();
      expect((await harness.types()).at(-1)).toBe('CancellationConfirmed');
      await restoreAfterAnHour(harness, backup);
      harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, ...change }));
      expect(await harness.cancel()).toEqual({ kind: 'done' });
      expect(harness.authorizer.calls).toEqual(['findCancellation']);
      expect((await typesIn(harness)).slice(-2)).toEqual(['CancellationRequested', recorded]);
    });

    it('then its own event whose signature does not hold is nobody’s, and is reported', async () => {
      const harness = await requested(mode);
      const backup = (await harness.events()).map(({ type, data }) => ({ type, data }) as InvoiceEvent);
      await harness.cancelToTheEnd();
      await restoreAfterAnHour(harness, backup);
      harness.authorizer.events = harness.authorizer.events.map((event) => ({ ...event, signatureFault: 'missing' }));
      await harness.cancel();
      expect((await typesIn(harness)).at(-1)).toBe('CancellationNotConfirmed');
      expect(harness.notices).not.toEqual([]);
    });

    it('then the event of another party makes it canceled', async () => {
      const harness = await requested(mode);
      harness.authorizer.events.push(byAnotherParty());
      harness.clock.pass(HOUR);
      await harness.cancel();
      expect((await harness.types()).at(-1)).toBe('NoteCanceledElsewhere');
      expect((await harness.invoice()).cancellation).toMatchObject({ status: 'succeeded' });
    });

    it.each([
      [
        'an event that nobody vouches for',
        (harness: IssuingHarness) => harness.authorizer.events.push(byAnotherParty('missing')),
      ],
      ['a look-up that proves nothing', (harness: IssuingHarness) => (harness.authorizer.mute = true)],
    ])('then %s does not keep it pending, and is reported', async (_what, prepare) => {
      const harness = await requested(mode);
      prepare(harness);
      harness.clock.pass(HOUR);
      expect(await harness.cancel()).toEqual({ kind: 'done' });
      expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
      expect(harness.notices).not.toEqual([]);
    });
  },
);

describe('given a second cancellation in test mode that was not sent for an hour', () => {
  it.each<[string, Turn]>([
    ['confirms it by the late event of the first one', 'late'],
    ['ends it where the first one left no event', 'lost_request'],
  ])('then the last look-up %s', async (_what, turn) => {
    const harness = await requested('test');
    harness.authorizer.script = [turn];
    harness.authorizer.mute = true;
    await harness.cancel();
    harness.clock.moveTo(addSeconds(harness.clock.now(), HOUR));
    await harness.cancel();
    expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
    await request(harness, 2);
    harness.authorizer.arriveLate();
    harness.authorizer.mute = false;
    harness.clock.pass(HOUR);
    await harness.cancel();
    expect((await harness.events()).at(-1)).toMatchObject({
      type: turn === 'late' ? 'CancellationConfirmed' : 'CancellationNotConfirmed',
      data: { request: 2 },
    });
  });
});
