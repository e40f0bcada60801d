import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { epochMs, type Instant } from '../domain/common/time.js';

/** The fault of a signing certificate: `invalid` is untrusted or expired (E0715, E1983), `nonstandard` is an authority's (E0716, E1986). */
type SignerFault = 'invalid' | 'nonstandard';

export type SignerCheck = (certificateDer: Buffer, now: Instant) => SignerFault | undefined;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Judges signing certificates by the authorities whose clients are accepted (PEM, several per text). A signature carries only its leaf
 * certificate, so the authorities must include the direct issuer of the leaf.
 */
export const createSignerCheck = (authoritiesPem: readonly string[]): SignerCheck => {
  const authorities = authoritiesPem
    .flatMap((text) => text.match(CERTIFICATE) ?? [])
    .map((pem) => new X509Certificate(pem));
  const judge = (der: Buffer) => {
    const certificate = new X509Certificate(der);
    const isTrusted = authorities.some(
      (issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey),
    );
    const fault: SignerFault | undefined = certificate.ca ? 'nonstandard' : isTrusted ? undefined : 'invalid';
    return { fault, validTo: Date.parse(certificate.validTo) };
  };
  // A company signs thousands of documents with one certificate.
  const judged = new LRUCache<string, ReturnType<typeof judge>, Buffer>({
    max: 1024,
    memoMethod: (_key, _stale, { context: der }) => judge(der),
  });
  return (der, now) => {
    const { fault, validTo } = judged.memo(der.toString('base64'), { context: der });
    return fault ?? (epochMs(now) > validTo ? 'invalid' : undefined);
  };
};
