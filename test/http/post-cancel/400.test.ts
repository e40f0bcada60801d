import { describe, expect, it } from 'vitest';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const UUID = '0190a1b2-0000-7000-8000-000000000000';

describe('POST /v1/nfse/{id}/cancel 400', () => {
  it('malformed_json for an empty body: the body is required', async () => {
    const response = await createHarness().call(`/v1/nfse/${UUID}/cancel`, { raw: '' });
    const { message } = await expectRefusal(response, 400, 'malformed_json');
    expect(message).toContain('vazio');
  });

  it.each(['x', `nfe_${UUID}`])('invalid_id for %s', async (id) => {
    const error = await expectRefusal(
      await createHarness().call(`/v1/nfse/${id}/cancel`, { json: {} }),
      400,
      'invalid_id',
    );
    expect(error).not.toHaveProperty('errors');
  });

  it('415 without the content type, 413 when too large', async () => {
    const { call } = createHarness();
    const path = `/v1/nfse/${UUID}/cancel`;
    await expectRefusal(
      await call(path, { raw: '{}', headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    );
    await expectRefusal(await call(path, { raw: '{}'.padEnd(10_485_761) }), 413, 'payload_too_large');
  });
});
