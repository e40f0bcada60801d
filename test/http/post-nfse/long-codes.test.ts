import { expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

it.each([1_001, 40_000])('a code of %i characters is too long, also where the reader cuts it', async (length) => {
  const code = '1'.repeat(length);
  const answer = await createHarness().call('/v1/nfse', { json: issueBodyOf({ service_code: code }) });
  const { message } = await expectRefusal(answer, 400, 'invalid_request');
  expect(message).toContain('service_code deve ter no máximo 1000 caracteres');
});
