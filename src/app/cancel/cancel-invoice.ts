import type { Decision } from '../../domain/common/decision.js';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { type InvoiceId, invoiceStream, type StreamName } from '../../domain/common/ids.js';
import type { CancelReason, InvoiceEvent } from '../../domain/invoice/events.js';
import { type CancelRefusal, requestCancellation } from '../../domain/invoice/request-cancellation.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { visible } from '../../domain/invoice/status.js';
import type { Clock } from '../../ports/clock.js';
import type { Revision } from '../../ports/event-log.js';
import { type Requester, requestContext } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import { transact } from '../event-store/transact.js';
import { invoiceFold } from '../read/read-invoice.js';

export type CancelCommand = { invoiceId: InvoiceId; reason?: CancelReason; description?: string };

type CancelDeps = {
  store: EventStore;
  clock: Clock;
  testRetentionSeconds: number;
  /** Waits a bounded time for the read model, so that another api process shows the pending request too; never rejects. */
  waitForProjection(stream: StreamName, revision: Revision): Promise<void>;
};

/**
 * `POST /v1/nfse/{id}/cancel`: appends the request, which the issuer then sends to the authorizer. Throws what the log throws, and
 * `StreamContended`.
 */
export const cancelInvoice = async (
  { invoiceId, ...request }: CancelCommand,
  requester: Requester,
  deps: CancelDeps,
): Promise<{ accepted: Invoice } | { refused: Refusal }> => {
  const stream = invoiceStream(requester.mode, requester.companyId, invoiceId);
  const outcome = await transact(
    {
      stream,
      read: 'opened',
      fold: invoiceFold,
      decide: (state, { now }): Decision<InvoiceEvent, CancelRefusal | 'not_found'> => {
        const seen = visible(state, now, deps.testRetentionSeconds);
        return seen.kind === 'invoice'
          ? requestCancellation(seen.invoice, { ...request, now })
          : { refused: 'not_found' };
      },
      context: requestContext(requester, 'request_cancellation'),
    },
    deps,
  );
  if (outcome.kind === 'refused') return { refused: { code: outcome.refused } };
  if (outcome.state.kind !== 'invoice') throw new Error('a canceled invoice is still an invoice');
  await deps.waitForProjection(stream, outcome.revision ?? 0);
  return { accepted: outcome.state };
};
