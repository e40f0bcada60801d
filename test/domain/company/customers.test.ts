import { describe, expect, it } from 'vitest';
import { customerOf, type IssueRequest } from '../../../src/domain/company/eligibility.js';
import { address, facts, foreign, request } from '../../support/fixture/company.js';

const customerFor = (sent: Partial<IssueRequest>, requiresCustomer = false) =>
  customerOf({ ...request, ...sent }, facts, requiresCustomer);

const refusal = (code: string, message?: string, param?: string) => ({
  refused: { code, ...(message === undefined ? {} : { message }), ...(param === undefined ? {} : { param }) },
});

describe('a customer in Brazil', () => {
  it.each<[string, IssueRequest['customer'], object]>([
    ['none', undefined, {}],
    ['an empty one', {}, {}],
    ['only a type', { type: 'br' }, {}],
    ['only a name', { name: 'Maria' }, { customer: { type: 'br', name: 'Maria' } }],
    [
      'a CNPJ, named by the tax registry',
      { document: '11111111000191' },
      { customer: { type: 'br', document: '11111111000191' } },
    ],
    [
      'a CPF with its name',
      { type: 'br', document: '12345678909', name: 'Maria' },
      { customer: { type: 'br', document: '12345678909', name: 'Maria' } },
    ],
  ])('%s is taken as sent', (_what, customer, taken) => {
    expect(customerFor(customer === undefined ? {} : { customer })).toStrictEqual(taken);
  });

  it('with a CPF needs a name', () => {
    expect(customerFor({ customer: { document: '12345678909' } })).toStrictEqual(
      refusal('nfse.customer_name_required'),
    );
  });

  it.each([
    ['nobody', undefined],
    ['a name alone', { name: 'Maria' }],
  ])('is demanded with a document by some municipalities: %s', (_who, customer) => {
    expect(customerFor(customer === undefined ? {} : { customer }, true)).toStrictEqual(
      refusal('nfse.customer_required'),
    );
  });

  it('with a document satisfies such a municipality', () => {
    const customer = { document: '11111111000191' };
    expect(customerFor({ customer }, true)).toStrictEqual({ customer: { type: 'br', ...customer } });
  });
});

describe('a customer abroad', () => {
  const at = { type: 'foreign', address };

  it.each<[string, IssueRequest['customer'], object]>([
    ['a tax id', foreign.customer, { ...at, name: 'ACME', taxId: '12-3' }],
    [
      'a reason for having none',
      { type: 'foreign', name: 'ACME', taxIdAbsenceReason: 'exempt', address },
      { ...at, name: 'ACME', taxIdAbsenceReason: 'exempt' },
    ],
  ])('with %s is taken as sent', (_what, customer, taken) => {
    expect(customerFor({ ...foreign, ...(customer === undefined ? {} : { customer }) })).toStrictEqual({
      customer: taken,
      foreignAmount: { currency: 'USD', amountInCents: 500 },
    });
  });

  it('is no customer that a municipality can demand a document of', () => {
    expect(customerFor(foreign, true)).toHaveProperty('customer');
  });

  const missing = (...fields: string[]) =>
    refusal(
      'nfse.export_incomplete',
      `Faltam campos obrigatórios da exportação: ${fields.join(', ').replace('customer.tax_id', '$& (ou customer.tax_id_absence_reason)')}. Envie todos.`,
      fields[0],
    );

  const parts = ['street', 'number', 'district', 'city', 'state', 'postal_code', 'country'];

  it.each<[string, Partial<IssueRequest>, ReturnType<typeof missing>]>([
    [
      'everything',
      { customer: { type: 'foreign' } },
      missing('customer.name', 'customer.tax_id', 'customer.address', 'foreign_amount'),
    ],
    [
      'every part of the address',
      { ...foreign, customer: { ...foreign.customer, address: {} } },
      missing(...parts.map((part) => `customer.address.${part}`)),
    ],
    [
      'tax id and its reason',
      { ...foreign, customer: { type: 'foreign', name: 'ACME', address } },
      missing('customer.tax_id'),
    ],
    ['the currency', { ...foreign, foreignAmount: { amountInCents: 500 } }, missing('foreign_amount.currency')],
  ])('without %s is told all that lacks, the first as param', (_what, sent, refused) => {
    expect(customerFor(sent)).toStrictEqual(refused);
  });

  it.each(parts)('without %s of the address is told just that', (part) => {
    const key = part === 'postal_code' ? 'postalCode' : part;
    const left = Object.fromEntries(Object.entries(address).filter(([name]) => name !== key));
    expect(customerFor({ ...foreign, customer: { ...foreign.customer, address: left } })).toStrictEqual(
      missing(`customer.address.${part}`),
    );
  });

  it('must live in a country of the table', () => {
    const nowhere = { ...foreign.customer, address: { ...address, country: 'XX' } };
    expect(customerFor({ ...foreign, customer: nowhere })).toStrictEqual(refusal('nfse.country_unsupported'));
  });

  it('pays in a currency of the table, which the refusal lists', () => {
    expect(customerFor({ ...foreign, foreignAmount: { currency: 'BRL', amountInCents: 1 } })).toStrictEqual(
      refusal('nfse.currency_unsupported', 'A moeda não é aceita. Use um destes códigos, em maiúsculas: EUR, USD.'),
    );
  });

  it.each([[undefined], [0], [-1]])('pays more than nothing: %s', (amountInCents) => {
    const foreignAmount = { currency: 'USD', ...(amountInCents === undefined ? {} : { amountInCents }) };
    expect(customerFor({ ...foreign, foreignAmount })).toStrictEqual(refusal('nfse.foreign_amount_invalid'));
  });

  it('may pay a single cent', () => {
    expect(customerFor({ ...foreign, foreignAmount: { currency: 'USD', amountInCents: 1 } })).toMatchObject({
      foreignAmount: { amountInCents: 1 },
    });
  });
});

describe('fields that contradict the declared type', () => {
  const conflict = (...fields: string[]) =>
    refusal(
      'nfse.customer_type_conflict',
      `Campos incompatíveis com o customer.type declarado: ${fields.join(', ')}. Remova-os ou corrija o tipo do cliente.`,
      fields[0],
    );
  const withoutType = (...fields: string[]) =>
    refusal(
      'nfse.customer_type_conflict',
      `Sem customer.type, o cliente é br (o padrão), que não tem estes campos: ${fields.join(', ')}. Numa exportação, envie customer.type foreign; senão, remova-os.`,
      fields[0],
    );

  it.each<[string, Partial<IssueRequest>, ReturnType<typeof conflict>]>([
    [
      'a document of somebody abroad',
      { ...foreign, customer: { ...foreign.customer, document: '11111111000191' } },
      conflict('customer.document'),
    ],
    [
      'everything of an export, without the type',
      {
        customer: { address, taxId: '1', taxIdAbsenceReason: 'exempt' },
        foreignAmount: { currency: 'USD', amountInCents: 1 },
      },
      withoutType('customer.address', 'customer.tax_id', 'customer.tax_id_absence_reason', 'foreign_amount'),
    ],
    ['an address abroad with the type br', { customer: { type: 'br', address } }, conflict('customer.address')],
    [
      'an amount abroad without a customer',
      { foreignAmount: { currency: 'USD', amountInCents: 1 } },
      withoutType('foreign_amount'),
    ],
  ])('%s are all named, the first as param', (_what, sent, refused) => {
    expect(customerFor(sent)).toStrictEqual(refused);
  });

  it('answer before what an export lacks', () => {
    expect(customerFor({ customer: { type: 'foreign', document: '11111111000191' } })).toStrictEqual(
      conflict('customer.document'),
    );
  });
});
