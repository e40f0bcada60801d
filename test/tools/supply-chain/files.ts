import { readLock, readManifest } from './lock.js';
import { thirdPartyNotices } from './notices.js';
import { billOfMaterials } from './sbom.js';

/** What `npm run sbom` writes, by its path in the repository. */
export const supplyChainFiles = (): Readonly<Record<string, string>> => {
  const lock = readLock();
  return {
    'docs/supply-chain/sbom.cdx.json': billOfMaterials(lock, readManifest()),
    'docs/supply-chain/THIRD-PARTY-NOTICES': thirdPartyNotices(lock),
  };
};
