import { describe, expect, it } from 'vitest';
import { accessKeyCheckDigit } from '../../../src/domain/common/access-key.js';
import { cancelableUntil, cancelRefusal } from '../../../src/domain/invoice/request-cancellation.js';
import { canceledAt, isDownloadable } from '../../../src/domain/invoice/status.js';
import { invoiceView } from '../../../src/http/invoice-body.js';
import { ACCESS_KEY, at, dataOf, givenInvoice, imported, T0 } from '../../support/fixture/invoice.js';

const importedData = dataOf(imported(), 'InvoiceImported');

describe('an imported invoice', () => {
  it('is issued, with what the import knew and no attempts', () => {
    const event = imported({
      description: 'Aula',
      competence: '2026-11-20',
      reference: 'antiga-1',
      createdAt: at(-7200),
      nfseXmlGzip: 'H4sI',
      nfseSha256: 'a'.repeat(64),
      replacedBy: 'x',
    });
    expect(givenInvoice(event)).toEqual({
      kind: 'invoice',
      facts: {
        mode: 'live',
        companyId: '12345678000195',
        invoiceId: '22222222-2222-4222-8222-222222222222',
        amountInCents: 90_000,
        description: 'Aula',
        competence: '2026-11-20',
        reference: 'antiga-1',
        createdAt: at(-7200),
      },
      origin: { kind: 'imported', from: 'legacy', replaced: false },
      attempts: [],
      outcome: { status: 'issued', accessKey: ACCESS_KEY, issuedAt: at(-3600) },
    });
  });

  it('knows and shows no field that the import did not know', () => {
    const { accessKey: _key, issuedAt: _at, ...bare } = importedData;
    expect(givenInvoice({ type: 'InvoiceImported', data: bare }).outcome).toStrictEqual({ status: 'issued' });
    expect(invoiceView(givenInvoice({ type: 'InvoiceImported', data: bare }), T0)).toEqual({
      object: 'nfse',
      id: 'nfse_22222222-2222-4222-8222-222222222222',
      livemode: true,
      status: 'issued',
      amount_in_cents: 90_000,
      failed_attempts: 0,
    });
  });

  it('shows the key and the date of issue that it came with', () => {
    expect(invoiceView(givenInvoice(imported()), T0)).toMatchObject({ access_key: ACCESS_KEY, issued_at: at(-3600) });
  });
});

describe('an imported cancellation', () => {
  it.each([at(-60), undefined])('was no request of this API, and is of the date that the import knew: %s', (known) => {
    const { canceledAt: _none, ...undated } = dataOf(imported({ state: 'canceled' }), 'InvoiceImported');
    const data = known === undefined ? undated : { ...undated, canceledAt: known };
    const canceled = givenInvoice({ type: 'InvoiceImported', data });
    expect([canceled.cancellation, canceledAt(canceled)]).toEqual([undefined, known]);
    expect(invoiceView(canceled, T0)).not.toHaveProperty('cancellation');
  });

  it('is canceled and can still be downloaded in live mode', () => {
    const canceled = givenInvoice(imported({ state: 'canceled' }));
    expect(invoiceView(canceled, T0).status).toBe('canceled');
    expect(isDownloadable(canceled)).toBe(true);
  });
});

const { companyId: DEMO } = importedData;
const of = (cnpj: string, ambGer = '2') => {
  const first = `3304557${ambGer}2${cnpj}${ACCESS_KEY.slice(23, -1)}`;
  return first + accessKeyCheckDigit(first);
};
const wrongDigit = `${ACCESS_KEY.slice(0, -1)}${(Number(ACCESS_KEY.slice(-1)) + 1) % 10}`;

describe('an imported invoice may be canceled', () => {
  it.each([
    ['when it came from the legacy system', {}, undefined],
    ['when it came from the web issuer', { origin: 'web' as const }, undefined],
    ['but not when it was attached by hand', { origin: 'manual' as const }, 'nfse.not_cancelable'],
    ['but not when its key is of another company', { accessKey: of('98765432000198') }, 'nfse.not_cancelable'],
    ['but not when a system of the municipality made it', { accessKey: of(DEMO, '1') }, 'nfse.not_cancelable'],
    ['but not when its key has a wrong check digit', { accessKey: wrongDigit }, 'nfse.not_cancelable'],
    ['but not when another note replaced it', { state: 'replaced' as const }, 'nfse.not_cancelable'],
    ['but not twice', { state: 'canceled' as const }, 'nfse.already_canceled'],
    ['but not after its month', { issuedAt: '2026-10-31T12:00:00.000Z' }, 'nfse.cancel_window_closed'],
  ])('%s', (_when, facts, refusal) => {
    const invoice = givenInvoice(imported(facts));
    expect(cancelRefusal(invoice, T0)).toBe(refusal);
    expect(cancelableUntil(invoice, T0)).toBe(refusal === undefined ? '2026-12-01T02:59:59.000Z' : undefined);
  });

  const earlier = '2026-10-31T12:00:00.000Z';
  it.each([
    ['its key is of another company', { accessKey: of('98765432000198') }, 'nfse.cancel_window_closed'],
    ['a system of the municipality made it', { accessKey: of(DEMO, '1') }, 'nfse.cancel_window_closed'],
    ['its key has a wrong check digit', { accessKey: wrongDigit }, 'nfse.cancel_window_closed'],
    ['it was attached by hand', { origin: 'manual' as const }, 'nfse.not_cancelable'],
    ['another note replaced it', { state: 'replaced' as const }, 'nfse.not_cancelable'],
  ])('but not after its month when %s', (_when, facts, refusal) => {
    expect(cancelRefusal(givenInvoice(imported({ ...facts, issuedAt: earlier })), T0)).toBe(refusal);
  });

  it('but not without an access key, which a cancellation names', () => {
    const { accessKey: _key, ...keyless } = importedData;
    expect(cancelRefusal(givenInvoice({ type: 'InvoiceImported', data: keyless }), T0)).toBe('nfse.not_cancelable');
  });

  it('but not without a date of issue, for then no window is open', () => {
    const { issuedAt: _at, ...undated } = importedData;
    const invoice = givenInvoice({ type: 'InvoiceImported', data: undated });
    expect(cancelRefusal(invoice, T0)).toBe('nfse.cancel_window_closed');
    expect(cancelableUntil(invoice, T0)).toBeUndefined();
  });
});
