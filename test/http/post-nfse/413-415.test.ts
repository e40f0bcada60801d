import { describe, expect, it } from 'vitest';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const MAX = 10_485_760;

/** A valid body padded with white space to exactly this many bytes. */
const bodyOf = (bytes: number): string => JSON.stringify(issueBodyOf()).padEnd(bytes, ' ');

describe('POST /v1/nfse 413 payload_too_large', () => {
  it.each([10_000_000, MAX])('%i bytes are fine', async (bytes) => {
    expect((await createHarness().call('/v1/nfse', { raw: bodyOf(bytes) })).status).toBe(202);
  });

  it('one byte more is not, counted', async () => {
    await expectRefusal(await createHarness().call('/v1/nfse', { raw: bodyOf(MAX + 1) }), 413, 'payload_too_large');
  });

  it('nor declared, before a byte is read', async () => {
    const headers = { 'content-length': String(MAX + 1) };
    const response = await createHarness().call('/v1/nfse', { raw: '{}', headers });
    const error = await expectRefusal(response, 413, 'payload_too_large');
    expect(error).toMatchObject({ type: 'invalid_request', retryable: false, livemode: false });
    expect(response.headers.get('ratelimit-remaining')).toBe('59');
  });
});

describe('POST /v1/nfse 415 unsupported_media_type', () => {
  it.each(['text/plain', 'application/jsonp', 'application/json, text/plain', 'application/x-www-form-urlencoded', ''])(
    '%s',
    async (type) => {
      const response = await createHarness().call('/v1/nfse', {
        json: issueBodyOf(),
        headers: { 'content-type': type },
      });
      await expectRefusal(response, 415, 'unsupported_media_type');
    },
  );

  it('comes before the size', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': String(MAX + 1) };
    await expectRefusal(await createHarness().call('/v1/nfse', { raw: '{}', headers }), 415, 'unsupported_media_type');
  });
});
