import { it } from 'vitest';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

it.each([1_001, 40_000])(
  'a service_code of %i digits is no catalogued code, also where the reader cuts it',
  async (length) => {
    const json = issueBodyOf({ service_code: '1'.repeat(length) });
    await expectRefusal(await createHarness().call('/v1/nfse', { json }), 422, 'nfse.service_code_unknown');
  },
);

it.each([1_001, 40_000])('a currency of %i letters is none of the table', async (length) => {
  const json = exportBodyOf({ foreign_amount: { currency: 'U'.repeat(length), amount_in_cents: 100 } });
  await expectRefusal(await createHarness().call('/v1/nfse', { json }), 422, 'nfse.currency_unsupported');
});
