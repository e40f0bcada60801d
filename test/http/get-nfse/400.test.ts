import { describe, expect, it } from 'vitest';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

describe('GET /v1/nfse 400 invalid_request', () => {
  it.each(['', '?reference', '?reference=', '?Reference=x', `?reference=${'x'.repeat(65)}`])('%s', async (query) => {
    const response = await createHarness().call(`/v1/nfse${query}`, { key: 'live' });
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error).toMatchObject({ param: 'reference', livemode: true, retryable: false });
    expect(error).not.toHaveProperty('errors');
    expect(response.headers.get('ratelimit-remaining')).toBe('299');
  });
});
