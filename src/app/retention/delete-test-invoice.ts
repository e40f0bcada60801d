import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import type { EventLog, Revision } from '../../ports/event-log.js';
import type { LookupMemos, PendingCuts } from '../../ports/guards.js';
import type { IssuerDeps } from '../issuer/deps.js';
import { workerContext } from '../issuer/record.js';
import { loadInvoice } from '../read/read-invoice.js';

type Deps = Pick<IssuerDeps, 'store' | 'clock' | 'limits' | 'actor'> & {
  log: EventLog;
  lookups: LookupMemos;
  cuts: PendingCuts;
};

/**
 * Ends a test invoice, whatever its status, when its life is over. The last event stays for ever: the reference
 * stays taken and the hash chain starts there as "pruned" (design section 4).
 */
export const deleteTestInvoice = async (stream: StreamName, deps: Deps): Promise<void> => {
  for (;;) {
    const { state, version, events } = await loadInvoice(stream, deps.store);
    if (version.kind === 'none') return;
    if (state.kind === 'deleted') return await forgetBefore(stream, version.revision, deps);
    const now = deps.clock.now();
    const createdAt = state.kind === 'invoice' && state.facts.mode === 'test' ? state.facts.createdAt : undefined;
    if (createdAt === undefined || isBefore(now, addSeconds(createdAt, deps.limits.testRetentionSeconds))) return;
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
  await deps.cuts.done(stream);
};
