import { randomUUID } from 'node:crypto';
import type { Decision } from '../../domain/invoice/decision.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { parseInvoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { CommandContext, DecodedEvent } from '../event-store/codec.js';
import { loadSealedInvoice } from '../read/read-invoice.js';
import type { AppendSite } from '../sites.js';
import type { IssuerDeps } from './deps.js';

/**
 * Decides on the newest state and appends; a lost race decides again. False when the state no longer allows it. No key is needed
 * to decide, and none to append what has no personal field: every verdict by time is such an event. A
 * fresh command id for every try: an append may never be taken for another attempt's (design section 3).
 */
export const recordDecision = async (
  stream: StreamName,
  site: AppendSite,
  deps: IssuerDeps,
  decide: (state: InvoiceState) => Decision,
): Promise<boolean> => {
  for (;;) {
    const { state, version, events } = await loadSealedInvoice(stream, deps.store);
    const decision = decide(state);
    if ('stale' in decision) return false;
    if (decision.events.length === 0) return true;
    const context = workerContext(stream, site, events[events.length - 1], deps);
    if ((await deps.store.append(stream, version, decision.events, context)).ok) return true;
  }
};

/** Work on an invoice, a worker's or support's, keeps the correlation of the request that started it; its cause is the last event it saw. */
export const workerContext = (
  stream: StreamName,
  site: AppendSite,
  cause: DecodedEvent | undefined,
  deps: Pick<IssuerDeps, 'clock'> & Pick<CommandContext, 'actor'>,
): CommandContext => {
  const address = parseInvoiceStream(stream);
  const commandId = randomUUID();
  return {
    commandId,
    correlationId: cause?.metadata.correlationId ?? commandId,
    causationId: cause?.id ?? commandId,
    actor: deps.actor,
    ...(address === undefined ? {} : { mode: address.mode, companyId: address.companyId }),
    now: deps.clock.now(),
    site,
  };
};
