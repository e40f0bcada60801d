import type { Settlement } from '../../domain/invoice/settle.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { workerContext } from '../issuer/record.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { SettleDeps, SettleResult } from './settlement.js';

/** Decides on the newest state and appends with the operator as actor; a lost race decides again. */
export const recordSettlement = async (
  stream: StreamName,
  decide: (state: InvoiceState) => Settlement,
  detail: string,
  deps: SettleDeps,
): Promise<SettleResult> => {
  for (;;) {
    const { state, version, events } = await loadInvoice(stream, deps.store);
    const decision = decide(state);
    if ('refused' in decision) return { kind: 'refused', reason: decision.refused };
    if (decision.events.length === 0) return { kind: 'already_so' };
    const context = workerContext(stream, 'settle_invoice', events[events.length - 1], deps);
    if ((await deps.store.append(stream, version, decision.events, context)).ok) return { kind: 'settled', detail };
  }
};
