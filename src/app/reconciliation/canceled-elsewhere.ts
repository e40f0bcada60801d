import type { StreamName } from '../../domain/common/ids.js';
import { decideCanceledElsewhere } from '../../domain/invoice/decide-cancellation.js';
import type { Invoice } from '../../domain/invoice/state.js';
import type { RegisteredEvent } from '../../ports/authorizer.js';
import { workerContext } from '../event-store/command-context.js';
import { transact } from '../event-store/transact.js';
import type { IssuerDeps } from '../issuing/deps.js';
import { elsewhereFrom } from '../issuing/found-documents.js';
import { invoiceFold } from '../read/read-invoice.js';

type RecordDeps = Pick<IssuerDeps, 'store' | 'clock' | 'actor'>;

/**
 * Records that an event of another party canceled the note, unless the newest state says so already or no longer allows it. Throws
 * `StreamContended`.
 */
export const recordCanceledElsewhere = async (
  stream: StreamName,
  { outcome }: Invoice,
  found: RegisteredEvent,
  deps: RecordDeps,
): Promise<void> => {
  if (outcome.status !== 'issued' || outcome.accessKey === undefined) return;
  const data = elsewhereFrom(found, outcome.accessKey, deps.clock.now());
  await transact(
    {
      stream,
      read: 'sealed',
      fold: invoiceFold,
      decide: (state) => decideCanceledElsewhere(state, data),
      context: workerContext(stream, 'record_reconciliation', deps),
    },
    deps,
  );
};
