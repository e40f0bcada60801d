import { describe, expect, it } from 'vitest';
import { issueRequestOf } from '../../../src/http/body/issue-request.js';
import type { JsonBody } from '../../../src/http/body/read-json-object.js';

const RECEIVED_AT = '2026-11-21T12:00:00.000Z';
const least = { amount_in_cents: 100, description: 'Aula' };

const causesOf = (body: JsonBody): [string, string][] => {
  const result = issueRequestOf(body, RECEIVED_AT);
  return 'request' in result ? [] : (result.refused.causes ?? []).map(({ param, message }) => [param, message]);
};

const CNAE = 'cnae deve ter exatamente 7 dígitos, sem pontos, barras ou traços.';
const DOCUMENT = 'customer.document deve ter 11 dígitos (CPF) ou 14 dígitos (CNPJ), sem pontos, barras ou traços.';

describe('what one field alone cannot tell', () => {
  it('is that a tax id and its absence contradict each other, even as nulls', () => {
    for (const value of ['12-3', null]) {
      const customer = { tax_id: value, tax_id_absence_reason: 'exempt' };
      expect(causesOf({ ...least, customer })).toContainEqual([
        'customer.tax_id',
        'customer.tax_id e customer.tax_id_absence_reason se contradizem: envie só um dos dois.',
      ]);
    }
  });

  it('is that a description outgrows its limit by its markers', () => {
    const marker = '{{mes_extenso}}';
    const shrinking = `${marker.repeat(10)}${'x'.repeat(1850)}`;
    expect(causesOf({ ...least, description: shrinking })).toEqual([]);
    const growing = `{{data}}${'x'.repeat(1990)}`;
    expect(causesOf({ ...least, description: growing })).toEqual([]);
    const grown = `{{data}}${'x'.repeat(1991)}`;
    expect(causesOf({ ...least, description: grown })).toEqual([
      ['description', 'description deve ter no máximo 2000 caracteres também depois da troca dos marcadores.'],
    ]);
  });
});

describe('the code of a refusal', () => {
  const codeOf = (body: JsonBody) => {
    const result = issueRequestOf(body, RECEIVED_AT);
    return 'refused' in result ? result.refused : undefined;
  };

  it('is its own for a document alone, with that cause as message and param', () => {
    const customer = { document: '1' };
    expect(codeOf({ ...least, customer })).toEqual({
      code: 'nfse.customer_document_invalid',
      message: DOCUMENT,
      param: 'customer.document',
      causes: [{ param: 'customer.document', message: DOCUMENT }],
    });
  });

  it('is the general one for a document beside something else, and for anything else alone', () => {
    expect(codeOf({ ...least, customer: { document: '1' }, cnae: '1' })?.code).toBe('invalid_request');
    expect(codeOf({ ...least, cnae: '1' })).toMatchObject({ code: 'invalid_request', message: CNAE, param: 'cnae' });
  });
});
