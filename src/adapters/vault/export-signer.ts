import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { ExportSigner } from '../../ports/export-signer.js';
import { openSecret, type SecretBinding, sealSecret } from './envelope.js';
import type { Keyring } from './keyring.js';

type KeyRow = { public_key: string; sealed: string };

/**
 * Signs with an Ed25519 key of the vault. Two processes that make a key at the same time use the same one afterwards. `sign` throws
 * `WrongMasterKey` or `TamperedSecret`.
 */
export const createExportSigner = (db: pg.Pool, keyring: Keyring, clock: Clock): ExportSigner => {
  const rows = async (): Promise<readonly KeyRow[]> =>
    (await db.query<KeyRow>('select public_key, sealed from vault_signing_keys order by created_at desc, public_key'))
      .rows;

  const current = async (): Promise<KeyRow> => {
    const [newest] = await rows();
    if (newest !== undefined) return newest;
    const made = newKey(keyring);
    await db.query(
      `insert into vault_signing_keys (public_key, sealed, created_at)
       select $1, $2, $3 where not exists (select from vault_signing_keys)`,
      [made.public_key, made.sealed, clock.now()],
    );
    return (await rows())[0] ?? made;
  };

  return {
    publicKey: async () => (await current()).public_key,
    publicKeys: async () => {
      const known = await rows();
      return known.length > 0 ? known.map(({ public_key }) => public_key) : [(await current()).public_key];
    },
    sign: async (text) => {
      const { public_key, sealed } = await current();
      const der = await openSecret(sealed, signingKeyBinding(public_key), keyring);
      const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return sign(null, Buffer.from(text), key).toString('base64url');
    },
  };
};

export const signingKeyBinding = (publicKey: string): SecretBinding => ({ purpose: 'signing-key', path: [publicKey] });

const newKey = (keyring: Keyring): KeyRow => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const public_key = nameOf(privateKey);
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { public_key, sealed: sealSecret(der, signingKeyBinding(public_key), keyring.sealing().key) };
};

/** The last 32 bytes of the DER of an Ed25519 public key are the key itself (RFC 8410). */
const nameOf = (privateKey: KeyObject): string => {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return `ed25519:${der.subarray(der.length - 32).toString('base64url')}`;
};
