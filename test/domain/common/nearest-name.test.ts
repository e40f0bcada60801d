import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { misspeltName, nearestName } from '../../../src/domain/common/nearest-name.js';

const KNOWN = ['amount_in_cents', 'description', 'customer', 'reference', 'cnae', 'service_code'];

describe('the nearest name', () => {
  it.each([
    ['amount', 'amount_in_cents'],
    ['amountInCents', 'amount_in_cents'],
    ['amount-in-cents', 'amount_in_cents'],
    ['amout_in_cents', 'amount_in_cents'],
    ['descricao', 'description'],
    ['Customer', 'customer'],
    ['customers', 'customer'],
    ['refrence', 'reference'],
    ['cna', undefined],
    ['cnaes', 'cnae'],
    ['cane', undefined],
    ['valor', undefined],
    ['a', undefined],
    ['', undefined],
    ['amount_in_cents'.repeat(10), undefined],
  ])('of %j is %j', (sent, expected) => {
    expect(nearestName(sent, KNOWN)).toBe(expected);
  });

  it('of a known name is that name, and of any text one of the known or none', () => {
    for (const name of KNOWN) expect(nearestName(name, KNOWN)).toBe(name);
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (sent, known) => {
        const near = nearestName(sent, known);
        expect(near === undefined || known.includes(near)).toBe(true);
      }),
    );
  });

  it('is none where nothing is known', () => {
    expect(nearestName('amount', [])).toBeUndefined();
  });
});

describe('a misspelt name', () => {
  it.each([
    ['AUTHORIZER_LIVE_ULR', 'AUTHORIZER_LIVE_URL'],
    ['AUTHORISER_LIVE_URL', 'AUTHORIZER_LIVE_URL'],
    ['DATA_DIRS', 'DATA_DIR'],
    ['AUTHORIZER_LIVE_URL', undefined],
    ['APP_PORT', undefined],
    ['DATABASE_PASSWORD', undefined],
    ['PATH', undefined],
    ['PORTA', undefined],
    ['PROT', 'PORT'],
    ['OPST', undefined],
    ['DATA_DRI', 'DATA_DIR'],
    ['X'.repeat(5_000), undefined],
  ])('%j is meant as %j', (sent, expected) => {
    const known = ['AUTHORIZER_LIVE_URL', 'DATA_DIR', 'DATABASE_URL', 'OPS_PORT', 'PORT'];
    expect(misspeltName(sent, known)).toBe(expected);
  });
});
