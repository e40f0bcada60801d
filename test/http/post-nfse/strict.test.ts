import { describe, expect, it } from 'vitest';
import { exportBodyOf } from '../../support/fixture/demo.js';
import { expectInvalid, post, postRaw } from './post.js';

const LEVELS = ['', 'customer.', 'customer.address.', 'foreign_amount.'];

/** Unknown members. Some are names on the prototype of an object, which must not count as known. */
const UNKNOWN = ['toString', '__proto__', 'constructor', 'hasOwnProperty', 'valueOf', 'amount', 'Description', ' type'];

/** A good export with one more key at each of its four levels, its value given as JSON text. */
const exportWithEverywhere = (key: string, value: string): string => {
  const added = `${JSON.stringify(key)}:${value}`;
  return JSON.stringify(exportBodyOf())
    .replace('"country":"US"', `"country":"US",${added}`)
    .replace('"name":"Acme Inc"', `"name":"Acme Inc",${added}`)
    .replace('"currency":"USD"', `"currency":"USD",${added}`)
    .replace('"amount_in_cents":125050', `"amount_in_cents":125050,${added}`);
};

describe('POST /v1/nfse: only the fields of the interface, at every level', () => {
  it.each(UNKNOWN)('"%s" is unknown in each of the four objects', async (key) => {
    for (const value of ['1', 'null', '{"amount_in_cents":1}'])
      await expectInvalid(
        await postRaw(exportWithEverywhere(key, value)),
        LEVELS.map((level) => `${level}${key}`),
      );
  });

  it('lists the wrong, the unknown and the missing of every level in one answer', async () => {
    const error = await expectInvalid(
      await post({
        description: 7,
        customer: { type: 'pj', document: '123.456.789-09', address: { street: '', cep: '1', country: 55 } },
        foreign_amount: { currency: null, amount_in_cents: 1.5, cents: 1 },
        reference: 'a b',
        cnae: '62.01-5/01',
        service_code: '',
        valueOf: {},
      }),
      [
        'description',
        'customer.type',
        'customer.document',
        'customer.address.street',
        'customer.address.cep',
        'customer.address.country',
        'foreign_amount.currency',
        'foreign_amount.amount_in_cents',
        'foreign_amount.cents',
        'reference',
        'cnae',
        'service_code',
        'valueOf',
        'amount_in_cents',
      ],
    );
    expect(error.param).toBe('description');
  });

  const fields = [
    'description',
    'customer',
    'foreign_amount',
    'reference',
    'cnae',
    'service_code',
    'amount_in_cents',
    ...['type', 'document', 'name', 'tax_id', 'address'].map((field) => `customer.${field}`),
    ...['street', 'number', 'district', 'city', 'state', 'postal_code', 'country'].map(
      (field) => `customer.address.${field}`,
    ),
    ...['currency', 'amount_in_cents'].map((field) => `foreign_amount.${field}`),
  ];
  it.each(fields)('%s is never null, a list or a truth value', async (path) => {
    for (const value of [null, [], true]) await expectInvalid(await post(exportWithValue(path, value)), [path]);
  });

  it.each([null, [], true, 1])('customer.tax_id_absence_reason is not %j', async (value) => {
    const body = exportBodyOf({}, { tax_id: undefined, tax_id_absence_reason: value });
    await expectInvalid(await post(body), ['customer.tax_id_absence_reason']);
  });
});

const exportWithValue = (path: string, value: unknown): object => {
  const body = exportBodyOf() as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((object, key) => object[key] as Record<string, unknown>, body);
  parent[last] = value;
  return body;
};
