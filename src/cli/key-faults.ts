import type { KeyFault } from '../domain/company/events.js';

/** What is wrong with the key of a certificate, for operators. */
export const KEY_FAULTS: Record<KeyFault, string> = {
  key_size: 'its RSA key has fewer than 2,048 or more than 4,096 bits',
  key_exponent: 'the public exponent of its RSA key is not 65,537',
  key_broken: 'its private key does not sign for the certificate',
};
