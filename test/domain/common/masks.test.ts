import { expect, it } from 'vitest';
import { type MaskedCode, withoutMask } from '../../../src/domain/common/masks.js';

it.each<[MaskedCode, string, string]>([
  ['cnpj', '11.222.333/0001-81', '11222333000181'],
  ['cnpj', ' 11.222.333/0001-81 ', '11222333000181'],
  ['cnpj', '12.ABC.345/01DE-35', '12ABC34501DE35'],
  ['cpf', '529.982.247-25', '52998224725'],
  ['postalCode', '01310-100', '01310100'],
  ['postalCode', '01.310-100', '01310100'],
  ['cnae', '6201-5/01', '6201501'],
  ['serviceCode', '01.01.01', '010101'],
  ['nbs', '1.1502.10.00', '115021000'],
  ['cnae', '6201501', '6201501'],
])('a %s is read with its mask: %s', (code, text, plain) => {
  expect(withoutMask(text, code)).toBe(plain);
});

it.each<[MaskedCode, string]>([
  ['cnpj', '11-222-333/0001.81'],
  ['cnpj', '11.222.333/0001-8'],
  ['cnae', '62.01-5/01'],
  ['serviceCode', '1.01.01'],
  ['cpf', '529982247.25'],
])('what is no %s stays as it is: %s', (code, text) => {
  expect(withoutMask(text, code)).toBe(text);
});
