import { createHmac } from 'node:crypto';
import type { ManifestMac } from '../../adapters/embedded-postgres/backup.js';
import { deriveSecret, type MasterKey, masterKeyId } from '../../adapters/vault/master-key.js';
import { NotCanonical, sortedJson } from '../../domain/log/hash-text.js';
import { sameSecret } from '../../lib/sha256.js';

/** What a master key says of a manifest. `no_mac`: an earlier version wrote the manifest, or the MAC was taken out. */
type MacCheck = 'confirmed' | 'wrong' | 'no_mac' | 'no_key';

/** The manifest with its MAC. Its files need none, because the manifest has their SHA-256. */
export const withMac = <M extends object>(manifest: M, { generation, key }: MasterKey): M & { mac: ManifestMac } => {
  const named = { generation, keyId: masterKeyId(key) };
  return { ...manifest, mac: { ...named, hmac: hmacOf({ ...manifest, mac: named }, key) } };
};

/** Checks a manifest as it was read, also members of a later version. A key of the generation with another id is not the key that made the MAC. */
export const checkMac = (manifest: { mac?: ManifestMac | undefined }, keys: readonly MasterKey[]): MacCheck => {
  if (manifest.mac === undefined) return 'no_mac';
  const { hmac, ...named } = manifest.mac;
  const key = keys.find(({ generation }) => generation === named.generation)?.key;
  if (key === undefined || masterKeyId(key) !== named.keyId) return 'no_key';
  return isMacOf({ ...manifest, mac: named }, key, hmac) ? 'confirmed' : 'wrong';
};

/** False also for values that no version writes. */
const isMacOf = (manifest: object, key: Buffer, hmac: string): boolean => {
  try {
    return sameSecret(hmacOf(manifest, key), hmac);
  } catch (error) {
    if (error instanceof NotCanonical) return false;
    throw error;
  }
};

const hmacOf = (manifest: object, key: Buffer): string =>
  createHmac('sha256', deriveSecret(key, 'backup')).update(sortedJson(manifest)).digest('hex');
