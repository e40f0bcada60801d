import { describe, expect, it } from 'vitest';
import { issueRequestOf } from '../../../src/http/body/issue-request.js';
import type { JsonBody } from '../../../src/http/body/read-json-object.js';

const RECEIVED_AT = '2026-11-21T12:00:00.000Z';
const least = { amount_in_cents: 100, description: 'Aula' };
const address = {
  street: 'Main',
  number: '1',
  district: 'Downtown',
  city: 'Austin',
  state: 'TX',
  postal_code: '73301',
  country: 'US',
};

const causesOf = (body: JsonBody): [string, string][] => {
  const result = issueRequestOf(body, RECEIVED_AT);
  return 'request' in result ? [] : (result.refused.causes ?? []).map(({ param, message }) => [param, message]);
};

const withField = (path: string, value: unknown): JsonBody => {
  const [name = '', inner, part] = path.split('.');
  const deepest = part === undefined ? value : { [part]: value };
  return { ...least, [name]: inner === undefined ? value : { [inner]: deepest } };
};

describe('a body becomes a request', () => {
  it('with just what was sent', () => {
    expect(issueRequestOf(least, RECEIVED_AT)).toStrictEqual({
      request: { amountInCents: 100, description: 'Aula' },
    });
  });

  it('with every field under its own name', () => {
    const body = {
      amount_in_cents: 150_000,
      description: 'Aula',
      reference: 'r-1',
      cnae: '6201501',
      service_code: '010101',
      customer: { type: 'foreign', document: '11111111000191', name: 'ACME', tax_id: '12-3', address },
      foreign_amount: { currency: 'USD', amount_in_cents: 500 },
    };
    const { postal_code: postalCode, ...rest } = address;
    expect(issueRequestOf(body, RECEIVED_AT)).toStrictEqual({
      request: {
        amountInCents: 150_000,
        description: 'Aula',
        reference: 'r-1',
        cnae: '6201501',
        serviceCode: '010101',
        customer: {
          type: 'foreign',
          document: '11111111000191',
          name: 'ACME',
          taxId: '12-3',
          address: { ...rest, postalCode },
        },
        foreignAmount: { currency: 'USD', amountInCents: 500 },
      },
    });
  });

  it('with a reason for no tax id, and parts of an address', () => {
    const customer = { tax_id_absence_reason: 'exempt', address: { city: 'Austin' } };
    expect(issueRequestOf({ ...least, customer, foreign_amount: {} }, RECEIVED_AT)).toStrictEqual({
      request: {
        amountInCents: 100,
        description: 'Aula',
        foreignAmount: {},
        customer: { taxIdAbsenceReason: 'exempt', address: { city: 'Austin' } },
      },
    });
  });

  it('without a customer when the customer is empty', () => {
    expect(issueRequestOf({ ...least, customer: {} }, RECEIVED_AT)).toStrictEqual({
      request: { amountInCents: 100, description: 'Aula' },
    });
  });
});

const AMOUNT = 'amount_in_cents deve ser um número inteiro de centavos, de 100 a 9007199254740991.';
const FOREIGN_AMOUNT = 'foreign_amount.amount_in_cents deve ser um número inteiro de centavos, até 9007199254740991.';
const DOCUMENT = 'customer.document deve ter 11 dígitos (CPF) ou 14 dígitos (CNPJ), sem pontos, barras ou traços.';
const LETTERS =
  'customer.document: a API ainda não aceita CNPJ com letras, só 11 dígitos (CPF) ou 14 dígitos (CNPJ). A nota para esse cliente é emitida no portal nacional.';
const CNAE = 'cnae deve ter exatamente 7 dígitos, sem pontos, barras ou traços.';
const CODE = 'service_code deve ter só dígitos: o código nacional de 6 dígitos.';

describe('a field is refused with a sentence that says what to send', () => {
  it.each<[string, unknown, string]>([
    ['amount_in_cents', 99, AMOUNT],
    ['amount_in_cents', 100.5, AMOUNT],
    ['amount_in_cents', 2 ** 53, AMOUNT],
    ['amount_in_cents', '100', AMOUNT],
    ['amount_in_cents', null, AMOUNT],
    ['description', 7, 'description deve ser um texto.'],
    ['customer', 'Maria', 'customer deve ser um objeto.'],
    ['customer', [], 'customer deve ser um objeto.'],
    ['customer', null, 'customer deve ser um objeto. Em vez de null, deixe o campo fora do corpo.'],
    ['customer.type', 'pj', 'customer.type deve ser br ou foreign.'],
    ['customer.document', 12345678909, 'customer.document deve ser um texto.'],
    ['customer.document', '1234567890', DOCUMENT],
    ['customer.document', '123456789012', DOCUMENT],
    ['customer.document', '123456789012345', DOCUMENT],
    ['customer.document', '123.456.789-09', DOCUMENT],
    ['customer.document', '12ABC34501DE35', LETTERS],
    ['customer.document', '12.abc.345/01de-35', LETTERS],
    ['customer.document', '12ABC34501DE3', DOCUMENT],
    ['customer.name', '', 'customer.name não pode ser vazio.'],
    ['customer.tax_id', '1'.repeat(41), 'customer.tax_id deve ter no máximo 40 caracteres.'],
    ['customer.tax_id_absence_reason', 'no', 'customer.tax_id_absence_reason deve ser exempt ou not_required.'],
    ['customer.address', 'x', 'customer.address deve ser um objeto.'],
    ['customer.address.country', 1, 'customer.address.country deve ser um texto.'],
    ['foreign_amount', 500, 'foreign_amount deve ser um objeto.'],
    ['foreign_amount.currency', 1, 'foreign_amount.currency deve ser um texto.'],
    [
      'foreign_amount.currency',
      'U\u0000D',
      'foreign_amount.currency contém caracteres de controle, que não são aceitos.',
    ],
    ['foreign_amount.amount_in_cents', 0.5, FOREIGN_AMOUNT],
    ['foreign_amount.amount_in_cents', '5', FOREIGN_AMOUNT],
    ['reference', 7, 'reference deve ser um texto.'],
    ['reference', '', 'reference não pode ser vazio.'],
    ['reference', 'a'.repeat(65), 'reference deve ter no máximo 64 caracteres.'],
    ['reference', 'a b', 'reference não pode ter espaços nem caracteres de controle.'],
    ['reference', 'a\u0000', 'reference não pode ter espaços nem caracteres de controle.'],
    ['cnae', 6201501, 'cnae deve ser um texto.'],
    ['cnae', '620150', CNAE],
    ['cnae', '62015011', CNAE],
    ['service_code', 10101, 'service_code deve ser um texto.'],
    ['service_code', '', CODE],
    ['service_code', '01.01', CODE],
    ['service_code', ' 010101', CODE],
  ])('%s of %j', (path, value, message) => {
    expect(causesOf(withField(path, value))).toEqual([[path, message]]);
  });

  it.each<[string, number]>([
    ['description', 2000],
    ['customer.name', 300],
    ['customer.tax_id', 40],
    ['customer.address.street', 255],
    ['customer.address.number', 60],
    ['customer.address.district', 60],
    ['customer.address.city', 60],
    ['customer.address.state', 60],
    ['customer.address.postal_code', 11],
  ])('%s may have %i characters and no more', (path, max) => {
    expect(causesOf(withField(path, 'é'.repeat(max)))).toEqual([]);
    expect(causesOf(withField(path, 'é'.repeat(max + 1)))).toEqual([
      [path, `${path} deve ter no máximo ${max} caracteres.`],
    ]);
  });

  it.each(['street', 'number', 'district'])('customer.address.%s must have a Latin form', (part) => {
    const path = `customer.address.${part}`;
    expect(causesOf(withField(path, '日本'))).toEqual([
      [
        path,
        `${path} tem um emoji, um símbolo ou uma letra de outro alfabeto, que a nota não aceita: retire-o ou escreva com letras latinas.`,
      ],
    ]);
  });

  it.each(['customer.name', 'customer.address.city', 'customer.address.state', 'customer.address.postal_code'])(
    '%s may be in any script',
    (path) => {
      expect(causesOf(withField(path, '日本'))).toEqual([]);
    },
  );

  it.each<[string, unknown]>([
    ['amount_in_cents', 9_007_199_254_740_991],
    ['customer.document', '12345678909'],
    ['customer.type', 'br'],
    ['customer.tax_id_absence_reason', 'not_required'],
    ['foreign_amount.amount_in_cents', -1],
    ['foreign_amount.currency', ''],
    ['customer.address.country', ''],
    ['reference', 'á'.repeat(64)],
    ['service_code', '1'],
  ])('%s of %j passes: whatever else there is to say of it is said later', (path, value) => {
    expect(causesOf(withField(path, value))).toEqual([]);
  });
});
