import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { acceptedBody, expectInvalid, post } from './post.js';

type Export = {
  customer: Record<string, unknown> & { address: Record<string, unknown> };
  foreign_amount: Record<string, unknown>;
};

const ADDRESS = ['street', 'number', 'district', 'city', 'state', 'postal_code', 'country'];

/** What an export may lack, in the order in which it is named. */
const required = [
  'customer.name',
  'customer.tax_id',
  ...ADDRESS.map((field) => `customer.address.${field}`),
  'foreign_amount.currency',
];

/** A good export without these fields. */
const exportWithout = (fields: readonly string[]): object => {
  const body = structuredClone(exportBodyOf()) as Export;
  for (const path of fields) {
    const [parent = '', ...rest] = path.split('.').reverse();
    const owner = rest.reverse().reduce<Record<string, unknown>>((object, key) => object[key] as never, body as never);
    delete owner[parent];
  }
  return body;
};

/** The fields that the message names, in its order. */
const namedIn = (message: string): string[] => message.match(/\b(?:customer|foreign_amount)\b(?:\.\w+)*/g) ?? [];

/** A missing tax id is named with the reason that stands in for it. */
const withSubstitute = (field: string): string[] =>
  field === 'customer.tax_id' ? [field, 'customer.tax_id_absence_reason'] : [field];

describe('POST /v1/nfse: an export that lacks fields', () => {
  it('names all of them and nothing else, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray(required, { minLength: 1 }), async (missing) => {
        const error = await expectRefusal(await post(exportWithout(missing)), 422, 'nfse.export_incomplete');
        expect(namedIn(error.message)).toEqual(missing.flatMap(withSubstitute));
        expect(error.param).toBe(missing[0]);
        expect(error).not.toHaveProperty('errors');
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [
      'everything',
      { customer: { type: 'foreign' }, foreign_amount: undefined },
      ['name', 'tax_id', 'tax_id_absence_reason', 'address'],
    ],
    ['the parents', { foreign_amount: undefined }, []],
  ])('%s: an absent object is named, not its fields', async (_what, changes, ofCustomer) => {
    const error = await expectRefusal(await post(exportBodyOf(changes)), 422, 'nfse.export_incomplete');
    expect(namedIn(error.message)).toEqual([...ofCustomer.map((field) => `customer.${field}`), 'foreign_amount']);
  });

  it('an empty object lacks all of its fields; an amount that alone is missing has a code of its own', async () => {
    const empty = await post(exportBodyOf({ foreign_amount: {} }, { address: {} }));
    const error = await expectRefusal(empty, 422, 'nfse.export_incomplete');
    expect(namedIn(error.message)).toEqual([
      ...ADDRESS.map((field) => `customer.address.${field}`),
      'foreign_amount.currency',
      'foreign_amount.amount_in_cents',
    ]);
    const noName = await post(exportBodyOf({ foreign_amount: { currency: 'USD' } }, { name: undefined }));
    const { message } = await expectRefusal(noName, 422, 'nfse.export_incomplete');
    expect(namedIn(message)).toEqual(['customer.name', 'foreign_amount.amount_in_cents']);
    const noAmount = await post(exportBodyOf({ foreign_amount: { currency: 'USD' } }));
    await expectRefusal(noAmount, 422, 'nfse.foreign_amount_invalid');
  });

  it('a reason for no tax id stands in for the tax id, and never beside it', async () => {
    for (const reason of ['exempt', 'not_required']) {
      const alone = await post(exportBodyOf({}, { tax_id: undefined, tax_id_absence_reason: reason }));
      expect((await acceptedBody(alone)).customer).not.toHaveProperty('tax_id');
      const both = await post(exportBodyOf({}, { tax_id_absence_reason: reason }));
      await expectInvalid(both, ['customer.tax_id']);
    }
  });
});

describe('POST /v1/nfse: codes of an export', () => {
  it.each(['BR', 'us', 'USA', 'XX', '', ' US', 'EUA', '840'])('the country %j is not in the table', async (country) => {
    const { customer } = exportBodyOf() as Export;
    const response = await post(exportBodyOf({}, { address: { ...customer.address, country } }));
    const error = await expectRefusal(response, 422, 'nfse.country_unsupported');
    expect(error.param).toBe('customer.address.country');
  });

  it.each(['BRL', 'usd', 'US', '220', '840', '', 'US$'])(
    'the currency %j is refused with the accepted ones',
    async (currency) => {
      const response = await post(exportBodyOf({ foreign_amount: { currency, amount_in_cents: 1 } }));
      const error = await expectRefusal(response, 422, 'nfse.currency_unsupported');
      expect(error.param).toBe('foreign_amount.currency');
      expect(error.message).toMatch(/\bUSD, EUR\b/);
    },
  );
});

describe('POST /v1/nfse: fields of the other type of customer', () => {
  it('of a Brazilian one: all of them are named', async () => {
    const { customer, foreign_amount } = exportBodyOf() as Export;
    const { type: _type, ...sent } = customer;
    for (const type of [undefined, 'br']) {
      const json = issueBodyOf({ customer: { ...sent, type }, foreign_amount });
      const error = await expectRefusal(await post(json), 422, 'nfse.customer_type_conflict');
      expect(namedIn(error.message).filter((field) => field !== 'customer.type')).toEqual([
        'customer.address',
        'customer.tax_id',
        'foreign_amount',
      ]);
      expect(error.param).toBe('customer.address');
      expect(error.message.includes('br (o padrão)')).toBe(type === undefined);
    }
  });

  it.each([
    ['customer.address', { customer: { address: {} } }],
    ['customer.tax_id', { customer: { tax_id: '1' } }],
    ['customer.tax_id_absence_reason', { customer: { tax_id_absence_reason: 'exempt' } }],
    ['foreign_amount', { foreign_amount: {} }],
    ['foreign_amount', { customer: {}, foreign_amount: { currency: 'USD', amount_in_cents: 1 } }],
    ['customer.document', exportBodyOf({}, { document: OTHER_CNPJ })],
  ])('%s alone', async (field, changes) => {
    const error = await expectRefusal(await post(issueBodyOf(changes)), 422, 'nfse.customer_type_conflict');
    expect(error.param).toBe(field);
  });
});

describe('POST /v1/nfse: a municipality that demands the customer', () => {
  it('never demands one of an export, in either mode one of any other', async () => {
    for (const key of ['test', 'live'] as const) {
      const { call, pass, state } = createHarness();
      state.municipality = { ibge: '3304557', requiresCustomer: true, requiresRegistration: false };
      await acceptedBody(await call('/v1/nfse', { key, json: exportBodyOf() }));
      pass(60);
      await acceptedBody(await call('/v1/nfse', { key, json: issueBodyOf({ customer: { document: OTHER_CNPJ } }) }));
      for (const customer of [undefined, {}, { type: 'br' }, { name: 'Ana' }]) {
        const response = await call('/v1/nfse', { key, json: issueBodyOf({ customer }) });
        await expectRefusal(response, 422, 'nfse.customer_required');
      }
    }
  });
});
