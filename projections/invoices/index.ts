import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { invoiceEventTypes } from '../../src/domain/invoice/personal-fields.js';
import { invoicePrefix } from '../../src/domain/shared/ids.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { columns, type InvoiceRow } from './schema.js';

/** What `GET /v1/nfse/{id}` answers from. */
export const invoices = defineProjection<InvoiceRow, InvoiceEvent>({
  name: 'invoices',
  version: 2,
  compatibleFrom: 1,
  prefixes: [invoicePrefix.live, invoicePrefix.test],
  eventTypes: invoiceEventTypes,
  keyColumn: 'stream',
  columns,
  indexes: [{ columns: ['access_key'] }, { columns: ['dps_id'] }],
  keyOf: ({ stream }) => stream,
  handlers,
});
