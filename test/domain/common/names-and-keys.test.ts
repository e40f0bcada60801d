import { describe, expect, it } from 'vitest';
import { accessKeyCheckDigit, dpsId, emitterOfDps, isAccessKey } from '../../../src/domain/common/access-key.js';
import {
  companyStream,
  dpsStream,
  invoiceStream,
  parseInvoiceStream,
  publicInvoiceId,
} from '../../../src/domain/common/ids.js';
import { unreachable } from '../../../src/domain/common/unreachable.js';

const CNPJ = '12345678000195';
const ID = '1a2b3c4d-1111-4111-8111-111111111111';

describe('names of streams', () => {
  it('carry mode and company, so that nothing of another one can be found', () => {
    expect(invoiceStream('live', CNPJ, ID)).toBe(`nfseLive-${CNPJ}_${ID}`);
    expect(invoiceStream('test', CNPJ, ID)).toBe(`nfseTest-${CNPJ}_${ID}`);
    expect(dpsStream('live', CNPJ, '1')).toBe(`dpsLive-${CNPJ}_1`);
    expect(dpsStream('test', CNPJ, '900')).toBe(`dpsTest-${CNPJ}_900`);
    expect(companyStream(CNPJ)).toBe(`company-${CNPJ}`);
    expect(publicInvoiceId(ID)).toBe(`nfse_${ID}`);
  });

  it('of invoices are read back, both modes, and nothing longer or shorter', () => {
    expect(parseInvoiceStream(`nfseLive-${CNPJ}_${ID}`)).toEqual({ mode: 'live', companyId: CNPJ, invoiceId: ID });
    expect(parseInvoiceStream(`nfseTest-${CNPJ}_${ID}`)).toEqual({ mode: 'test', companyId: CNPJ, invoiceId: ID });
    for (const other of [
      `nfseLive-${CNPJ}_${ID}0`,
      `x nfseLive-${CNPJ}_${ID}`,
      `nfseLive-${CNPJ}_`,
      `dpsLive-${CNPJ}_1`,
    ])
      expect(parseInvoiceStream(other), other).toBeUndefined();
  });
});

describe('DPS ids', () => {
  const parts = { municipality: '3304557', cnpj: CNPJ, series: '7', number: 42 };

  it('pad series and number', () => {
    expect(dpsId(parts)).toBe(`DPS33045572${CNPJ}00007000000000000042`);
  });

  it('name their emitter', () => {
    expect(emitterOfDps(dpsId(parts))).toBe(CNPJ);
  });

  it('refuse parts that cannot make one', () => {
    for (const number of [0, -1, 1.5, 2 ** 53])
      expect(() => dpsId({ ...parts, number })).toThrow('a DPS number is a whole number from 1 on');
    for (const wrong of [{ municipality: '330455' }, { cnpj: '123' }, { series: '123456' }])
      expect(() => dpsId({ ...parts, ...wrong })).toThrow('the parts do not make a DPS id');
  });
});

describe('check digits of access keys', () => {
  const zeros = '0'.repeat(49);

  it.each([
    [zeros, '0'],
    // Weight 2 times 5 is 10, remainder 10, digit 1.
    [`${zeros.slice(1)}5`, '1'],
    // Weight 2 times 1: remainder 2, the smallest that does not give the digit 0.
    [`${zeros.slice(1)}1`, '9'],
    // 3 times 4 is 12: remainder 1, digit 0 by rule.
    [`${zeros.slice(2)}40`, '0'],
  ])('%s ends in %s', (first49, digit) => {
    expect(accessKeyCheckDigit(first49)).toBe(digit);
  });

  it('are made from 49 characters and nothing else', () => {
    for (const wrong of [zeros.slice(1), `${zeros}0`])
      expect(() => accessKeyCheckDigit(wrong)).toThrow('the check digit is made from 49 characters');
  });

  it('tell a key from one with a digit changed', () => {
    const first49 = `330455722${CNPJ}00000000000142608201234567`;
    const key = `${first49}${accessKeyCheckDigit(first49)}`;
    expect(isAccessKey(key)).toBe(true);
    for (const other of [`${first49}${(Number(key.at(-1)) + 1) % 10}`, `${key}0`, key.slice(1), ` ${key}`])
      expect(isAccessKey(other), other).toBe(false);
  });
});

it('a case that the types exclude is said by name if it comes all the same', () => {
  expect(() => unreachable({ kind: 'new' } as never)).toThrow('unhandled case: {"kind":"new"}');
});
