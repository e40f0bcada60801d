import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelingEvents } from '../../src/domain/common/access-key.js';
import { EVENT_KINDS, EVENT_TYPES, type EventType } from '../../src/simulator/event/kinds.js';
import { type FaultHarness, openFaultHarness } from './fault-harness.js';
import type { Fault } from './fault-kinds.js';
import { type BeforeCancel, invoiceOf, play } from './fault-play.js';

let harness: FaultHarness;
let amount = 1_000;
beforeAll(async () => {
  harness = await openFaultHarness();
});
afterAll(() => harness.close());

/** Issues one invoice, lets others act on its note, and cancels it under these faults. */
const canceled = async (beforeCancel: BeforeCancel, faults: readonly Fault[] = [{ on: 'event', kind: 'casing' }]) => {
  amount += 1;
  const [played] = await play(harness, [{ faults, dies: undefined }], amount, beforeCancel);
  if (played === undefined) throw new Error('nothing was played');
  const { cancellation } = await invoiceOf(harness, played);
  const note = (await harness.ledger()).find(({ amount_in_cents }) => amount_in_cents === amount);
  return {
    ends: { status: cancellation?.status, codes: cancellation?.codes },
    isCanceled: note?.canceled_at !== undefined,
    ...played.calls,
  };
};

const link =
  (type: EventType): BeforeCancel =>
  async (_one, accessKey) => {
    const about = type === '305102' || type === '305103' ? { about: '101101' } : {};
    await harness.control('events', { environment: 'test', access_key: accessKey, type, ...about });
  };

const nothing: BeforeCancel = async () => undefined;
const isCanceling = (type: EventType): boolean => (cancelingEvents as readonly string[]).includes(type);
const isBar = (type: EventType): boolean => EVENT_KINDS[type].barsCancellation || type === '305102';

describe('a cancellation at the national system', () => {
  it.each(EVENT_TYPES.filter((type) => isBar(type) && !isCanceling(type)))(
    'of a note with the blocking event %s is refused with E0840 after one look-up, which is how the block is learnt',
    async (type) => {
      expect(await canceled(link(type))).toMatchObject({
        ends: { status: 'failed', codes: ['E0840'] },
        isCanceled: false,
        eventSends: 1,
        eventLookUps: 1,
      });
    },
  );

  it.each(EVENT_TYPES.filter((type) => !isBar(type)))(
    'of a note with %s, which blocks nothing, succeeds',
    async (type) => {
      expect(await canceled(link(type))).toMatchObject({
        ends: { status: 'succeeded' },
        isCanceled: true,
        eventSends: 1,
      });
    },
  );

  it.each(EVENT_TYPES.filter(isCanceling))(
    'of a note that somebody else ended by %s succeeds with that event, which is never taken for ours',
    async (type) => {
      expect(await canceled(link(type))).toMatchObject({
        ends: { status: 'succeeded', codes: [] },
        // The ledger calls only a note with 101101 canceled.
        isCanceled: type === '101101',
        eventSends: 1,
        eventLookUps: 1,
      });
    },
  );

  it('takes an E0840 for the success of its earlier try when the look-up shows our event', async () => {
    const faults: readonly Fault[] = [
      { on: 'event', kind: 'stale', delaySeconds: 250 },
      { on: 'event', kind: 'lost_after_commit' },
    ];
    expect(await canceled(nothing, faults)).toMatchObject({
      ends: { status: 'succeeded', codes: [] },
      isCanceled: true,
      eventSends: 2,
    });
  });

  it('after the deadline of the municipality is refused with E0822 at once', async () => {
    const close: BeforeCancel = async () => {
      await harness.control('registry', { environment: 'test', municipality: { ibge: '3304557', cancel_days: 1 } });
      harness.clock.pass(2 * 86_400);
    };
    expect(await canceled(close)).toMatchObject({
      ends: { status: 'failed', codes: ['E0822'] },
      isCanceled: false,
      eventSends: 1,
      eventLookUps: 0,
    });
  });
});
