import { describe, expect, it } from 'vitest';
import { issueBodyOf, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { acceptedBody, expectInvalid, post } from './post.js';

const CPF = '12345678909';
const UNREGISTERED_CNPJ = '11222333000181';

const shownOf = async (customer: object): Promise<unknown> =>
  (await acceptedBody(await post(issueBodyOf({ customer })))).customer;

describe('POST /v1/nfse: customer.document', () => {
  it.each([
    '',
    '1',
    '1234567890',
    '123456789012',
    '1234567890123',
    '123456789012345',
    '0'.repeat(1000),
    '123.456.789-09',
    '12.345.678/0001-95',
    '12345678909 ',
    ' 12345678909',
    '12345678909\n',
    '12 345678909',
    '１２３４５６７８９０９',
    '١٢٣٤٥٦٧٨٩٠٩',
    '+1234567890',
    '1234567890a',
    '12ABC34501DE35',
    '1e10000000000',
    '12345678.09',
  ])('%j alone is nfse.customer_document_invalid', async (document) => {
    for (const customer of [{ document }, { document, name: 'Ana', type: 'br' }]) {
      const response = await post(issueBodyOf({ customer }));
      const error = await expectRefusal(response, 400, 'nfse.customer_document_invalid');
      expect(error.param).toBe('customer.document');
      expect(error.errors).toEqual([{ code: 'invalid_request', message: error.message }]);
    }
  });

  it('beside any other cause it is one of them, before or after it', async () => {
    await expectInvalid(await post({ customer: { document: '1' }, ...issueBodyOf({ cnae: '1' }) }), [
      'customer.document',
      'cnae',
    ]);
    const sent = issueBodyOf({ reference: '', customer: { name: '', document: '1' } });
    await expectInvalid(await post(sent), ['reference', 'customer.name', 'customer.document']);
  });

  it.each(['00000000000', '11111111111', '12345678900', '00000000000000', '12345678000199'])(
    'check digits are the authorizer’s to judge, in both modes: %s',
    async (document) => {
      for (const key of ['test', 'live'] as const) {
        const json = issueBodyOf({ customer: { document, name: 'Ana' } });
        await acceptedBody(await createHarness().call('/v1/nfse', { key, json }));
      }
    },
  );
});

describe('POST /v1/nfse: the name of a customer', () => {
  it('of a CNPJ is the registry’s, else the one sent, else none', async () => {
    const name = 'Nome enviado';
    const registered = { document: OTHER_CNPJ, name: 'CLIENTE REGISTRADO SA', type: 'br' };
    expect(await shownOf({ document: OTHER_CNPJ, name })).toEqual(registered);
    expect(await shownOf({ document: OTHER_CNPJ })).toEqual(registered);
    expect(await shownOf({ document: UNREGISTERED_CNPJ, name })).toEqual({
      document: UNREGISTERED_CNPJ,
      name,
      type: 'br',
    });
    expect(await shownOf({ document: UNREGISTERED_CNPJ })).toEqual({ document: UNREGISTERED_CNPJ, type: 'br' });
  });

  it('of a CPF is the one sent, and required', async () => {
    expect(await shownOf({ document: CPF, name: 'Ana' })).toEqual({ document: CPF, name: 'Ana', type: 'br' });
    const error = await expectRefusal(
      await post(issueBodyOf({ customer: { document: CPF } })),
      422,
      'nfse.customer_name_required',
    );
    expect(error.param).toBe('customer.name');
  });

  it('alone is recorded, with the type that was left out', async () => {
    expect(await shownOf({ name: 'Ana' })).toEqual({ name: 'Ana', type: 'br' });
  });

  it('and a customer without anything is none', async () => {
    for (const customer of [{}, { type: 'br' }]) expect(await shownOf(customer)).toBeUndefined();
  });
});
