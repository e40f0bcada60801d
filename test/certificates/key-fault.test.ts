import { describe, expect, it } from 'vitest';
import { keyFault } from '../../src/certificates/key-fault.js';
import { readPkcs12 } from '../../src/certificates/read-pkcs12.js';
import { plainPfxOf } from '../support/fixture/pfx.js';
import { certificateOfKey, forgedKeyOf, modulusOf, rsaKeyOf } from '../support/fixture/rsa-keys.js';

const named = { cnpj: '12345678000195', now: '2026-11-21T12:00:00.000Z' };
const good = rsaKeyOf(2_048);

/** Newer versions of OpenSSL write no such key, so that its file seems to have none. */
const OF_ENDLESS_PARTS = expect.stringMatching(/^(?:key_broken|no_certificate)$/);

describe.each([
  ['key_size', 'of fewer than 2,048 bits', () => rsaKeyOf(1_024)],
  ['key_size', 'of more than 4,096 bits', () => forgedKeyOf(4_112)],
  ['key_size', 'of 32,768 bits, which would sign for 20 s', () => forgedKeyOf(32_768)],
  ['key_exponent', 'with another exponent than 65,537', () => rsaKeyOf(2_048, 3)],
  ['key_broken', 'of an even modulus', () => forgedKeyOf(2_048, { n: modulusOf(good) - 1n })],
  ['key_broken', 'of the most bits that are taken, whose primes are none', () => forgedKeyOf(4_096)],
  ['key_broken', 'with the modulus of another', () => forgedKeyOf(2_048, { n: modulusOf(good) })],
  // Each of these would compute for minutes or hours.
  ...(['d', 'p', 'q', 'dp', 'dq', 'qi'] as const).map(
    (part) =>
      [
        'key_broken',
        `whose ${part} has a million bits`,
        () => forgedKeyOf(2_048, { [part]: (1n << 999_999n) + 1n }),
      ] as const,
  ),
] as const)('%s: a key %s', (fault, what, made) => {
  it('is refused in a file and in the vault', () => {
    const privateKeyPem = made();
    const certificatePem = certificateOfKey(privateKeyPem, named);
    expect(keyFault({ privateKeyPem, certificatePem })).toBe(fault);
    expect(readPkcs12(plainPfxOf(privateKeyPem, certificatePem), '')).toEqual({
      ok: false,
      reason: what.endsWith('a million bits') ? OF_ENDLESS_PARTS : fault,
    });
  });
});

describe('an RSA key', () => {
  it('that signs for its certificate is taken', () => {
    const certificatePem = certificateOfKey(good, named);
    expect(keyFault({ privateKeyPem: good, certificatePem })).toBeUndefined();
    expect(readPkcs12(plainPfxOf(good, certificatePem), '')).toMatchObject({
      ok: true,
      certificate: { privateKeyPem: good, certificatePem, cnpj: named.cnpj },
    });
  });

  it('works with the certificate of another key no more than without one', () => {
    const certificatePem = certificateOfKey(rsaKeyOf(2_048), named);
    expect(keyFault({ privateKeyPem: good, certificatePem })).toBe('key_broken');
    expect(keyFault({ privateKeyPem: good, certificatePem: 'none' })).toBe('key_broken');
    expect(keyFault({ privateKeyPem: 'none', certificatePem })).toBe('key_broken');
  });
});
