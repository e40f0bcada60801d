import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** GlobalSign Root R46 in PEM, in which the certificates of Sefin Nacional end (docs/national-system.md#trust-roots). */
export const sefinTrustRoots = (): readonly string[] => [
  readFileSync(new URL('./roots/globalsign-root-r46.pem', import.meta.url), 'utf8'),
];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A line of a certificate whose other line is not there. */
const CUT = /-----(?:BEGIN|END) CERTIFICATE-----/;

/**
 * The certificates in PEM text, one text each; other text around them is passed over. Undefined for text without a certificate or with a damaged or
 * cut one, which TLS would accept silently.
 */
export const certificatesIn = (text: string): readonly string[] | undefined => {
  const found = text.match(CERTIFICATE) ?? [];
  return found.length > 0 && found.every(isCertificate) && !CUT.test(text.replace(CERTIFICATE, '')) ? found : undefined;
};

const isCertificate = (pem: string): boolean => {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
};
