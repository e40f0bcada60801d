import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../../src/domain/common/time.js';
import { at, limits } from '../../support/fixture/invoice.js';
import { maintenanceHarness, type Window } from '../../support/harness/maintenance.js';

const HOUR = 3600;
/** Three hours, from second 1,000 on. */
const window: Window = { from: at(1_000), until: at(1_000 + 3 * HOUR) };

describe('a maintenance window of three hours, with 50 invoices before, during and after it', () => {
  for (const [kind, what] of [
    ['page', 'answers 503 with a page'],
    ['refused', 'is not reached at all'],
    ['commits', 'answers 503, though it has registered every other note at its beginning'],
  ] as const) {
    it(`ends each truthfully, none twice and none lost, when the authorizer ${what}`, async () => {
      const harness = await maintenanceHarness({ window, kind });
      const before = harness.acceptEvery(50, at(0), 10);
      const during = harness.acceptEvery(50, addSeconds(window.from, 1), (3 * HOUR - 2) / 50);
      const after = harness.acceptEvery(50, addSeconds(window.until, 70), 10);
      await harness.runUntil(at(6 * HOUR));

      const ends = await harness.ends();
      expect(ends).toHaveLength(150);
      for (const { status, notes, lastEvent, createdAt, lastSignal, bytesLeft, overdueSeconds } of ends) {
        expect(notes).toBe(status === 'issued' ? 1 : status === 'failed' ? 0 : notes);
        expect(notes).toBeLessThanOrEqual(1);
        expect(overdueSeconds).toBeLessThanOrEqual(harness.sweepSeconds);
        switch (lastEvent.type) {
          case 'Authorized':
            break;
          case 'NotProcessed':
            expect(lastEvent.data.failedAt).toBe(addSeconds(createdAt, limits.queuedSeconds));
            break;
          case 'IssuanceFailed':
            expect(bytesLeft).toBe(0);
            break;
          case 'IssuanceInterrupted':
            expect(bytesLeft).toBeGreaterThan(0);
            expect(lastEvent.data.failedAt).toBe(addSeconds(lastSignal ?? '', limits.processingSeconds));
            break;
          default:
            expect.fail(`${lastEvent.type} is no end`);
        }
      }
      const statuses = (streams: readonly string[]) => [
        ...new Set(ends.filter(({ stream }) => streams.includes(stream)).map(({ status }) => status)),
      ];
      expect(statuses(before)).toEqual(['issued']);
      expect(statuses(after)).toEqual(['issued']);
      expect(statuses(during).sort()).toEqual(
        kind === 'refused' ? ['failed', 'issued'] : ['failed', 'indeterminate', 'issued'],
      );
      // Without the breaker each of these would have been sent; look-ups continued.
      expect(harness.sendsWithin(window)).toBe(5);
      expect(harness.lookUpsWithin(window)).toBeGreaterThan(100);
      expect(harness.changes.at(-1)).toMatchObject({ mode: 'live', to: 'closed' });
    });
  }

  it('issues those of the last 15 minutes', async () => {
    const harness = await maintenanceHarness({ window, kind: 'page' });
    harness.acceptEvery(10, addSeconds(window.from, 1), 1);
    const late = harness.acceptEvery(10, addSeconds(window.until, -600), 50);
    await harness.runUntil(at(6 * HOUR));
    const ends = await harness.ends();
    expect(ends.filter(({ stream }) => late.includes(stream)).map(({ status }) => status)).toEqual(
      late.map(() => 'issued'),
    );
  });
});
