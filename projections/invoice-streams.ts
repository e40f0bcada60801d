import {
  type CompanyId,
  invoicePrefix,
  type Mode,
  parseInvoiceStream,
  type StreamName,
} from '../src/domain/common/ids.js';
import { type InvoiceEvent, invoiceEventTypes } from '../src/domain/invoice/events.js';
import type { Revision } from '../src/ports/event-log.js';
import { integer, type Recorded, text } from './types.js';

/** The first columns of a projection with one row for each invoice stream. */
export const streamColumns = {
  stream: text<StreamName>(),
  revision: integer<Revision>(),
  mode: text<Mode>(),
  company_id: text<CompanyId>(),
};

/** The values of `streamColumns` after an event, and the invoice that the stream is named for. */
export const streamFields = ({ stream, revision }: Recorded<InvoiceEvent>) => {
  const address = parseInvoiceStream(stream);
  if (address === undefined) throw new Error('the stream of an invoice event is not named as one');
  const { mode, companyId, invoiceId } = address;
  return { fields: { stream, revision, mode, company_id: companyId }, invoiceId };
};

/** What all definitions of such projections have in common. */
export const perInvoiceStream = {
  prefixes: [invoicePrefix.live, invoicePrefix.test],
  eventTypes: invoiceEventTypes,
  keyColumn: 'stream',
  keyOf: ({ stream }: Recorded<InvoiceEvent>) => stream,
} as const;
