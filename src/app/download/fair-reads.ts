import { parseInvoiceStream } from '../../domain/shared/ids.js';
import { createFairGate } from '../../waiting/fair-gate.js';
import type { EventStore } from '../event-store/event-store.js';

/** Fewer than the log has connections for readers are ever held by the downloads of one company. */
const READS = { what: 'documents to be read', atOnce: 6, atOnceOfOne: 2, waitingOfOne: 128 };

/** The store as downloads read it: companies take turns at the log. `load` rejects with `TooMuchWaits` too. */
export const fairReads = (store: EventStore): EventStore => {
  const reads = createFairGate(READS);
  return {
    ...store,
    load: (stream, options) => reads(parseInvoiceStream(stream)?.companyId ?? '', () => store.load(stream, options)),
  };
};
