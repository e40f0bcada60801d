import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DistributionDeps, distributionStep } from '../../../src/app/reconciliation/follow-distribution.js';
import { reconcileStep } from '../../../src/app/reconciliation/reconcile-step.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import { cancelAttempted, cancelNotConfirmed, cancelRequested } from '../../support/fixture/invoice.js';
import { gate } from '../../support/gate.js';
import { openReconciliationHarness, type ReconciliationHarness } from '../../support/harness/reconciliation.js';
import { ledger } from '../../support/harness/simulator.js';

const HOUR = 3_600;

describe('given a cancellation whose answer was lost', () => {
  const faults = ['lost_after_commit', 'late_commit', 'garbage', 'http_503'].flatMap((kind) => [
    [kind, 'confirm it as our own', undefined, 'CancellationConfirmed'] as const,
    [kind, 'answer only after its end, and show our own event', 'http_503', 'ReconciliationDifferenceFound'] as const,
  ]);
  it.each(faults)(
    'by %s, when look-ups %s, then it is never named as one of another party',
    async (kind, _what, lookUps, recorded) => {
      const harness = await openReconciliationHarness();
      const stream = await harness.issue();
      const fault = (body: object) => harness.simulator.control('POST', 'faults', body);
      await fault({ on: 'event', kind, delay_ms: 100, commit: true });
      if (lookUps !== undefined) await fault({ on: 'event_lookup', kind: lookUps, times: 1_000 });
      await harness.cancel(stream);
      // The simulator may carry out a cancellation after its answer, by its own timer.
      await expect.poll(async () => (await ledger(harness.simulator))[0]?.canceled_at).toBeDefined();
      await harness.simulator.control('DELETE', 'faults');
      harness.clock.pass(2 * HOUR);
      await harness.walkToTheEnd();
      const types = (await harness.events(stream)).map(({ type }) => type);
      expect(types.at(-1)).toBe(recorded);
      expect(types).not.toContain('NoteCanceledElsewhere');
      expect(await harness.differences(stream)).toEqual(lookUps === undefined ? [] : ['canceled_there_only']);
      await harness.close();
    },
  );
});

describe('given a comparison that read the invoice before its own cancellation was sent', () => {
  let harness: ReconciliationHarness;
  beforeEach(async () => {
    harness = await openReconciliationHarness();
  });
  afterEach(() => harness.close());

  /** What happens between the reading of the invoice and the first look-up of its event. */
  const during = (meanwhile: () => Promise<void>): DistributionDeps => {
    const { authorizer } = harness.deps;
    let first = true;
    return {
      ...harness.deps,
      authorizer: {
        ...authorizer,
        findCancellation: async (...args) => {
          if (first) await meanwhile();
          first = false;
          return await authorizer.findCancellation(...args);
        },
      },
    };
  };

  const typesOf = async (stream: StreamName) => (await harness.events(stream)).map(({ type }) => type);

  it('when its event is registered during the look-ups, then its worker confirms it as its own', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    const { store } = harness.deps;
    const { append } = store;
    const [answered, compared] = [gate(), gate()];
    store.append = async (of, version, events, context) => {
      if (context.site === 'record_cancel_outcome') {
        answered.open();
        await compared.opened;
      }
      return await append(of, version, events, context);
    };
    let canceling = Promise.resolve();
    const deps = during(async () => {
      canceling = harness.cancel(stream);
      await Promise.race([answered.opened, canceling]);
    });
    await reconcileStep('live', deps);
    expect(harness.looks).toEqual([]);
    compared.open();
    await canceling;
    expect((await typesOf(stream)).slice(-3)).toEqual([
      'CancellationRequested',
      'CancellationAttempted',
      'CancellationConfirmed',
    ]);
    harness.clock.pass(HOUR);
    await harness.walkToTheEnd();
    expect(harness.looks).toEqual([]);
  });

  it('when an event of another party is in the queue of the ADN, then the queue has it compared again', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    const accessKey = await harness.accessKey(stream);
    await harness.simulator.control('POST', 'events', { environment: 'live', access_key: accessKey, type: '101101' });
    const deps = during(() => harness.record(stream, cancelRequested(0), cancelAttempted(1, 1)));
    while ((await distributionStep('live', deps)) !== 'nothing to do');
    expect(harness.looks).toEqual(['left_alone']);
    expect((await typesOf(stream)).at(-1)).toBe('CancellationAttempted');
    await harness.record(stream, cancelNotConfirmed(2));
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect([harness.looks, await harness.status(stream)]).toEqual([['left_alone', 'canceled_elsewhere'], 'canceled']);
  });
});
