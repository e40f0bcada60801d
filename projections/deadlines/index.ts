import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { invoiceEventTypes } from '../../src/domain/invoice/personal-fields.js';
import { invoicePrefix } from '../../src/domain/shared/ids.js';
import { defineProjection } from '../types.js';
import { handlers } from './apply.js';
import { columns, type DeadlineRow } from './schema.js';

/** What the sweeper looks at; rows appear and vanish with the work (design section 7). */
export const deadlines = defineProjection<DeadlineRow, InvoiceEvent>({
  name: 'deadlines',
  version: 2,
  compatibleFrom: 1,
  prefixes: [invoicePrefix.live, invoicePrefix.test],
  eventTypes: invoiceEventTypes,
  keyColumn: 'stream',
  columns,
  indexes: [{ columns: ['work_since', 'stream'] }, { columns: ['retention_since'] }],
  keyOf: ({ stream }) => stream,
  handlers,
});
