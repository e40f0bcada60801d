import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import type { Mode } from '../../src/domain/shared/ids.js';
import { attempted, authorized, canceled, type Harness, queuedInvoice, rejected } from './harness.js';

/** One for each answer that a client can meet: what happened after the invoice was queued, at `now`. */
export const invoiceStates = {
  queued: [],
  processing: ['attempted'],
  issued: ['attempted', 'authorized'],
  rejected: ['attempted', 'rejected'],
  'not processed': ['notProcessed'],
  indeterminate: ['attempted', 'interrupted'],
  'pending cancellation': ['attempted', 'authorized', 'requested'],
  'failed cancellation': ['attempted', 'authorized', 'requested', 'notConfirmed'],
  canceled: ['attempted', 'authorized', 'requested', 'canceled'],
} as const satisfies Record<string, readonly (keyof typeof steps)[]>;

export type StateName = keyof typeof invoiceStates;

export const stateNames = Object.keys(invoiceStates) as readonly StateName[];

const steps = {
  attempted,
  authorized,
  rejected,
  canceled,
  notProcessed: (at: string): InvoiceEvent => ({ type: 'NotProcessed', data: { failedAt: at, at } }),
  interrupted: (at: string): InvoiceEvent => ({ type: 'IssuanceInterrupted', data: { failedAt: at, at } }),
  requested: (at: string): InvoiceEvent => ({
    type: 'CancellationRequested',
    data: { request: 1, reason: 'other', description: 'Cancelamento de um teste', requestedAt: at },
  }),
  notConfirmed: (at: string): InvoiceEvent => ({
    type: 'CancellationNotConfirmed',
    data: { request: 1, reason: 'refused', codes: ['E0840'], at },
  }),
};

/** Id of an invoice in this state, all of whose events happened at the clock's instant. */
export const invoiceIn = async (
  harness: Harness,
  state: StateName,
  mode: Mode = 'test',
  body?: object,
): Promise<string> => {
  const id = await queuedInvoice(harness, mode, body);
  const { now } = harness.world;
  const events = invoiceStates[state].map((step) => steps[step](now));
  if (events.length > 0) await harness.record(id, events, mode);
  return id;
};
