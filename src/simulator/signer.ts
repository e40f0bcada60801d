import { X509Certificate } from 'node:crypto';
import { epochMs, type Instant } from '../domain/shared/time.js';

/** What is wrong with a certificate that signed a document: not trusted or expired (E0715, E1983), or of an authority (E0716, E1986). */
export type SignerFault = 'invalid' | 'nonstandard';

export type SignerCheck = (certificateDer: Buffer, now: Instant) => SignerFault | undefined;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const MAX_REMEMBERED = 1024;

/**
 * Judges signing certificates by the authorities whose clients are accepted (PEM, several per text). A signature carries
 * its leaf only, so the authority that issued it must itself be among them.
 */
export const createSignerCheck = (authoritiesPem: readonly string[]): SignerCheck => {
  const authorities = authoritiesPem
    .flatMap((text) => text.match(CERTIFICATE) ?? [])
    .map((pem) => new X509Certificate(pem));
  // A company signs thousands of documents with one certificate.
  const judged = new Map<string, { fault: SignerFault | undefined; validTo: number }>();
  const judge = (der: Buffer) => {
    const certificate = new X509Certificate(der);
    const isTrusted = authorities.some(
      (issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey),
    );
    const fault: SignerFault | undefined = certificate.ca ? 'nonstandard' : isTrusted ? undefined : 'invalid';
    return { fault, validTo: Date.parse(certificate.validTo) };
  };
  return (der, now) => {
    const key = der.toString('base64');
    const known = judged.get(key) ?? judge(der);
    if (judged.size >= MAX_REMEMBERED) judged.clear();
    judged.set(key, known);
    return known.fault ?? (epochMs(now) > known.validTo ? 'invalid' : undefined);
  };
};
