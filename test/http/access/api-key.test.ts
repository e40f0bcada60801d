import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiKeyText, modeOfApiKey } from '../../../src/domain/company/company.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

describe('the form of a key', () => {
  it.each(['live', 'test'] as const)('names its mode: %s', (mode) => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (secret) => {
        expect(modeOfApiKey(apiKeyText(mode, Buffer.from(secret).toString('base64url')))).toBe(mode);
      }),
    );
  });

  const key = apiKeyText('test', randomBytes(32).toString('base64url'));
  it.each([
    ['one character less', key.slice(0, -1)],
    ['one character more', `${key}x`],
    ['a character of base64 alone', `${key.slice(0, -1)}+`],
    ['another mode', key.replace('_test_', '_demo_')],
    ['upper case', key.toUpperCase()],
    ['a prefix before it', `x${key}`],
    ['nothing', ''],
  ])('%s is no key, and no key is asked for', async (_what, text) => {
    expect(modeOfApiKey(text)).toBeUndefined();
    const authenticate = async (): Promise<never> => {
      throw new Error('the store of keys was asked');
    };
    const headers = { authorization: `Bearer ${text}` };
    const response = await createHarness({ authenticate }).call('/v1/activities', { key: 'none', headers });
    await expectRefusal(response, 401, 'unauthorized');
  });
});
