import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Keyring } from './keyring.js';
import { deriveKey, masterKeyId, WrongMasterKey } from './master-key.js';

/** Thrown when a row does not open under its own master key: it was changed, or moved from another place. */
export class TamperedSecret extends Error {
  override readonly name = 'TamperedSecret';
}

/** What the row is for and where it stands; sealed text opens nowhere else. */
export type SecretPlace = { purpose: 'day-key' | 'certificate' | 'signing-key'; path: readonly string[] };

const ENVELOPE = 'vault:2';
/** Of before there were envelopes: sealed under the master key itself. A rotation turns it into one. */
const DIRECT = 'vault:1';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * `vault:2:<master key id>:<wrapped key>:<ciphertext>`: AES-256-GCM under a key of its own, which is wrapped under one derived
 * from the master key. Both are bound to the place.
 */
export const sealSecret = (plain: Buffer, place: SecretPlace, masterKey: Buffer): string => {
  const own = randomBytes(KEY_BYTES);
  return [ENVELOPE, masterKeyId(masterKey), wrap(own, place, masterKey), encrypt(plain, own, aad(place))].join(':');
};

/** Throws `WrongMasterKey` or `TamperedSecret`. */
export const openSecret = async (text: string, place: SecretPlace, keyring: Pick<Keyring, 'ofId'>): Promise<Buffer> => {
  const parts = partsOf(text, place);
  const masterKey = await masterKeyOf(parts.keyId, place, keyring);
  return untampered(place, () =>
    parts.kind === 'direct'
      ? decrypt(parts.body, directKey(place, masterKey), aad(place))
      : decrypt(parts.body, unwrap(parts.wrapped, place, masterKey), aad(place)),
  );
};

/**
 * The same secret under this master key. Of an envelope only the key is wrapped anew: what it holds is not opened. Throws
 * `WrongMasterKey` or `TamperedSecret`.
 */
export const resealSecret = async (
  text: string,
  place: SecretPlace,
  keyring: Pick<Keyring, 'ofId'>,
  masterKey: Buffer,
): Promise<string> => {
  const parts = partsOf(text, place);
  if (parts.kind === 'direct') return sealSecret(await openSecret(text, place, keyring), place, masterKey);
  const before = await masterKeyOf(parts.keyId, place, keyring);
  const own = untampered(place, () => unwrap(parts.wrapped, place, before));
  return [ENVELOPE, masterKeyId(masterKey), wrap(own, place, masterKey), parts.body].join(':');
};

type Parts =
  | { kind: 'envelope'; keyId: string; wrapped: string; body: string }
  | { kind: 'direct'; keyId: string; body: string };

/** Both kinds have the id of the master key at the same place, where the database looks for it too. */
const partsOf = (text: string, place: SecretPlace): Parts => {
  const [, , keyId, first, second, ...rest] = text.split(':');
  if (keyId !== undefined && first !== undefined && second !== undefined && rest.length === 0) {
    if (text.startsWith(`${ENVELOPE}:`)) return { kind: 'envelope', keyId, wrapped: first, body: second };
    // Its two parts, joined, are what an envelope's one part is: iv, ciphertext and tag.
    if (text.startsWith(`${DIRECT}:`)) return { kind: 'direct', keyId, body: joined(first, second) };
  }
  throw new TamperedSecret(`a ${place.purpose} of the vault is not sealed text`);
};

const joined = (iv: string, sealed: string): string =>
  Buffer.concat([Buffer.from(iv, 'base64url'), Buffer.from(sealed, 'base64url')]).toString('base64url');

const masterKeyOf = async (keyId: string, place: SecretPlace, keyring: Pick<Keyring, 'ofId'>): Promise<Buffer> => {
  const found = await keyring.ofId(keyId);
  if (found !== undefined) return found.key;
  throw new WrongMasterKey(
    `a ${place.purpose} of the vault was sealed under master key ${keyId}, which is not in the key file: restore that key file`,
  );
};

const untampered = (place: SecretPlace, open: () => Buffer): Buffer => {
  try {
    return open();
  } catch {
    throw new TamperedSecret(`a ${place.purpose} of the vault was changed or stands in the wrong row`);
  }
};

const wrap = (own: Buffer, place: SecretPlace, masterKey: Buffer): string =>
  encrypt(own, wrappingKey(place, masterKey), wrappedAad(place));

const unwrap = (wrapped: string, place: SecretPlace, masterKey: Buffer): Buffer =>
  decrypt(wrapped, wrappingKey(place, masterKey), wrappedAad(place));

const encrypt = (plain: Buffer, key: Buffer, bound: Buffer): string => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(bound);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url');
};

const decrypt = (text: string, key: Buffer, bound: Buffer): Buffer => {
  const bytes = Buffer.from(text, 'base64url');
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(bound)
    .setAuthTag(bytes.subarray(end));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, end)), decipher.final()]);
};

const directKey = ({ purpose }: SecretPlace, masterKey: Buffer): Buffer => deriveKey(masterKey, `vault|${purpose}`);

const wrappingKey = ({ purpose }: SecretPlace, masterKey: Buffer): Buffer => deriveKey(masterKey, `wrap|${purpose}`);

const aad = ({ purpose, path }: SecretPlace): Buffer => Buffer.from(JSON.stringify([purpose, ...path]));

const wrappedAad = ({ purpose, path }: SecretPlace): Buffer => Buffer.from(JSON.stringify(['key', purpose, ...path]));
