import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** GlobalSign Root R46 in PEM, in which the certificates of Sefin Nacional end (docs/national-system.md#trust-roots). */
export const sefinTrustRoots = (): readonly string[] => [
  readFileSync(new URL('./roots/globalsign-root-r46.pem', import.meta.url), 'utf8'),
];

/** Thrown for a file of extra trust roots that is unreadable or holds no certificates. TLS would accept such a file silently. */
export class TrustRootsUnusable extends Error {
  override readonly name = 'TrustRootsUnusable';
}

/** Returns the certificates of an operator's PEM file, one text each. Throws `TrustRootsUnusable`. */
export const readTrustRoots = async (file: string): Promise<readonly string[]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  const roots = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (roots.length === 0 || !roots.every(isCertificate)) {
    throw new TrustRootsUnusable('AUTHORIZER_CA_FILE cannot be read, or is not a PEM file of certificates');
  }
  return roots;
};

const isCertificate = (pem: string): boolean => {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
};
