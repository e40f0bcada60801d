import { waitingWork } from '../../../src/app/operator/support/waiting.js';
import type { SupportRow } from '../../../src/ports/support-reads.js';
import type { IssuingHarness } from './issuing.js';

/** What waits for support of the invoice: because it is indeterminate, or because its cancellation failed. */
export const waitingOf = async (harness: IssuingHarness, why: 'indeterminate' | 'failedCancellations') => {
  const row = { stream: harness.stream, createdAt: harness.clock.now(), state: await harness.invoice() };
  const rowsOf = (kind: typeof why) => async () => {
    const oldest: readonly SupportRow[] = kind === why ? [row] : [];
    return { count: oldest.length, oldest };
  };
  const { oldest } = await waitingWork(
    {
      supportReads: {
        indeterminate: rowsOf('indeterminate'),
        failedCancellations: rowsOf('failedCancellations'),
      },
      readModel: { companies: async () => [] },
      store: harness.store,
      queue: { parked: async () => ({ work: [], count: 0 }) },
    },
    1,
  );
  return oldest[0];
};
