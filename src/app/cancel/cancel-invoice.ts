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
      decide: (state, { now }): Decision<InvoiceEvent, Why> => {
        const seen = visible(state, now, deps.testRetentionSeconds);
        if (seen.kind !== 'invoice') return { refused: 'not_found' };
        const decision = requestCancellation(seen.invoice, { ...request, now });
        return 'refused' in decision ? { refused: whyOf(decision.refused, seen.invoice) } : decision;
      },
      context: requestContext(requester, 'request_cancellation'),
    },
    deps,
  );
  if (outcome.kind === 'refused') return { refused: refusalOf(outcome.refused) };
  if (outcome.state.kind !== 'invoice') throw new Error('a canceled invoice is still an invoice');
  await deps.waitForProjection(stream, outcome.revision ?? 0);
  return { accepted: outcome.state };
};

const NOT_CANCELABLE = {
  open: 'Esta nota ainda não tem resultado (queued ou processing). Espere o resultado; se ela ficar issued, peça o cancelamento então.',
  failed: 'Esta nota está em failed: nada foi emitido, e não há o que cancelar.',
  indeterminate:
    'Esta nota está em indeterminate: ainda não se sabe se ela existe. Não emita outra no lugar dela: fale com o suporte.',
} as const;

type Why = CancelRefusal | 'not_found' | keyof typeof NOT_CANCELABLE;

/** `nfse.not_cancelable` has several causes (CANCEL-3). Of an invoice that is not issued its outcome is the cause, and the message names only that one. */
const whyOf = (code: CancelRefusal, { outcome }: Invoice): Why =>
  code === 'nfse.not_cancelable' && outcome.status !== 'issued' ? outcome.status : code;

const refusalOf = (why: Why): Refusal => {
  switch (why) {
    case 'open':
    case 'failed':
    case 'indeterminate':
      return { code: 'nfse.not_cancelable', message: NOT_CANCELABLE[why] };
    default:
      return { code: why };
  }
};
