import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectCauses, expectRefusal } from '../../support/harness/http-answers.js';

const post = async (raw: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> =>
  await createHarness().call('/v1/nfse', { raw, headers });

const refusalOf = async (json: unknown) =>
  await expectRefusal(await post(JSON.stringify(json)), 400, 'invalid_request');

const refusalOfText = async (raw: string) => await expectRefusal(await post(raw), 400, 'invalid_request');

const unknown = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]));

describe('POST /v1/nfse 400 malformed_json', () => {
  it.each([
    ['an empty body', ''],
    ['white space', '  '],
    ['half an object', '{"amount_in_cents":'],
    ['invalid UTF-8', Uint8Array.from([0x22, 0xff, 0x22])],
    ['a trailing comma', '{"a":1,}'],
    ['5 million nested arrays', '['.repeat(5_000_000)],
    ['a million nested objects, all but one closed', `${'{"a":'.repeat(1_000_000)}1${'}'.repeat(999_999)}`],
  ])('%s', async (_what, raw) => {
    const error = await expectRefusal(await post(raw), 400, 'malformed_json');
    expect(error).toMatchObject({ type: 'invalid_request', retryable: false, livemode: false });
    expect(error).not.toHaveProperty('errors');
    expect(error).not.toHaveProperty('param');
  });
});

describe('POST /v1/nfse 400 invalid_request', () => {
  it.each(['null', '[]', '"text"', '1', 'true'])('%s is no object', async (raw) => {
    const error = await refusalOfText(raw);
    expect(error.errors).toEqual([{ code: 'invalid_request', message: error.message }]);
    expect(error).not.toHaveProperty('param');
  });

  it('lists what is missing', async () => {
    const error = await refusalOf({});
    expectCauses(error, ['amount_in_cents', 'description']);
    expect(error.param).toBe('amount_in_cents');
    expect(error.message).toBe(error.errors?.[0]?.message);
  });

  it('lists every cause, the sent fields in their order, then the missing ones', async () => {
    const error = await refusalOf({
      amount: 1,
      customer: { foo: 1, address: { zip: '1', city: 2 }, name: null },
      cnae: '62.01-5/01',
    });
    expectCauses(error, [
      'amount',
      'customer.foo',
      'customer.address.zip',
      'customer.address.city',
      'customer.name',
      'cnae',
      'amount_in_cents',
      'description',
    ]);
    expect(error.param).toBe('amount');
  });

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', ''])(
    'the unknown field "%s", at every level',
    async (name) => {
      const key = JSON.stringify(name);
      const raw = `{"amount_in_cents":100,"description":"x",${key}:1,"customer":{${key}:{}},"foreign_amount":{${key}:null}}`;
      const error = await expectRefusal(await post(raw), 400, 'invalid_request');
      expectCauses(error, [name, `customer.${name}`, `foreign_amount.${name}`]);
    },
  );

  it('names an unknown field of a megabyte by its beginning', async () => {
    const error = await refusalOf(issueBodyOf({ ['k'.repeat(1_000_000)]: 1 }));
    expect(error.param?.length).toBeLessThan(200);
  });

  it('lists every cause, however many a body has', async () => {
    const { errors = [] } = await refusalOf(unknown(999));
    expect(errors).toHaveLength(1_001);
    expect(errors.at(-1)?.message).toContain('description');
  });

  it('refuses more fields than that as a whole, before it looks at any', async () => {
    const { errors, message, param } = await refusalOf(unknown(1_000));
    expect(message).toContain('mais de 2000 vírgulas, dois-pontos, chaves e colchetes');
    expect({ errors, param }).toEqual({ errors: [{ code: 'invalid_request', message }] });
  });

  it.each([
    ['names the field of a number with too many digits', `{"description":"x","amount_in_cents": 1${'0'.repeat(200)}}`],
    [
      'names the field also at the end of a longer body',
      `{"description":"${'x'.repeat(1_900)}","amount_in_cents": -${'9'.repeat(129)}e1}`,
    ],
  ])('%s', async (_what, raw) => {
    const error = await refusalOfText(raw);
    expect(error.message).toBe(
      'O campo amount_in_cents tem um número com mais de 128 algarismos seguidos. Envie os valores em centavos.',
    );
    expectCauses(error, ['amount_in_cents']);
  });

  it('names no field for such a number in a list', async () => {
    const { errors, message, param } = await refusalOfText(`{"amount_in_cents":[1${'0'.repeat(200)}]}`);
    expect(message).toContain('O corpo tem um número com mais de 128 algarismos seguidos');
    expect({ errors, param }).toEqual({ errors: [{ code: 'invalid_request', message }] });
  });

  it('a bad document beside another cause is one of them', async () => {
    const error = await refusalOf(issueBodyOf({ customer: { document: '123', extra: 1 } }));
    expectCauses(error, ['customer.document', 'customer.extra']);
  });

  const fields: readonly [string, string, unknown][] = [
    ['amount_in_cents', 'a fraction', 100.5],
    ['amount_in_cents', 'too small', 99],
    ['amount_in_cents', 'negative', -100],
    ['amount_in_cents', 'beyond 2^53', 9_007_199_254_740_992],
    ['amount_in_cents', 'a text', '100'],
    ['amount_in_cents', 'null', null],
    ['description', 'empty', ''],
    ['description', 'blank', ' \n\u00a0'],
    ['description', 'too long', 'x'.repeat(2001)],
    ['description', 'a tab', 'a\tb'],
    ['description', 'a control character', 'a\u0085b'],
    ['description', 'half a character', 'a\ud800b'],
    [
      'description',
      'too long after the markers',
      `${'x'.repeat(1970)}{{mes_anterior_extenso}}{{data}}`.padEnd(2000, 'x'),
    ],
    ['description', 'a number', 1],
    ['customer', 'a list', []],
    ['customer', 'null', null],
    ['foreign_amount', 'a number', 1],
    ['reference', 'empty', ''],
    ['reference', 'a space', 'a b'],
    ['reference', 'an ideographic space', 'a\u3000b'],
    ['reference', 'a line break', 'a\nb'],
    ['reference', 'too long', 'x'.repeat(65)],
    ['reference', 'null', null],
    ['cnae', 'masked', '6201-5/01'],
    ['cnae', 'eight digits', '62015010'],
    ['cnae', 'other digits', '٦٢٠١٥٠١'],
    ['cnae', 'a number', 6_201_501],
    ['service_code', 'masked', '01.01.01'],
    ['service_code', 'empty', ''],
  ];
  it.each(fields)('%s: %s', async (field, _what, value) => {
    const error = await refusalOf(issueBodyOf({ [field]: value }));
    expect(error.param).toBe(field);
    expectCauses(
      error,
      (error.errors ?? []).map(() => field),
    );
  });

  it('takes a description that its markers bring to the limit', async () => {
    const { call } = createHarness();
    const description = `${'x'.repeat(1990)}{{data}}`;
    expect((await call('/v1/nfse', { json: issueBodyOf({ description }) })).status).toBe(202);
  });

  const foreign: readonly [string, unknown, RegExp][] = [
    ['name', 'x'.repeat(301), /300/],
    ['name', 'a\tb', /controle/],
    ['name', ' ', /espaço/],
    ['tax_id', 'x'.repeat(41), /40/],
    ['tax_id_absence_reason', 'none', /exempt/],
    ['type', 'BR', /foreign/],
    ['address', 'street', /objeto/],
  ];
  it.each(foreign)('customer.%s', async (field, value, message) => {
    const error = await refusalOf(exportBodyOf({}, { tax_id: undefined, [field]: value }));
    expect(error).toMatchObject({ param: `customer.${field}`, message: expect.stringMatching(message) });
  });

  it.each([
    ['street', 255],
    ['number', 60],
    ['district', 60],
    ['city', 60],
    ['state', 60],
    ['postal_code', 11],
  ] as const)('customer.address.%s holds %i characters', async (field, limit) => {
    const { call } = createHarness();
    const bodyWith = (length: number): object =>
      exportBodyOf({ amount_in_cents: 100 + length }, { address: { ...ADDRESS, [field]: 'é'.repeat(length) } });
    expect((await call('/v1/nfse', { json: bodyWith(limit) })).status).toBe(202);
    const error = await expectRefusal(await call('/v1/nfse', { json: bodyWith(limit + 1) }), 400, 'invalid_request');
    expect(error).toMatchObject({
      param: `customer.address.${field}`,
      message: expect.stringContaining(String(limit)),
    });
  });

  it('an address without a Latin form, or too long in it', async () => {
    const street = (value: string): object => exportBodyOf({}, { address: { ...ADDRESS, street: value } });
    expect((await refusalOf(street('東京'))).message).toMatch(/escreva com letras latinas/);
    expect((await refusalOf(street('œ'.repeat(200)))).message).toMatch(/caracteres como vai na nota/);
    const { call } = createHarness();
    expect((await call('/v1/nfse', { json: street('Łódź – Główna') })).status).toBe(202);
  });

  it('tax_id beside its absence', async () => {
    const error = await refusalOf(exportBodyOf({}, { tax_id_absence_reason: 'exempt' }));
    expect(error.param).toBe('customer.tax_id');
  });

  it.each(['', 'a b', 'é', 'x'.repeat(256)])('the Idempotency-Key "%s"', async (key) => {
    const error = await expectRefusal(await post('{}', { 'idempotency-key': key }), 400, 'invalid_request');
    expect(error.param).toBe('Idempotency-Key');
    expect(error).not.toHaveProperty('errors');
  });

  it('whatever the JSON: an answer of the envelope, and one cause at least', async () => {
    const { call } = createHarness({ rateLimits: { write: 10_000, read: 1 } });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (json) => {
        const error = await expectRefusal(await call('/v1/nfse', { json }), 400, 'invalid_request');
        expect(error.errors?.length).toBeGreaterThanOrEqual(2);
      }),
      { numRuns: 200 },
    );
  });
});

describe('POST /v1/nfse 400 nfse.customer_document_invalid', () => {
  it.each(['123.456.789-09', '12.345.678/0001-95', '', '1234567890', '123456789012', '1234567800019A'])(
    '%s',
    async (document) => {
      const response = await post(JSON.stringify(issueBodyOf({ customer: { document } })));
      const error = await expectRefusal(response, 400, 'nfse.customer_document_invalid');
      expect(error.param).toBe('customer.document');
      expect(error.errors).toEqual([{ code: 'invalid_request', message: error.message }]);
    },
  );

  it('not for a document that is no text', async () => {
    expect((await refusalOf(issueBodyOf({ customer: { document: 12_345_678_909 } }))).param).toBe('customer.document');
  });
});

const ADDRESS = {
  street: 'Main Street',
  number: '1',
  district: 'Center',
  city: 'Springfield',
  state: 'Oregon',
  postal_code: '97477',
  country: 'US',
};
