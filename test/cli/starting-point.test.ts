import { describe, expect, it } from 'vitest';
import { readStartingPoint } from '../../src/cli/starting-point.js';

const point = { companyId: '11222333000181', mode: 'live', series: '1', number: 1_000 };

describe('a starting point of log recovery', () => {
  it('is read with the city and without, and with the mask of its CNPJ', () => {
    expect(readStartingPoint('11222333000181:live:1:1000')).toEqual({ point });
    expect(readStartingPoint('11.222.333/0001-81:test:49999:1:3304557')).toEqual({
      point: { ...point, mode: 'test', series: '49999', number: 1, municipality: '3304557' },
    });
    expect(readStartingPoint('11222333000181:live:1:999999999999999')).toMatchObject({
      point: { number: 999_999_999_999_999 },
    });
  });

  it.each([
    ['', 'it must be CNPJ:mode:series:number[:ibge]'],
    ['11222333000181:live:1', 'it must be CNPJ:mode:series:number[:ibge]'],
    ['11222333000181:live:1:1000:3304557:1', 'it must be CNPJ:mode:series:number[:ibge]'],
    ['1122233300018:live:1:1000', '1122233300018 is no CNPJ'],
    ['11222333000181:both:1:1000', 'the mode must be live or test, not both'],
    ['11222333000181:live:01:1000', 'the series must be from 1 to 49999'],
    ['11222333000181:live:50000:1000', 'the series must be from 1 to 49999'],
    ['11222333000181:live:1:0', 'the number must be from 1 to 999999999999999'],
    ['11222333000181:live:1:1e3', 'the number must be from 1 to 999999999999999'],
    ['11222333000181:live:1:1000000000000000', 'the number must be from 1 to 999999999999999'],
    ['11222333000181:live:1:1000:9999999', 'no municipality has the IBGE code 9999999'],
  ])('that is typed %s is refused', (text, why) => {
    expect(readStartingPoint(text)).toEqual({ problem: expect.stringContaining(`--from ${text}: ${why}`) });
  });
});
