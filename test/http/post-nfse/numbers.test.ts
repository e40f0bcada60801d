import { describe, expect, it } from 'vitest';
import { exportBodyOf } from '../../support/fixture/demo.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { acceptedBody, expectInvalid, postRaw } from './post.js';

const bodyWith = (number: string): string => `{"amount_in_cents":${number},"description":"x"}`;

/** An export whose foreign amount is exactly this text. */
const exportWith = (number: string): string =>
  JSON.stringify(exportBodyOf({ foreign_amount: { currency: 'USD', amount_in_cents: 'HERE' } })).replace(
    '"HERE"',
    number,
  );

const NO_JSON = ['0100', '+100', '.5', '100.', '1e', '0x64', '1_000', '1,000', 'NaN', 'Infinity'];

describe('POST /v1/nfse: amount_in_cents as JSON writes numbers', () => {
  it.each([
    ['100', 100],
    ['100.0', 100],
    ['100.000', 100],
    ['1e2', 100],
    ['1E+2', 100],
    ['10000e-2', 100],
    ['0.1e4', 1000],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740991.0', 9_007_199_254_740_991],
  ])('%s is the integer %i', async (text, value) => {
    expect(await acceptedBody(await postRaw(bodyWith(text)))).toHaveProperty('amount_in_cents', value);
  });

  it.each([
    '99',
    '99.99',
    '1250.50',
    '100.5',
    '1e-2',
    '0',
    '-0',
    '0.0',
    '-100',
    '-1e2',
    '9007199254740992',
    '9007199254740993',
    '1e16',
    '1e400',
    '-1e400',
    '"100"',
    'true',
    'null',
    '[100]',
    '{"value":100}',
  ])('%s is refused, naming both limits', async (text) => {
    const { message } = await expectInvalid(await postRaw(bodyWith(text)), ['amount_in_cents']);
    expect(message).toMatch(/\b100\b.*\b9007199254740991\b/);
  });

  it.each(NO_JSON)('%s is no JSON', async (text) => {
    await expectRefusal(await postRaw(bodyWith(text)), 400, 'malformed_json');
  });
});

describe('POST /v1/nfse: foreign_amount.amount_in_cents as JSON writes numbers', () => {
  it.each([
    ['1', 1],
    ['1.0', 1],
    ['25e3', 25_000],
    ['9007199254740991', 9_007_199_254_740_991],
  ])('%s is the integer %i', async (text, value) => {
    expect(await acceptedBody(await postRaw(exportWith(text)))).toHaveProperty('foreign_amount', {
      currency: 'USD',
      amount_in_cents: value,
    });
  });

  it.each(['0.5', '1250.50', '9007199254740992', '-9007199254740993', '1e400', '"1"', 'null'])(
    '%s is no integer',
    async (text) => {
      await expectInvalid(await postRaw(exportWith(text)), ['foreign_amount.amount_in_cents']);
    },
  );

  it.each(['0', '-0', '0.0', '-1', '-9007199254740991'])('%s is an integer, and not above zero', async (text) => {
    const error = await expectRefusal(await postRaw(exportWith(text)), 422, 'nfse.foreign_amount_invalid');
    expect(error).not.toHaveProperty('errors');
  });
});
