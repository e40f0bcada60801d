import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Keyring } from './keyring.js';
import { deriveKey, KEY_BYTES, masterKeyId, WrongMasterKey } from './master-key.js';

/** Thrown when a row does not open under the master key that it names: it was changed, or moved from another row. */
export class TamperedSecret extends Error {
  override readonly name = 'TamperedSecret';
}

/** What a row is for, and its primary key. Its sealed text opens in no other row. */
export type SecretBinding = { purpose: 'day-key' | 'certificate' | 'signing-key'; path: readonly string[] };

const ENVELOPE = 'vault:2';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * `vault:2:<master key id>:<wrapped key>:<ciphertext>`: AES-256-GCM under a random key, which is wrapped under a key derived from the master key.
 * Both are bound to the row.
 */
export const sealSecret = (plain: Buffer, binding: SecretBinding, masterKey: Buffer): string => {
  const own = randomBytes(KEY_BYTES);
  return [ENVELOPE, masterKeyId(masterKey), wrap(own, binding, masterKey), encrypt(plain, own, aad(binding))].join(':');
};

/** Opens sealed text. Throws `WrongMasterKey` or `TamperedSecret`. */
export const openSecret = async (
  text: string,
  binding: SecretBinding,
  keyring: Pick<Keyring, 'ofId'>,
): Promise<Buffer> => {
  const parts = partsOf(text, binding);
  const masterKey = await masterKeyOf(parts.keyId, binding, keyring);
  return orTampered(binding, () => {
    const own = unwrap(parts.wrapped, binding, masterKey);
    return decrypt(parts.body, own, aad(binding));
  });
};

/**
 * The same secret under this master key. Of an envelope only the key is wrapped again; its content is not opened. Throws `WrongMasterKey` or
 * `TamperedSecret`.
 */
export const resealSecret = async (
  text: string,
  binding: SecretBinding,
  keyring: Pick<Keyring, 'ofId'>,
  masterKey: Buffer,
): Promise<string> => {
  const { keyId, wrapped, body } = partsOf(text, binding);
  const before = await masterKeyOf(keyId, binding, keyring);
  const own = orTampered(binding, () => unwrap(wrapped, binding, before));
  return [ENVELOPE, masterKeyId(masterKey), wrap(own, binding, masterKey), body].join(':');
};

/** The id of the master key is the third part, where SQL looks for it too. */
const partsOf = (text: string, binding: SecretBinding): { keyId: string; wrapped: string; body: string } => {
  const [, , keyId, wrapped, body, ...rest] = text.split(':');
  const isWhole = keyId !== undefined && wrapped !== undefined && body !== undefined && rest.length === 0;
  if (isWhole && text.startsWith(`${ENVELOPE}:`)) return { keyId, wrapped, body };
  throw new TamperedSecret(`a ${binding.purpose} of the vault is not sealed text`);
};

const masterKeyOf = async (keyId: string, binding: SecretBinding, keyring: Pick<Keyring, 'ofId'>): Promise<Buffer> => {
  const found = await keyring.ofId(keyId);
  if (found !== undefined) return found.key;
  throw new WrongMasterKey(
    `a ${binding.purpose} of the vault was sealed under master key ${keyId}, which is not in the key file: restore that key file`,
  );
};

const orTampered = (binding: SecretBinding, open: () => Buffer): Buffer => {
  try {
    return open();
  } catch {
    throw new TamperedSecret(`a ${binding.purpose} of the vault was changed or stands in the wrong row`);
  }
};

const wrap = (own: Buffer, binding: SecretBinding, masterKey: Buffer): string =>
  encrypt(own, wrappingKey(binding, masterKey), wrappedAad(binding));

const unwrap = (wrapped: string, binding: SecretBinding, masterKey: Buffer): Buffer =>
  decrypt(wrapped, wrappingKey(binding, masterKey), wrappedAad(binding));

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

const wrappingKey = ({ purpose }: SecretBinding, masterKey: Buffer): Buffer => deriveKey(masterKey, `wrap|${purpose}`);

const aad = ({ purpose, path }: SecretBinding): Buffer => Buffer.from(JSON.stringify([purpose, ...path]));

const wrappedAad = ({ purpose, path }: SecretBinding): Buffer => Buffer.from(JSON.stringify(['key', purpose, ...path]));
