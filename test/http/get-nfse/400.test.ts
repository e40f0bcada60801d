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

  it.each(['a%E7%E3o', 'a%', 'a%4', '%ff', '%ED%A0%80', '%zz', 'a%E7&reference=a'])(
    'for a value that is not percent-encoded UTF-8: %s',
    async (value) => {
      const response = await createHarness().call(`/v1/nfse?reference=${value}`);
      const error = await expectRefusal(response, 400, 'invalid_request');
      expect(error).toMatchObject({ param: 'reference', message: expect.stringContaining('encodeURIComponent') });
      expect(error).not.toHaveProperty('errors');
    },
  );

  it.each(['x=%ff&reference=a%25&%ff=1', 'reference=a%25&reference=%ff'])(
    'not for another parameter, which is ignored whatever its escapes: %s',
    async (query) => {
      expect((await createHarness().call(`/v1/nfse?${query}`)).status).toBe(200);
    },
  );
});
