import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { type Difference, differenceOf, type Held, isReconcilable } from '../../domain/invoice/reconciliation.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { workerContext } from '../issuer/record.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { ReconcileDeps } from './deps.js';

/**
 * Records what differs from the newest state, each difference once in the invoice's life, and changes no outcome. True when
 * something differs, recorded now or before.
 */
export const recordDifferences = async (
  stream: StreamName,
  held: readonly Held[],
  deps: ReconcileDeps,
): Promise<boolean> => {
  for (;;) {
    const { state, version, events } = await loadInvoice(stream, deps.store);
    const now = deps.clock.now();
    if (!isReconcilable(state, deps.limits.testRetentionSeconds, now)) return false;
    const found = held.flatMap((one) => differenceOf(state, one) ?? []);
    const fresh = found.filter((difference) => !events.some((event) => tells(event, difference)));
    if (fresh.length === 0) return found.length > 0;
    const recorded = fresh.map((difference) => ({
      type: 'ReconciliationDifferenceFound' as const,
      data: { ...difference, at: now },
    }));
    const context = workerContext(stream, 'record_reconciliation', events[events.length - 1], deps);
    if (!(await deps.store.append(stream, version, recorded, context)).ok) continue;
    for (const { kind } of fresh) deps.onDifference(stream, kind);
    return true;
  }
};

const tells = (event: InvoiceEvent, { kind, accessKey }: Difference): boolean =>
  event.type === 'ReconciliationDifferenceFound' && event.data.kind === kind && event.data.accessKey === accessKey;
