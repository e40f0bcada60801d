import { createPrivateKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import type { KeyFault } from '../domain/company/events.js';

/** Bits of the modulus (docs/national-system.md#certificates). TLS signs on the event loop: 4,096 bits take 5 ms there, 32,768 bits 20 s. */
const FEWEST_BITS = 2_048;
const MOST_BITS = 4_096;

/** The exponent that authorities give; a long one makes each check of a signature slow. */
const EXPONENT = 65_537n;

/**
 * Why the service cannot use an RSA key with its certificate (both PEM). Sizes are compared before the key computes anything; then a signature of the
 * key is checked with the public key of the certificate.
 */
export const keyFault = (pair: { privateKeyPem: string; certificatePem: string }): KeyFault | undefined => {
  try {
    const key = createPrivateKey(pair.privateKeyPem);
    const { modulusLength = 0, publicExponent } = key.asymmetricKeyDetails ?? {};
    if (modulusLength < FEWEST_BITS || modulusLength > MOST_BITS) return 'key_size';
    if (publicExponent !== EXPONENT) return 'key_exponent';
    return isOfBoundedParts(key) && signsFor(key, pair.certificatePem) ? undefined : 'key_broken';
  } catch {
    // OpenSSL refuses to read the key or to compute with it, for instance over an even modulus.
    return 'key_broken';
  }
};

/** The parts by which OpenSSL computes say nothing about the modulus: in a forged key they may have millions of bits. */
const isOfBoundedParts = (key: KeyObject): boolean => {
  const { n = '', d = '', p = '', q = '', dp = '', dq = '', qi = '' } = key.export({ format: 'jwk' });
  return [d, p, q, dp, dq, qi].every(({ length }) => length <= n.length);
};

const PROBE = Buffer.from('probe of a private key');

const signsFor = (key: KeyObject, certificatePem: string): boolean =>
  verify('sha256', PROBE, new X509Certificate(certificatePem).publicKey, sign('sha256', PROBE, key));
