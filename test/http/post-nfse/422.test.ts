import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

type Row = [code: string, what: string, body: object, param: string | undefined, bend?: (harness: Harness) => void];

const withRegistration = (changes: Partial<Harness['company']['registration']>) => (harness: Harness) => {
  harness.company.registration = { ...harness.company.registration, ...changes };
};

const municipality = { ibge: '3304557', requiresCustomer: false, requiresRegistration: false };

const rows: Row[] = [
  [
    'company.issuer_not_enabled',
    'automatic issuance is off',
    issueBodyOf(),
    undefined,
    withRegistration({ automaticIssuance: false }),
  ],
  [
    'company.issuer_not_configured',
    'the issuer is not configured',
    issueBodyOf(),
    undefined,
    withRegistration({ issuerConfigured: false }),
  ],
  [
    'company.issuer_not_approved',
    'the issuer is not approved',
    issueBodyOf(),
    undefined,
    withRegistration({ issuerApproved: false }),
  ],
  [
    'company.certificate_missing',
    'no certificate',
    issueBodyOf(),
    undefined,
    ({ company }) => delete company.certificate,
  ],
  [
    'nfse.municipality_not_covered',
    'no entry of the municipality',
    issueBodyOf(),
    undefined,
    ({ state }) => {
      state.municipality = undefined;
    },
  ],
  ['nfse.cnae_not_allowed', 'an activity that is not registered', issueBodyOf({ cnae: '9602501' }), 'cnae'],
  ['nfse.cnae_not_allowed', 'an activity whose line is blocked', issueBodyOf({ cnae: '6203100' }), 'cnae'],
  ['nfse.cnae_missing_ctribnac', 'an activity without a line', issueBodyOf({ cnae: '6399200' }), 'cnae'],
  ['nfse.cnae_without_default', 'a line that is no default', issueBodyOf({ cnae: '6202300' }), 'service_code'],
  ['nfse.cnae_missing_nbs', 'a line without NBS', issueBodyOf({ cnae: '6204000' }), 'cnae'],
  ['nfse.nbs_invalid', 'an NBS that is not of the table', issueBodyOf({ cnae: '6311900' }), 'cnae'],
  ['nfse.service_code_unknown', 'a CNAE in its place', issueBodyOf({ service_code: '6201501' }), 'service_code'],
  ['nfse.service_code_unknown', 'a code that is too short', issueBodyOf({ service_code: '1' }), 'service_code'],
  [
    'nfse.service_code_not_allowed',
    'a code that the company may not use',
    issueBodyOf({ service_code: '140101' }),
    'service_code',
  ],
  [
    'nfse.municipal_registration_missing',
    'no municipal registration where it is demanded',
    issueBodyOf(),
    undefined,
    (harness) => {
      harness.state.municipality = { ...municipality, requiresRegistration: true };
      withRegistration({ municipalRegistration: {} })(harness);
    },
  ],
  [
    'nfse.customer_type_conflict',
    'foreign_amount of a customer in Brasil',
    issueBodyOf({ foreign_amount: {} }),
    'foreign_amount',
  ],
  [
    'nfse.customer_type_conflict',
    'tax_id of a customer in Brasil',
    issueBodyOf({ customer: { tax_id: 'X' } }),
    'customer.tax_id',
  ],
  [
    'nfse.customer_type_conflict',
    'document of a foreign customer',
    exportBodyOf({}, { document: '12345678909' }),
    'customer.document',
  ],
  [
    'nfse.export_incomplete',
    'a foreign customer alone',
    issueBodyOf({ customer: { type: 'foreign' } }),
    'customer.name',
  ],
  [
    'nfse.export_incomplete',
    'a foreign amount without a currency',
    exportBodyOf({ foreign_amount: { amount_in_cents: 1 } }),
    'foreign_amount.currency',
  ],
  [
    'nfse.country_unsupported',
    'Brasil as the country',
    exportBodyOf({}, { address: addressIn('BR') }),
    'customer.address.country',
  ],
  [
    'nfse.country_unsupported',
    'an empty country',
    exportBodyOf({}, { address: addressIn('') }),
    'customer.address.country',
  ],
  [
    'nfse.currency_unsupported',
    'a currency code in digits',
    exportBodyOf({ foreign_amount: { currency: '220', amount_in_cents: 1 } }),
    'foreign_amount.currency',
  ],
  [
    'nfse.foreign_amount_invalid',
    'no foreign amount in cents',
    exportBodyOf({ foreign_amount: { currency: 'USD' } }),
    'foreign_amount.amount_in_cents',
  ],
  [
    'nfse.foreign_amount_invalid',
    'a foreign amount of 0',
    exportBodyOf({ foreign_amount: { currency: 'USD', amount_in_cents: 0 } }),
    'foreign_amount.amount_in_cents',
  ],
  [
    'nfse.foreign_amount_invalid',
    'a foreign amount below 0',
    exportBodyOf({ foreign_amount: { currency: 'USD', amount_in_cents: -1 } }),
    'foreign_amount.amount_in_cents',
  ],
  [
    'nfse.customer_required',
    'a name alone where the municipality demands the customer',
    issueBodyOf({ customer: { name: 'Maria' } }),
    'customer.document',
    ({ state }) => {
      state.municipality = { ...municipality, requiresCustomer: true };
    },
  ],
  [
    'nfse.customer_name_required',
    'a CPF without a name',
    issueBodyOf({ customer: { document: '12345678909' } }),
    'customer.name',
  ],
];

describe('POST /v1/nfse 422', () => {
  it.each(rows)('%s: %s', async (code, _what, json, param, bend) => {
    const harness = createHarness();
    bend?.(harness);
    const error = await expectRefusal(await harness.call('/v1/nfse', { json }), 422, code);
    expect(error).toMatchObject({ type: 'invalid_request', retryable: false, livemode: false });
    expect(error.param).toBe(param);
    expect(error).not.toHaveProperty('errors');
  });

  it('names everything that an export lacks', async () => {
    const response = await createHarness().call('/v1/nfse', {
      json: issueBodyOf({ customer: { type: 'foreign', address: { city: 'Berlin' } } }),
    });
    const { message } = await expectRefusal(response, 422, 'nfse.export_incomplete');
    for (const field of [
      'customer.name',
      'customer.tax_id',
      'customer.address.street',
      'customer.address.country',
      'foreign_amount',
    ]) {
      expect(message).toContain(field);
    }
  });

  it('live mode accepts the registry gaps', async () => {
    const harness = createHarness();
    harness.state.municipality = { ...municipality, requiresRegistration: true };
    withRegistration({ municipalRegistration: {} })(harness);
    expect((await harness.call('/v1/nfse', { key: 'live', json: issueBodyOf({ cnae: '6311900' }) })).status).toBe(202);
  });

  it('carries the livemode of the key', async () => {
    const response = await createHarness().call('/v1/nfse', { key: 'live', json: issueBodyOf({ cnae: '9602501' }) });
    expect((await expectRefusal(response, 422, 'nfse.cnae_not_allowed')).livemode).toBe(true);
  });
});

function addressIn(country: string): object {
  return { street: 'A', number: '1', district: 'B', city: 'C', state: 'D', postal_code: '1', country };
}
