import { describe, expect, it } from 'vitest';
import { isRolledBack } from '../../../src/adapters/sql/errors.js';

const refusal = (severity: string, code: string): Error => Object.assign(new Error('refused'), { severity, code });

describe('an error of the server proves that the statement had no effect', () => {
  it.each([
    ['ERROR', '55P03', true],
    ['ERROR', 'XX000', true],
    ['FATAL', '57P01', false],
    ['PANIC', '53100', false],
    ['FATAL', '22012', false],
    ['ERRO', '55P03', true],
    ['FEHLER', '57014', true],
    ['ERREUR', '40001', true],
    ['ОШИБКА', 'P0001', true],
    ['FATAL', '25P03', false],
    ['FATALE', '57P01', false],
    ['KATASTROFALNY', '25P04', false],
    ['PÂNICO', '53100', false],
    ['ПАНИКА', 'XX000', false],
    ['ERRO', '08P01', false],
  ])('%s with code %s: %s', (severity, code, isCertain) => {
    expect(isRolledBack(refusal(severity, code))).toBe(isCertain);
  });

  it('not when the error comes from the socket or the client', () => {
    expect(isRolledBack(Object.assign(new Error('reset'), { code: 'EPIPE' }))).toBe(false);
    expect(isRolledBack(new Error('Query read timeout'))).toBe(false);
  });
});
