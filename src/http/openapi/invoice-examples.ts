import { present } from '../../domain/common/present.js';
import { cancellationError, INTERRUPTED, NOT_PROCESSED, rejectionMessage } from '../invoice-error.js';
import type { InvoiceBody } from './schemas.js';

export const EXAMPLE_ID = 'nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b';

export const EXAMPLE_ADDRESS = {
  street: 'Main Street',
  number: '1',
  district: 'Center',
  city: 'Springfield',
  state: 'Oregon',
  postal_code: '97477',
  country: 'US',
};

const ACCEPTED_AT = '2026-11-21T12:00:00.000Z';
const ISSUED_AT = '2026-11-21T12:00:04.000Z';
const REQUESTED_AT = '2026-11-21T12:30:00.000Z';

/** Fields in the order of docs/contract.md, "Invoice". */
const invoiceOf = (status: InvoiceBody['status'], fields: Partial<InvoiceBody> = {}): InvoiceBody =>
  present({
    object: 'nfse' as const,
    id: EXAMPLE_ID,
    livemode: false,
    status,
    amount_in_cents: 80_000,
    description: 'Desenvolvimento de software',
    competence: '2026-11-21',
    customer: fields.customer ?? { document: '98765432000198', name: 'CLIENTE EXEMPLO LTDA', type: 'br' as const },
    foreign_amount: fields.foreign_amount,
    reference: 'pedido-1042',
    service_code: '010101',
    cnae: '6201501',
    access_key: fields.access_key,
    failed_attempts: fields.failed_attempts ?? 0,
    created_at: ACCEPTED_AT,
    issued_at: fields.issued_at,
    cancelable_until: fields.cancelable_until,
    cancellation: fields.cancellation,
    failed_at: fields.failed_at,
    error: fields.error,
    links: fields.links,
  });

/** An invoice in each state, as a client with a test key sees it. `baseUrl`: without a trailing slash, as in the links of real answers. */
export const invoiceExamples = (baseUrl: string) => {
  const path = `${baseUrl}/v1/nfse/${EXAMPLE_ID}`;
  const links = { pdf: `${path}/pdf?t=exemplo`, xml: `${path}/xml?t=exemplo` };
  const authorized = {
    access_key: '33045572212345678000195000000000000126117803003196',
    issued_at: ISSUED_AT,
  };
  const issued = { ...authorized, cancelable_until: '2026-12-01T02:59:59.000Z', links };
  const requested = { requested_at: REQUESTED_AT, reason: 'service_not_provided' as const };
  return {
    queued: { summary: 'Na fila', value: invoiceOf('queued') },
    processing: { summary: 'Em envio', value: invoiceOf('processing') },
    issued: { summary: 'Autorizada', value: invoiceOf('issued', issued) },
    issued_export: {
      summary: 'Exportação autorizada',
      value: invoiceOf('issued', {
        ...issued,
        customer: exportCustomer,
        foreign_amount: { currency: 'USD', amount_in_cents: 15_000 },
      }),
    },
    cancellation_pending: {
      summary: 'Cancelamento pedido',
      value: invoiceOf('issued', { ...authorized, cancellation: { status: 'pending', ...requested }, links }),
    },
    cancellation_failed: {
      summary: 'Cancelamento sem confirmação',
      value: invoiceOf('issued', {
        ...issued,
        cancellation: { status: 'failed', ...requested, error: cancellationError(['E0840'], 'test') },
      }),
    },
    canceled: {
      summary: 'Cancelada',
      value: invoiceOf('canceled', { ...authorized, cancellation: { status: 'succeeded', ...requested } }),
    },
    failed: {
      summary: 'Recusada pelo sistema nacional',
      value: invoiceOf('failed', {
        failed_attempts: 1,
        failed_at: ISSUED_AT,
        error: { code: 'issue_failed', message: rejectionMessage(['E0188'], ISSUED_AT) },
      }),
    },
    not_processed: {
      summary: 'Nenhuma tentativa em 15 minutos',
      value: invoiceOf('failed', {
        failed_at: '2026-11-21T12:15:00.000Z',
        error: { code: 'nfse.not_processed', message: NOT_PROCESSED },
      }),
    },
    indeterminate: {
      summary: 'Sem resultado confirmado',
      value: invoiceOf('indeterminate', {
        failed_at: '2026-11-21T13:00:01.000Z',
        error: { code: 'nfse.issue_interrupted', message: INTERRUPTED },
      }),
    },
  };
};

const exportCustomer: NonNullable<InvoiceBody['customer']> = {
  name: 'Acme Inc',
  type: 'foreign',
  tax_id: '12-3456789',
  address: EXAMPLE_ADDRESS,
};
