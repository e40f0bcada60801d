import { lifeEnds } from '../../domain/invoice/view.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { isBefore } from '../../domain/shared/time.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import type { LookupMemos, PendingCuts } from '../../ports/guards.js';
import type { KeptRows } from '../../ports/read-model.js';
import type { IssuerDeps } from '../issuer/deps.js';
import { workerContext } from '../issuer/record.js';
import { loadSealedInvoice } from '../read/read-invoice.js';

type Deps = Pick<IssuerDeps, 'store' | 'clock' | 'limits' | 'actor'> & {
  log: EventLog;
  lookups: LookupMemos;
  cuts: PendingCuts;
  keptRows: KeptRows;
};

/**
 * Ends a test invoice, whatever its status, when its life is over. The last event stays for ever: the reference
 * stays taken and the hash chain starts there as "pruned" (design section 4).
 */
export const deleteTestInvoice = async (stream: StreamName, deps: Deps): Promise<void> => {
  for (;;) {
    const { state, version, events } = await loadSealedInvoice(stream, deps.store);
    if (version.kind === 'none') return;
    if (state.kind === 'deleted') return await forgetBefore(stream, version.revision, deps);
    const now = deps.clock.now();
    const ends = state.kind === 'invoice' ? lifeEnds(state, deps.limits.testRetentionSeconds) : undefined;
    if (ends === undefined || isBefore(now, ends)) return;
    const context = workerContext(stream, 'delete_test_invoice', events[events.length - 1], deps);
    const deleted = { type: 'TestInvoiceDeleted' as const, data: { lastHash: version.hash, deletedAt: now } };
    await deps.cuts.add(stream);
    if (!(await deps.store.append(stream, version, [deleted], context)).ok) continue;
    return await forgetBefore(stream, version.revision + 1, deps);
  }
};

const forgetBefore = async (stream: StreamName, revision: Revision, deps: Deps): Promise<void> => {
  await deps.log.cut(stream, revision);
  await deps.lookups.forget(stream);
  await deps.keptRows.end(stream);
  await deps.cuts.done(stream);
};
