import { createPublicKey, type KeyObject, verify } from 'node:crypto';

/** DER of an Ed25519 public key (RFC 8410) without its last 32 bytes, which are the key. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

const NAMED = /^ed25519:([A-Za-z0-9_-]{43})$/;

/** What somebody hands over as the public key: as `doctor` prints it, PEM, or its DER or 32 bytes in base64. Undefined for anything else. */
export const readPublicKey = (given: string): string | undefined => {
  const text = given.trim();
  if (NAMED.test(text)) return text;
  try {
    if (text.startsWith('-----BEGIN')) return nameOf(createPublicKey(text));
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length === KEY_BYTES) return `ed25519:${bytes.toString('base64url')}`;
    return nameOf(createPublicKey({ key: bytes, format: 'der', type: 'spki' }));
  } catch {
    return undefined;
  }
};

/** Of a public key; undefined for one of another kind. */
const nameOf = (key: KeyObject): string | undefined => {
  if (key.asymmetricKeyType !== 'ed25519') return undefined;
  const der = key.export({ format: 'der', type: 'spki' });
  return `ed25519:${der.subarray(der.length - KEY_BYTES).toString('base64url')}`;
};

export const isSignedBy = (publicKey: string, text: string, signature: string): boolean => {
  const [, raw] = NAMED.exec(publicKey) ?? [];
  if (raw === undefined) return false;
  const der = Buffer.concat([SPKI_HEAD, Buffer.from(raw, 'base64url')]);
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
};
