import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** GlobalSign Root R46 in PEM, in which the certificates of Sefin Nacional end (docs/national-system.md#trust-roots). */
export const sefinTrustRoots = (): readonly string[] => [
  readFileSync(new URL('./roots/globalsign-root-r46.pem', import.meta.url), 'utf8'),
];

/** The certificates in PEM text, one text each. Undefined for text without a certificate or with a damaged one, which TLS would accept silently. */
export const certificatesIn = (text: string): readonly string[] | undefined => {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.length > 0 && found.every(isCertificate) ? found : undefined;
};

const isCertificate = (pem: string): boolean => {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
};
