import { randomUUID } from 'node:crypto';
import type { CancelReason } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { requestCancellation } from '../../domain/invoice/request-cancellation.js';
import type { Invoice, InvoiceState } from '../../domain/invoice/state.js';
import { visible } from '../../domain/invoice/view.js';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { type InvoiceId, invoiceStream, type StreamName } from '../../domain/shared/ids.js';
import type { Clock } from '../../ports/clock.js';
import type { Revision } from '../../ports/event-log.js';
import type { CommandContext } from '../event-store/codec.js';
import type { EventStore } from '../event-store/event-store.js';
import type { Requester } from '../issue/accept-deps.js';
import { loadInvoice } from '../read/read-invoice.js';

export type CancelCommand = { invoiceId: InvoiceId; reason?: CancelReason; description?: string };

export type CancelDeps = {
  store: EventStore;
  clock: Clock;
  testRetentionSeconds: number;
  /** Waits a moment for the read model, so that another api process shows the pending request too; never fails. */
  waitForProjection(stream: StreamName, revision: Revision): Promise<void>;
};

/** `POST /v1/nfse/{id}/cancel`: the request becomes an event, the issuer does the rest. */
export const cancelInvoice = async (
  command: CancelCommand,
  requester: Requester,
  deps: CancelDeps,
): Promise<{ accepted: Invoice } | { refused: Refusal }> => {
  const { mode, companyId, keyId, requestId } = requester;
  const { invoiceId, ...request } = command;
  const stream = invoiceStream(mode, companyId, invoiceId);
  const commandId = randomUUID();
  for (;;) {
    const { state, version } = await loadInvoice(stream, deps.store);
    const now = deps.clock.now();
    const seen = visible(state, now, deps.testRetentionSeconds);
    if (seen.kind !== 'invoice') return { refused: { code: 'not_found' } };
    const decision = requestCancellation(seen.invoice, { ...request, now });
    if ('refused' in decision) return { refused: { code: decision.refused } };
    const context: CommandContext = {
      commandId,
      correlationId: requestId,
      causationId: requestId,
      actor: `apiKey:${keyId}`,
      mode,
      companyId,
      now,
      site: 'request_cancellation',
    };
    if (!(await deps.store.append(stream, version, decision.events, context)).ok) continue;
    const after = decision.events.reduce<InvoiceState>(evolve, state);
    await deps.waitForProjection(stream, version.kind === 'at' ? version.revision + decision.events.length : 0);
    if (after.kind !== 'invoice') throw new Error('a canceled invoice is still an invoice');
    return { accepted: after };
  }
};
