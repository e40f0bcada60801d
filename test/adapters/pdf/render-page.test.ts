import { describe, expect, it } from 'vitest';
import { mayBeKept } from '../../../src/adapters/pdf/render-page.js';

describe('the words that a drawing thread keeps', () => {
  it.each(['PRESTADOR', 'R$', '234.567,89', '26/11/2026', '01310-100', ''])('may be %j', (word) => {
    expect(mayBeKept(word)).toBe(true);
  });

  it.each(['1.234.567,89', '123.456.789-09', '12.345.678/0001-95', '12ABC345678195', '33045572'.repeat(6)])(
    'are no number of more than eight digits: %s',
    (word) => {
      expect(mayBeKept(word)).toBe(false);
    },
  );
});
