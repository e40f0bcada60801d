import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey, masterKeyId } from './master-key.js';

/** Thrown when a row was sealed under a master key that this process does not have. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey';
}

/** Thrown when a row does not open under its own master key: it was changed, or moved from another place. */
export class TamperedSecret extends Error {
  override readonly name = 'TamperedSecret';
}

/** What the row is for and where it stands; sealed text opens nowhere else. */
export type SecretPlace = { purpose: 'day-key' | 'certificate'; path: readonly string[] };

const PREFIX = 'vault:1';
const TAG_BYTES = 16;

/** `vault:1:<master key id>:<iv>:<ciphertext and tag>`, AES-256-GCM under a key derived for the purpose. */
export const sealSecret = (plain: Buffer, place: SecretPlace, masterKey: Buffer): string => {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(place, masterKey), iv).setAAD(aad(place));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return [PREFIX, masterKeyId(masterKey), iv.toString('base64url'), sealed.toString('base64url')].join(':');
};

/** Throws `WrongMasterKey` or `TamperedSecret`. */
export const openSecret = (text: string, place: SecretPlace, masterKeys: readonly Buffer[]): Buffer => {
  const [, , keyId, iv, sealed] = text.split(':');
  if (!text.startsWith(`${PREFIX}:`) || keyId === undefined || iv === undefined || sealed === undefined) {
    throw new TamperedSecret(`a ${place.purpose} of the vault is not sealed text`);
  }
  const masterKey = masterKeys.find((candidate) => masterKeyId(candidate) === keyId);
  if (masterKey === undefined) {
    throw new WrongMasterKey(
      `a ${place.purpose} of the vault was sealed under master key ${keyId}, and this is another one: restore that key file`,
    );
  }
  try {
    const bytes = Buffer.from(sealed, 'base64url');
    const end = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv('aes-256-gcm', keyFor(place, masterKey), Buffer.from(iv, 'base64url'))
      .setAAD(aad(place))
      .setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
  } catch {
    throw new TamperedSecret(`a ${place.purpose} of the vault was changed or stands in the wrong row`);
  }
};

const keyFor = ({ purpose }: SecretPlace, masterKey: Buffer): Buffer => deriveKey(masterKey, `vault|${purpose}`);

const aad = ({ purpose, path }: SecretPlace): Buffer => Buffer.from(JSON.stringify([purpose, ...path]));
