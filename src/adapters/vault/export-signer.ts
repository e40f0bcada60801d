import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type pg from 'pg';
import type { Clock } from '../../ports/clock.js';
import type { ExportSigner } from '../../ports/export-signer.js';
import { openSecret, type SecretBinding, sealSecret, TamperedSecret } from './envelope.js';
import type { Keyring } from './keyring.js';
import { WrongMasterKey } from './master-key.js';

type KeyRow = { public_key: string; sealed: string };

/**
 * Signs with an Ed25519 key of the vault. Two processes that make a key at the same time use the same one afterwards. `sign` and `publicKey` throw
 * `WrongMasterKey` or `TamperedSecret`. The public half is in clear, so an owner of the database can write another one there; the private half opens
 * only under the public half that it was sealed for.
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

  const open = ({ public_key, sealed }: KeyRow): Promise<Buffer> =>
    openSecret(sealed, signingKeyBinding(public_key), keyring);

  const opens = async (row: KeyRow): Promise<boolean> => {
    try {
      await open(row);
      return true;
    } catch (error) {
      if (error instanceof TamperedSecret || error instanceof WrongMasterKey) return false;
      throw error;
    }
  };

  const opened = async (): Promise<{ keys: readonly string[]; unopened: number }> => {
    const newest = await current();
    const known = await rows();
    const all = known.length > 0 ? known : [newest];
    const keys: string[] = [];
    for (const row of all) if (await opens(row)) keys.push(row.public_key);
    return { keys, unopened: all.length - keys.length };
  };

  return {
    publicKey: async () => {
      const row = await current();
      await open(row);
      return row.public_key;
    },
    publicKeys: async () => (await opened()).keys,
    unopened: async () => (await opened()).unopened,
    sign: async (text) => {
      const der = await open(await current());
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
