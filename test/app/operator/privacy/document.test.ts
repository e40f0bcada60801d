import { describe, expect, it } from 'vitest';
import { documentMark, isSameDocument, mentions, readDocument } from '../../../../src/app/operator/privacy/document.js';
import { T0 } from '../../../support/fixture/invoice.js';
import { fixedKeys } from '../../../support/harness/event-store.js';

const cpf = { kind: 'cpf', text: '11144477735' } as const;

describe('the document of a person that asks', () => {
  it.each([
    ['111.444.777-35', 'cpf', '11144477735'],
    ['11222333000181', 'cnpj', '11222333000181'],
    ['12.abc.345/01de-35', 'cnpj', '12ABC34501DE35'],
    ['ab-12 34', 'nif', 'AB1234'],
  ])('is read from %s as a %s', (typed, kind, text) => {
    expect(readDocument(typed)).toEqual({ kind, text });
  });

  it('is none without a letter or a digit', () => {
    expect(readDocument(' .-/')).toBeUndefined();
  });

  it('is the same with and without its points, and nothing is the same as what is absent', () => {
    expect(isSameDocument('111.444.777-35', cpf)).toBe(true);
    expect(isSameDocument('11144477736', cpf)).toBe(false);
    expect(isSameDocument(undefined, cpf)).toBe(false);
  });

  it.each([
    ['Aulas para 111.444.777-35, novembro', true],
    ['CPF11144477735', true],
    ['de 111 444 777 35', true],
    ['111.444.777 - 35', true],
    ['111.444.777\n35', true],
    ['111.444.777\u201135', true],
    ['MARIA DA SILVA 11144477735', true],
    ['Pedido 111444777 de 35 peças', false],
    ['111444777-34', false],
  ])('is found in the text %s: %s', (text, found) => {
    expect(mentions(text, cpf)).toBe(found);
  });

  it('is never looked for in texts when it is a foreign one, which may be any short word', () => {
    expect(mentions('lote 1', { kind: 'nif', text: '1' })).toBe(false);
  });

  it('goes on record as a hash that needs a key of the master key, the same at every time', async () => {
    const clock = { now: () => T0 };
    const mark = await documentMark(cpf, fixedKeys(), clock);
    expect(mark).toMatch(/^hmac-sha256:m1:[0-9a-f]{64}$/);
    expect(await documentMark(cpf, fixedKeys(), clock)).toBe(mark);
    const otherKey = { ...fixedKeys(), forSealing: async () => ({ generation: 'm1', key: Buffer.alloc(32, 'x') }) };
    expect(await documentMark(cpf, otherKey, clock)).not.toBe(mark);
  });
});
