import { describe, expect, it } from 'vitest';
import type { Customer, InvoiceEvent } from '../../src/domain/invoice/events.js';
import { requestCancellation } from '../../src/domain/invoice/request-cancellation.js';
import { failedAttempts, invoiceStatus, isDownloadable } from '../../src/domain/invoice/status.js';
import { invoiceView } from '../../src/http/invoice-body.js';
import * as event from '../support/fixture/invoice.js';

const { accepted, ACCESS_KEY, at, attempted, authorized, givenInvoice, notSent, provenAbsent, unknown } = event;

const NOW = at(4000);

/** The members of every body of the fixture's invoice, in each state. */
const facts = {
  object: 'nfse',
  id: 'nfse_11111111-1111-4111-8111-111111111111',
  livemode: true,
  amount_in_cents: 150_000,
  description: 'Desenvolvimento de sistema',
  competence: '2026-11-21',
  reference: 'pedido-1',
  customer: { type: 'br', document: '11111111000191', name: 'CLIENTE LTDA' },
  service_code: '010101',
  cnae: '6201501',
  created_at: event.T0,
};

const sent = [accepted(), attempted(1, 1)] as const;
const issued = [...sent, authorized(1, 2)] as const;
const issuedFields = { access_key: ACCESS_KEY, issued_at: at(2), failed_attempts: 0 };
const until = { cancelable_until: '2026-12-01T02:59:59.000Z' };
const cancellation = { requested_at: at(60), reason: 'other' };

const dataWithout = (...names: string[]): InvoiceEvent => {
  const { type, data } = accepted();
  const kept = Object.entries(data).filter(([name]) => !names.includes(name));
  return { type, data: Object.fromEntries(kept) } as InvoiceEvent;
};

describe('the body of an invoice', () => {
  it.each<[string, readonly InvoiceEvent[], object]>([
    ['queued', [accepted()], { status: 'queued', failed_attempts: 0 }],
    ['processing', sent, { status: 'processing', failed_attempts: 0 }],
    ['processing, tried again', [...sent, notSent(1, 2)], { status: 'processing', failed_attempts: 1 }],
    ['issued', issued, { status: 'issued', ...issuedFields, ...until }],
    [
      'issued, its cancellation pending',
      [...issued, event.cancelRequested(60)],
      { status: 'issued', ...issuedFields, cancellation: { status: 'pending', ...cancellation } },
    ],
    [
      'canceled',
      [...issued, event.cancelRequested(60), event.cancelConfirmed(63)],
      { status: 'canceled', ...issuedFields, cancellation: { status: 'succeeded', ...cancellation } },
    ],
    [
      'issued, its cancellation failed',
      [...issued, event.cancelRequested(60), event.cancelNotConfirmed(3660)],
      {
        status: 'issued',
        ...issuedFields,
        cancellation: {
          status: 'failed',
          ...cancellation,
          error: {
            code: 'nfse.cancel_failed',
            message:
              'O cancelamento não foi confirmado pelo sistema nacional. Não emita outra nota: fale com o suporte.',
          },
        },
      },
    ],
    [
      'failed',
      [...sent, event.rejected(1, 2)],
      {
        status: 'failed',
        failed_attempts: 1,
        failed_at: at(2),
        error: {
          code: 'issue_failed',
          message: 'O CNPJ do cliente é inválido. Corrija customer.document e emita de novo. (E0188)',
        },
      },
    ],
    [
      'indeterminate',
      [...sent, event.interrupted],
      {
        status: 'indeterminate',
        failed_attempts: 0,
        failed_at: at(3602),
        error: {
          code: 'nfse.issue_interrupted',
          message:
            'O resultado da emissão não pôde ser confirmado e a nota pode ter sido autorizada. Não emita de novo: fale com o suporte.',
        },
      },
    ],
  ])('that is %s', (_status, events, shown) => {
    expect(invoiceView(givenInvoice(...events), NOW)).toStrictEqual({ ...facts, ...shown });
  });

  it('names the authorizer’s reason for a failed cancellation in test mode only', () => {
    const messageIn = (mode: 'live' | 'test') =>
      invoiceView(
        givenInvoice(
          accepted({ mode }),
          attempted(1, 1),
          authorized(1, 2),
          event.cancelRequested(60),
          event.cancelNotConfirmed(62, ['E0822']),
        ),
        NOW,
      ).cancellation?.error?.message;
    expect(messageIn('test')).toContain('E0822: O prazo do município para cancelar a nota terminou.');
    expect(messageIn('live')).not.toContain('E0822');
  });

  it.each([
    ['+010000-01-01T02:59:59.000Z', false],
    ['-000001-12-31T00:01:00.000Z', false],
    ['9999-12-31T23:59:59.000Z', true],
    ['0001-01-01T00:00:00.000Z', true],
  ])('that the log says was issued at %s has no time to cancel, and shows that instant: %s', (authorizedAt, shown) => {
    const data = { ...event.authorizedData(1, 2), authorizedAt };
    const invoice = givenInvoice(...sent, { type: 'Authorized', data });
    const { issued_at: _at, ...others } = issuedFields;
    expect(invoiceView(invoice, NOW)).toStrictEqual({
      ...facts,
      status: 'issued',
      ...others,
      ...(shown ? { issued_at: authorizedAt } : {}),
    });
    expect(requestCancellation(invoice, { now: NOW })).toEqual({ refused: 'nfse.cancel_window_closed' });
  });

  it('says which mode it belongs to', () => {
    expect(invoiceView(givenInvoice(accepted({ mode: 'test' })), NOW).livemode).toBe(false);
  });

  it('has no field without a value', () => {
    const bare = dataWithout('customer', 'reference');
    const { customer: _customer, reference: _reference, ...rest } = facts;
    expect(invoiceView(givenInvoice(bare), NOW)).toStrictEqual({ ...rest, status: 'queued', failed_attempts: 0 });
  });

  const address = { street: 'Main', number: '1', district: 'Downtown', city: 'Austin', state: 'TX', country: 'US' };

  it.each<[string, Customer, object]>([
    ['without a document', { type: 'br', name: 'Maria' }, { type: 'br', name: 'Maria' }],
    ['without a name', { type: 'br', document: '11111111000191' }, { type: 'br', document: '11111111000191' }],
    [
      'abroad, with a tax id',
      { type: 'foreign', name: 'ACME', taxId: '12-3', address: { ...address, postalCode: '73301' } },
      { type: 'foreign', name: 'ACME', tax_id: '12-3', address: { ...address, postal_code: '73301' } },
    ],
    [
      'abroad, without one',
      { type: 'foreign', name: 'ACME', taxIdAbsenceReason: 'exempt', address: { ...address, postalCode: '73301' } },
      {
        type: 'foreign',
        name: 'ACME',
        tax_id_absence_reason: 'exempt',
        address: { ...address, postal_code: '73301' },
      },
    ],
  ])('shows a customer %s', (_who, customer, shown) => {
    expect(invoiceView(givenInvoice(accepted({ customer })), NOW).customer).toStrictEqual(shown);
  });

  it('shows the amount in the foreign currency', () => {
    const foreignAmount = { currency: 'USD', amountInCents: 500 };
    expect(invoiceView(givenInvoice(accepted({ foreignAmount })), NOW).foreign_amount).toStrictEqual({
      currency: 'USD',
      amount_in_cents: 500,
    });
  });
});

describe('failed_attempts', () => {
  it('counts the attempts known to have made no document', () => {
    const many = [accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 3), provenAbsent(2, 150)];
    expect(failedAttempts(givenInvoice(...many))).toBe(2);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160)))).toBe(2);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), unknown(3, 161)))).toBe(2);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), event.conflictFound(3, 200)))).toBe(3);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), event.conflictFound(3, 200, true)))).toBe(2);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), event.rejected(3, 161)))).toBe(3);
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), authorized(3, 161)))).toBe(2);
    const settled: InvoiceEvent = {
      type: 'IndeterminateResolved',
      data: { as: 'failed', evidence: 'consulta', at: at(90_000) },
    };
    expect(failedAttempts(givenInvoice(...many, attempted(3, 160), event.interrupted, settled))).toBe(3);
  });
});

describe('PDF and XML', () => {
  const canceled = (mode: 'live' | 'test') =>
    givenInvoice(
      accepted({ mode }),
      attempted(1, 1),
      authorized(1, 2),
      event.cancelRequested(60),
      event.cancelConfirmed(63),
    );

  it('are there once the note is issued, and after a cancellation in live mode only', () => {
    expect(isDownloadable(givenInvoice(...issued))).toBe(true);
    expect(isDownloadable(canceled('live'))).toBe(true);
    expect(isDownloadable(canceled('test'))).toBe(false);
    expect(invoiceStatus(canceled('test'))).toBe('canceled');
  });

  it.each([
    ['queued', [accepted()]],
    ['processing', sent],
    ['failed', [...sent, event.rejected(1, 2)]],
    ['indeterminate', [...sent, event.interrupted]],
  ])('are not there while it is %s', (_status, events) => {
    expect(isDownloadable(givenInvoice(...events))).toBe(false);
  });
});
